//! A primary, its replicas, and the Sentinels that watch them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{RedisClient, RedisServer, wait_until};
use crate::{Folder, Process, free_port, program};

/// How many Sentinels there are; two must agree.
const SENTINELS: usize = 3;

/// A primary with replicas, and three Sentinels that promote one of these when the primary is gone.
#[derive(Debug)]
pub struct RedisSentinels {
    servers: Vec<RedisServer>,
    sentinels: Vec<Sentinel>,
}

#[derive(Debug)]
struct Sentinel {
    port: u16,
    _process: Process,
    _folder: Folder,
}

impl RedisSentinels {
    /// What the Sentinels call the primary.
    pub const NAME: &str = "billing";

    /// Starts a primary with so many replicas, and waits until the Sentinels know of all.
    ///
    /// # Panics
    /// If that takes more than ten seconds.
    pub fn start(replicas: u32) -> Self {
        let servers: Vec<_> = (0..=replicas).map(|_| RedisServer::start()).collect();
        for replica in &servers[1..] {
            replica.follow(servers[0].port());
        }
        servers[0].wait_for_replicas(replicas);
        let sentinels: Vec<_> = (0..SENTINELS).map(|_| Sentinel::watch(servers[0].port())).collect();
        let all = Self { servers, sentinels };
        wait_until("the Sentinels know of all", || {
            all.sentinels.iter().all(|sentinel| {
                let field = |name| sentinel.field(name).and_then(|count| count.parse::<u32>().ok());
                field("num-slaves") == Some(replicas)
                    && field("num-other-sentinels").is_some_and(|others| others as usize == SENTINELS - 1)
            })
        });
        all
    }

    /// The URLs of the Sentinels.
    pub fn urls(&self) -> impl Iterator<Item = String> {
        self.sentinels.iter().map(|sentinel| format!("redis://127.0.0.1:{}", sentinel.port))
    }

    /// The first primary and the first replicas.
    pub fn servers(&self) -> &[RedisServer] {
        &self.servers
    }

    /// The same, to kill or pause one.
    pub fn servers_mut(&mut self) -> &mut [RedisServer] {
        &mut self.servers
    }

    /// Waits until all Sentinels name another primary than the one at `port`, and gives its number.
    ///
    /// # Panics
    /// If they do not within a minute, or if it is none of the servers.
    pub fn wait_for_another_than(&self, port: u16) -> usize {
        let deadline = Instant::now() + Duration::from_mins(1);
        let named = || {
            let mut ports = self.sentinels.iter().map(|sentinel| sentinel.field("port")?.parse::<u16>().ok());
            let first = ports.next()??;
            (first != port && ports.all(|port| port == Some(first))).then_some(first)
        };
        let port = loop {
            if let Some(port) = named() {
                break port;
            }
            assert!(Instant::now() < deadline, "a minute went by before the Sentinels named another primary");
            std::thread::sleep(Duration::from_millis(20));
        };
        self.servers.iter().position(|server| server.port() == port).expect("one of the servers")
    }
}

impl Sentinel {
    fn watch(primary: u16) -> Self {
        let (folder, port) = (Folder::new("sentinel"), free_port());
        let config = folder.as_ref().join("sentinel.conf");
        let name = RedisSentinels::NAME;
        let text = format!(
            "port {port}\nbind 127.0.0.1\nsentinel monitor {name} 127.0.0.1 {primary} 2\n\
             sentinel down-after-milliseconds {name} 1000\nsentinel failover-timeout {name} 5000\n"
        );
        std::fs::write(&config, text).expect("a folder of our own can be written to");
        let mut command = Command::new(program("redis-server"));
        command.arg(&config).arg("--sentinel").arg("--dir").arg(folder.as_ref());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self { port, _process: Process::start(&mut command), _folder: folder }
    }

    /// What it says of the primary; nothing while it does not answer.
    fn field(&self, name: &str) -> Option<String> {
        let mut client = RedisClient::to(self.port).ok()?;
        let said = client.try_ask(&["SENTINEL", "MASTER", RedisSentinels::NAME]).ok()?;
        let mut fields = said.lines();
        fields.find(|field| *field == name)?;
        fields.next().map(str::to_owned)
    }
}
