//! One client, one server, and a thread for each direction.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Network, Shared};

/// The two ends of what the proxy holds together.
#[derive(Debug)]
pub(super) struct Connection {
    client: TcpStream,
    server: TcpStream,
    /// Bytes vanished: what comes next makes no sense to either end.
    lost_bytes: AtomicBool,
    /// Whether the reply that comes next is to be lost. Locked while a request is passed on, so that its reply, however quick, finds it
    /// set.
    losing: Mutex<bool>,
}

impl Connection {
    pub(super) fn new(client: TcpStream, server: TcpStream) -> std::io::Result<Self> {
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        Ok(Self { client, server, lost_bytes: AtomicBool::new(false), losing: Mutex::new(false) })
    }

    pub(super) fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    pub(super) fn has_lost_bytes(&self) -> bool {
        self.lost_bytes.load(Ordering::Relaxed)
    }

    /// From now on, all that is said vanishes.
    pub(super) fn lose_bytes(&self) {
        self.lost_bytes.store(true, Ordering::Relaxed);
    }

    fn requests(&self, shared: &Shared) {
        let mut buffer = vec![0; 64 << 10];
        let mut seen = Vec::new();
        while let Some(bytes) = read(&self.client, &mut buffer) {
            if self.vanishes(shared, bytes.len()) {
                continue;
            }
            seen.extend_from_slice(bytes);
            let mut losing = self.losing.lock().unwrap_or_else(PoisonError::into_inner);
            if (&self.server).write_all(bytes).is_err() {
                break;
            }
            if !*losing && shared.loses(&seen) {
                *losing = true;
            }
            drop(losing);
            seen.drain(..seen.len().saturating_sub(shared.overlap()));
        }
        // What the server has yet to say may still arrive.
        let _ = self.server.shutdown(Shutdown::Write);
    }

    fn replies(&self, shared: &Shared) {
        let mut buffer = vec![0; 64 << 10];
        while let Some(bytes) = read(&self.server, &mut buffer) {
            if self.vanishes(shared, bytes.len()) {
                continue;
            }
            if *self.losing.lock().unwrap_or_else(PoisonError::into_inner) {
                self.lose(shared);
                break;
            }
            if (&self.client).write_all(bytes).is_err() {
                break;
            }
        }
        self.close();
    }

    /// The server has answered. The client is not told, and the server may finish what it does: an end that is closed with bytes
    /// unread would take back what the server has not read yet.
    fn lose(&self, shared: &Shared) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Write);
        let mut buffer = vec![0; 64 << 10];
        while read(&self.server, &mut buffer).is_some() {}
        shared.count_loss();
    }

    /// Waits for as long as the network is slow; whether what was read is gone.
    fn vanishes(&self, shared: &Shared, bytes: usize) -> bool {
        if let Network::Delays(by) = shared.network() {
            std::thread::sleep(by);
        }
        // It may have changed during the delay.
        let vanishes = shared.network() == Network::Swallows || self.has_lost_bytes();
        if vanishes {
            self.lose_bytes();
            shared.count_swallowed(bytes);
        }
        vanishes
    }
}

/// Passes bytes on in both directions until one end goes away.
pub(super) fn pump(shared: &Arc<Shared>, number: usize, connection: &Arc<Connection>) {
    let (up, down) = ((shared.clone(), connection.clone()), (shared.clone(), connection.clone()));
    std::thread::spawn(move || up.1.requests(&up.0));
    std::thread::spawn(move || {
        down.1.replies(&down.0);
        down.0.forget(number);
    });
}

/// The next bytes; `None` at the end.
fn read<'b>(mut from: &TcpStream, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    match from.read(buffer) {
        Ok(0) | Err(_) => None,
        Ok(read) => Some(&buffer[..read]),
    }
}
