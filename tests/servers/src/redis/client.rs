//! As much of a client as tests need to look at a server from outside.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// One connection, which sends commands and shows what comes back as text.
#[derive(Debug)]
pub struct RedisClient(BufReader<TcpStream>);

impl RedisClient {
    /// Connects to a port of 127.0.0.1.
    ///
    /// # Errors
    /// The system's.
    pub fn to(port: u16) -> Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends one command. An error of the server is text, as all else; the items of an array are parted by line ends.
    ///
    /// # Panics
    /// If it cannot be sent, or if nothing comes back.
    pub fn ask<A: AsRef<[u8]>>(&mut self, command: &[A]) -> String {
        self.try_ask(command).unwrap_or_else(|error| panic!("no answer of the server: {error}"))
    }

    /// The same, for a server that may be gone.
    ///
    /// # Errors
    /// The system's.
    pub fn try_ask<A: AsRef<[u8]>>(&mut self, command: &[A]) -> Result<String> {
        let parts = self.try_ask_bytes(command)?;
        Ok(parts.iter().map(|part| String::from_utf8_lossy(part)).collect::<Vec<_>>().join("\n"))
    }

    /// The same, as bytes: one for each item of an array, and one for all else.
    ///
    /// # Panics
    /// If it cannot be sent, or if nothing comes back.
    pub fn ask_bytes<A: AsRef<[u8]>>(&mut self, command: &[A]) -> Vec<Vec<u8>> {
        self.try_ask_bytes(command).unwrap_or_else(|error| panic!("no answer of the server: {error}"))
    }

    fn try_ask_bytes<A: AsRef<[u8]>>(&mut self, command: &[A]) -> Result<Vec<Vec<u8>>> {
        let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
        for part in command.iter().map(AsRef::as_ref) {
            bytes.extend(format!("${}\r\n", part.len()).into_bytes());
            bytes.extend(part);
            bytes.extend(b"\r\n");
        }
        self.0.get_ref().write_all(&bytes)?;
        self.read()
    }

    fn read(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut line = Vec::new();
        if self.0.read_until(b'\n', &mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        let (kind, rest) = text.split_at_checked(1).ok_or(ErrorKind::InvalidData)?;
        let count = || rest.parse::<i64>().map_err(Error::other);
        match kind {
            "$" => {
                let Ok(len) = usize::try_from(count()?) else { return Ok(vec![Vec::new()]) };
                let mut bytes = vec![0; len + 2];
                self.0.read_exact(&mut bytes)?;
                bytes.truncate(len);
                Ok(vec![bytes])
            }
            "*" => {
                let mut items = Vec::new();
                for _ in 0..count()? {
                    items.extend(self.read()?);
                }
                Ok(items)
            }
            _ => Ok(vec![rest.as_bytes().to_vec()]),
        }
    }
}
