//! Where connections come from, and what one can do.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_routing::Slot;
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, Pipeline, RedisConnectionInfo, RedisResult, Value,
    cmd,
};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::cluster::{Cluster, Seeds};
use super::own_client::OwnClient;

/// One server, the primary that Sentinels know of, or a cluster.
pub(super) enum Source {
    One(Client),
    /// Asked anew for each connection.
    Sentinel(tokio::sync::Mutex<SentinelClient>, Sentinels),
    Cluster(Arc<Seeds>),
    /// A cluster, by a client of the user's.
    OwnClient(ClusterClient),
}

/// Those who know where a primary is, and what they call it.
pub(super) struct Sentinels {
    name: String,
    clients: Vec<Client>,
}

/// A connection that any number of calls share.
#[derive(Clone)]
pub(super) enum Connection {
    One(MultiplexedConnection),
    Cluster(Cluster),
    OwnClient(OwnClient),
}

impl Source {
    /// The primary called `name`. User, password and database in the Sentinels' URLs are those of the servers.
    pub(super) fn sentinel(sentinels: Vec<ConnectionInfo>, name: &str) -> RedisResult<Self> {
        let servers = sentinels.first().map(|info| info.redis_settings().clone()).unwrap_or_default();
        let tls =
            sentinels.first().is_some_and(|info| matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }));
        let mut node = SentinelNodeConnectionInfo::default().set_redis_connection_info(servers);
        if tls {
            node = node.set_tls_mode(redis::TlsMode::Secure);
        }
        let bare = sentinels.into_iter().map(|info| info.set_redis_settings(RedisConnectionInfo::default()));
        let bare: Vec<_> = bare.collect();
        let clients = bare.iter().cloned().map(Client::open).collect::<RedisResult<_>>()?;
        let client = SentinelClient::build(bare, name.to_owned(), Some(node), SentinelServerType::Master)?;
        Ok(Self::Sentinel(tokio::sync::Mutex::new(client), Sentinels { name: name.to_owned(), clients }))
    }

    /// The cluster that these nodes belong to.
    pub(super) fn cluster(nodes: Vec<ConnectionInfo>, limit: Duration) -> Self {
        Self::Cluster(Arc::new(Seeds::new(nodes, limit)))
    }

    pub(super) const fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_) | Self::OwnClient(_))
    }

    /// Connects. No time of the client's own: the caller has one.
    pub(super) async fn connect(&self) -> RedisResult<Connection> {
        let config = unlimited();
        match self {
            Self::One(client) => {
                client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::One)
            }
            Self::Sentinel(client, _) => {
                client.lock().await.get_async_connection_with_config(&config).await.map(Connection::One)
            }
            Self::Cluster(seeds) => Cluster::connect(seeds.clone()).await.map(Connection::Cluster),
            Self::OwnClient(client) => {
                Ok(Connection::OwnClient(OwnClient::new(client.get_async_connection().await?)))
            }
        }
    }

    /// Whether nobody knows a server by the name that was given, up or down. One who does not answer may.
    pub(super) async fn is_unknown(&self) -> bool {
        let Self::Sentinel(_, Sentinels { name, clients }) = self else { return false };
        let mut ask = cmd("SENTINEL");
        ask.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
        for client in clients {
            let Ok(mut sentinel) = client.get_multiplexed_async_connection_with_config(&unlimited()).await
            else {
                return false;
            };
            if !matches!(sentinel.send_packed_command(&ask).await, Ok(Value::Nil)) {
                return false;
            }
        }
        true
    }
}

impl Connection {
    pub(super) const fn is_cluster(&self) -> bool {
        !matches!(self, Self::One(_))
    }

    /// Sends one command. An error of the server may come as a value too.
    pub(super) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::One(connection) => connection.send_packed_command(command).await,
            Self::Cluster(cluster) => cluster.follow_one(command, false).await,
            Self::OwnClient(client) => client.send_one(command).await,
        }
    }

    /// The same, but never again what a node may have done already.
    pub(super) async fn send_once(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Cluster(cluster) => cluster.follow_one(command, true).await,
            _ => self.send(command).await,
        }
    }

    /// Sends many at once, in a cluster all about one record. Errors of the server come as values.
    pub(super) async fn send_all(&mut self, commands: &Pipeline) -> RedisResult<Vec<Value>> {
        match self {
            Self::One(connection) => connection.send_packed_commands(commands, 0, commands.len()).await,
            Self::Cluster(cluster) => cluster.follow(commands, false).await,
            Self::OwnClient(client) => client.send(commands).await,
        }
    }

    /// Sends many at once to the node of a cluster that has `key`. An error if some of it is elsewhere; then it is unknown what was done.
    pub(super) async fn send_to_node(&mut self, commands: &Pipeline, key: &[u8]) -> RedisResult<Vec<Value>> {
        match self {
            Self::One(_) => self.send_all(commands).await,
            Self::Cluster(cluster) => {
                let owner = cluster.owner(Some(Slot::for_key(key))).await?;
                cluster.send_to(&owner, commands, 0).await
            }
            Self::OwnClient(client) => client.send_to_node(commands, key).await,
        }
    }

    /// The address of the node of a cluster that has each slot, as far as it is known.
    pub(super) async fn owners(&mut self, slots: &[Slot]) -> Vec<Option<Arc<str>>> {
        match self {
            Self::One(_) => vec![None; slots.len()],
            Self::Cluster(cluster) => cluster.owners(slots).await,
            Self::OwnClient(client) => client.owners(slots).await,
        }
    }

    /// Something was not where it had been.
    pub(super) fn forget_owners(&self) {
        match self {
            Self::One(_) => {}
            Self::Cluster(cluster) => cluster.forget(),
            Self::OwnClient(client) => client.forget(),
        }
    }

    /// Asks every primary, and gives each answer with the name of who gave it, be it a refusal.
    pub(super) async fn ask_primaries(&mut self, command: Cmd) -> Vec<(String, Value)> {
        match self {
            Self::One(connection) => match connection.send_packed_command(&command).await {
                Ok(value) => vec![(String::new(), value)],
                Err(error) if error.code().is_some() => vec![(String::new(), Value::Nil)],
                Err(_) => Vec::new(),
            },
            Self::Cluster(cluster) => cluster.ask_primaries(&command).await,
            Self::OwnClient(client) => client.ask_primaries(command).await,
        }
    }
}

/// The same commands behind another one.
pub(super) fn behind(first: &str, commands: &Pipeline) -> Pipeline {
    let mut all = Pipeline::with_capacity(commands.len() + 1);
    all.cmd(first);
    for command in commands.cmd_iter() {
        all.add_command(command.clone());
    }
    all
}

/// Without times of the client's own, and with room for all commands: one that waits for room, and is not polled when there is, would keep
/// it from all behind it.
pub(super) fn unlimited() -> AsyncConnectionConfig {
    let config = AsyncConnectionConfig::new().set_pipeline_buffer_size(Semaphore::MAX_PERMITS);
    config.set_response_timeout(None).set_connection_timeout(None)
}

/// Polls `future` as if from `runtime`.
pub(super) async fn entered<F: Future>(runtime: &Handle, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _entered = runtime.enter();
        future.as_mut().poll(cx)
    })
    .await
}

/// A value that is text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}
