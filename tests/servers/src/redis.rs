//! Redis, alone, with a replica, behind Sentinels or as a cluster.

mod client;
mod clock;
mod cluster;
mod sentinels;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use client::RedisClient;
pub use cluster::RedisCluster;
pub use sentinels::RedisSentinels;

use clock::Clock;

use crate::port::free_port_and;
use crate::{Folder, Process, free_port, program};

/// One server, with a folder and a port of its own.
#[derive(Debug)]
pub struct RedisServer {
    process: Process,
    port: u16,
    options: Vec<String>,
    clock: Option<Clock>,
    folder: Folder,
}

/// Every appended record is on the disk before it is acknowledged.
pub const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// So much higher is the port by which nodes of a cluster speak to each other.
const BUS: u16 = 10_000;

impl RedisServer {
    /// Starts a server that keeps nothing on its disk, and waits until it answers.
    ///
    /// # Panics
    /// If it does not within ten seconds.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// The same, with further options, as on the command line.
    ///
    /// # Panics
    /// If it does not answer within ten seconds.
    pub fn with(options: &[&str]) -> Self {
        Self::launch(options, false)
    }

    /// The same, with a clock that a test can set: see [`set_clock`](Self::set_clock).
    ///
    /// # Panics
    /// If it does not answer within ten seconds.
    pub fn on_clock(options: &[&str]) -> Self {
        Self::launch(options, true)
    }

    fn launch(options: &[&str], on_clock: bool) -> Self {
        let folder = Folder::new("redis");
        let clock = on_clock.then(|| Clock::new(&folder));
        let port = if options.contains(&"--cluster-enabled") { free_port_and(BUS) } else { free_port() };
        let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
        let process = run(port, &folder, &options, clock.as_ref());
        let server = Self { process, port, options, clock, folder };
        server.wait_until_ready();
        server
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A new connection to it.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn client(&self) -> RedisClient {
        RedisClient::to(self.port).unwrap_or_else(|error| panic!("no connection to {}: {error}", self.url()))
    }

    /// Sends one command over a new connection; what comes back is shown as text.
    ///
    /// # Panics
    /// If it cannot be sent, or if nothing comes back.
    pub fn ask(&self, command: &[&str]) -> String {
        self.client().ask(command)
    }

    /// A field of `INFO`.
    ///
    /// # Panics
    /// If there is none.
    pub fn info(&self, field: &str) -> String {
        let info = self.ask(&["INFO"]);
        let found = info.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| *name == field);
        found.unwrap_or_else(|| panic!("INFO has no `{field}`")).1.trim().to_owned()
    }

    /// Kills it as a power loss would.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again on the same port, with what is on its disk.
    ///
    /// # Panics
    /// If it does not answer within ten seconds.
    pub fn restart(&mut self) {
        self.relaunch();
        self.wait_until_ready();
    }

    /// The same, without waiting until it is ready: it may still be reading its data.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn relaunch(&mut self) {
        self.process.kill();
        self.process = run(self.port, &self.folder, &self.options, self.clock.as_ref());
    }

    /// Stops it where it is.
    pub fn pause(&self) {
        self.process.pause();
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.process.go_on();
    }

    /// Sets its wall clock, so many seconds ahead of the true time (or behind it), and waits until the server knows: it reads the
    /// clock now and then, and goes by its last reading in between.
    ///
    /// # Panics
    /// If it was not started with [`on_clock`](Self::on_clock).
    pub fn set_clock(&self, ahead: i64) {
        self.clock.as_ref().expect("a server on a clock that can be set").set(ahead);
        wait_until("the server's clock is another", || {
            let time = self.ask(&["TIME"]);
            let seconds = time.lines().next().and_then(|seconds| seconds.parse::<u64>().ok());
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
            seconds.is_some_and(|seconds| seconds.abs_diff(now.saturating_add_signed(ahead)) < 60)
        });
    }

    /// Makes it a replica of the server that listens on `port`, and waits until it has what that has.
    ///
    /// # Panics
    /// If that takes more than ten seconds.
    pub fn follow(&self, port: u16) {
        self.ask(&["REPLICAOF", "127.0.0.1", &port.to_string()]);
        wait_until("the replica is in step", || self.info("master_link_status") == "up");
    }

    /// Waits until so many replicas get what is written.
    ///
    /// # Panics
    /// If that takes more than ten seconds.
    pub fn wait_for_replicas(&self, count: u32) {
        let online = |info: &str| info.lines().filter(|line| line.contains("state=online")).count();
        wait_until("its replicas are online", || {
            online(&self.ask(&["INFO", "replication"])) >= count as usize
        });
    }

    /// Makes it a primary.
    ///
    /// # Panics
    /// If it does not say so.
    pub fn promote(&self) {
        assert_eq!(self.ask(&["REPLICAOF", "NO", "ONE"]), "OK");
    }

    fn wait_until_ready(&self) {
        wait_until("the server answers", || {
            RedisClient::to(self.port)
                .is_ok_and(|mut client| client.try_ask(&["PING"]).is_ok_and(|said| said == "PONG"))
        });
    }
}

fn run(port: u16, folder: &Folder, options: &[String], clock: Option<&Clock>) -> Process {
    let mut command = Command::new(program("redis-server"));
    command
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"])
        .args(["--repl-diskless-sync-delay", "0", "--loglevel", "warning"])
        .arg("--dir")
        .arg(folder.as_ref())
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if let Some(clock) = clock {
        clock.give_to(&mut command);
    }
    Process::start(&mut command)
}

/// Waits until something is so.
///
/// # Panics
/// If that takes more than ten seconds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "ten seconds went by before {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
