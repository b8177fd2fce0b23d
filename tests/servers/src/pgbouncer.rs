//! A pooling proxy in front of a PostgreSQL.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Folder, Process, free_port, program};

/// `PgBouncer`, which hands out one of three connections of the server's for each transaction.
#[derive(Debug)]
pub struct PgBouncer {
    url: String,
    _process: Process,
    _folder: Folder,
}

impl PgBouncer {
    /// Starts one before the server and the database of `url`, and waits until it listens.
    ///
    /// # Panics
    /// If it does not start.
    pub fn before(url: &str) -> Self {
        let (server, name) = url.rsplit_once('/').expect("a URL with a database");
        let port = server.rsplit_once(':').expect("a URL with a port").1;
        let (folder, own) = (Folder::new("pgbouncer"), free_port());
        let settings = folder.as_ref().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={port} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {own}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n"
        );
        std::fs::write(&settings, text).expect("a file that can be written to");
        let mut command = Command::new(program("pgbouncer"));
        // It refuses to be root, and as anybody else cannot become another.
        if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.args(["-u", "nobody"]);
        }
        let process =
            Process::start(command.arg("-q").arg(&settings).stdout(Stdio::null()).stderr(Stdio::null()));
        let deadline = Instant::now() + Duration::from_secs(10);
        while std::net::TcpStream::connect(("127.0.0.1", own)).is_err() {
            assert!(Instant::now() < deadline, "PgBouncer does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        let url = format!("postgres://postgres@127.0.0.1:{own}/{name}?statement-cache-capacity=0");
        Self { url, _process: process, _folder: folder }
    }

    /// A URL of the database, for a client that keeps no prepared statements.
    pub fn url(&self) -> &str {
        &self.url
    }
}
