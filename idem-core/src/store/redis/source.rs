//! Where connections come from, and what one can do.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_routing::{MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr};
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, Pipeline, RedisConnectionInfo, RedisResult, Value,
    cmd,
};
use tokio::runtime::Handle;

use super::redirect::Cluster;

/// One server, the primary that Sentinels know of, or a cluster.
pub(super) enum Source {
    One(Client),
    /// Asked anew for each connection.
    Sentinel(tokio::sync::Mutex<SentinelClient>, Sentinels),
    /// With how to reach one of its nodes, if that is known.
    Cluster(ClusterClient, Option<Box<ConnectionInfo>>),
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
    pub(super) fn cluster(nodes: Vec<ConnectionInfo>, limit: Duration) -> RedisResult<Self> {
        let first = nodes.first().cloned().map(Box::new);
        let client = ClusterClient::builder(nodes)
            .connection_timeout(limit)
            .response_timeout(limit)
            .overall_response_timeout(None)
            // What it does by itself is not safe here: see `redirect.rs`.
            .retries(0)
            .build()?;
        Ok(Self::Cluster(client, first))
    }

    /// Connects. No time of the client's own: the caller has one.
    pub(super) async fn connect(&self) -> RedisResult<Connection> {
        let config = untimed();
        match self {
            Self::One(client) => {
                client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::One)
            }
            Self::Sentinel(client, _) => {
                client.lock().await.get_async_connection_with_config(&config).await.map(Connection::One)
            }
            Self::Cluster(client, node) => {
                let connection = client.get_async_connection().await?;
                Ok(Connection::Cluster(Cluster::new(connection, node.as_deref().cloned())))
            }
        }
    }

    /// Whether nobody knows a server by the name that was given, up or down. One who does not answer may.
    pub(super) async fn is_unknown(&self) -> bool {
        let Self::Sentinel(_, Sentinels { name, clients }) = self else { return false };
        let mut ask = cmd("SENTINEL");
        ask.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
        for client in clients {
            let Ok(mut sentinel) = client.get_multiplexed_async_connection_with_config(&untimed()).await
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
        matches!(self, Self::Cluster(..))
    }

    /// Sends one command. An error of the server may come as a value too.
    pub(super) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::One(connection) => connection.send_packed_command(command).await,
            Self::Cluster(cluster) => {
                let mut pipeline = Pipeline::with_capacity(1);
                pipeline.add_command(command.clone());
                let mut values = cluster.follow(&pipeline).await?;
                Ok(values.pop().unwrap_or_default())
            }
        }
    }

    /// Sends many at once, in a cluster all about one record. Errors of the server come as values.
    pub(super) async fn send_all(&mut self, commands: &Pipeline) -> RedisResult<Vec<Value>> {
        match self {
            Self::One(connection) => connection.send_packed_commands(commands, 0, commands.len()).await,
            Self::Cluster(cluster) => cluster.follow(commands).await,
        }
    }

    /// Sends many at once to the node of a cluster that has `key`. An error if some of it is elsewhere; then it is unknown what was done.
    pub(super) async fn send_to_node(&mut self, commands: Pipeline, key: &[u8]) -> RedisResult<Vec<Value>> {
        match self {
            Self::One(_) => self.send_all(&commands).await,
            Self::Cluster(cluster) => {
                let primary = SingleNodeRoutingInfo::SpecificNode(Route::with_key(key, SlotAddr::Master));
                let count = commands.len();
                let (commands, skipped) =
                    if cluster.is_followed() { (commands, 0) } else { (guarded(&commands), 1) };
                let Cluster { connection, runtime, .. } = cluster;
                entered(runtime, connection.route_pipeline(commands, skipped, count, primary)).await
            }
        }
    }

    /// Asks every primary, and gives each answer with the name of who gave it.
    pub(super) async fn ask_primaries(&mut self, command: Cmd) -> Vec<(String, Value)> {
        match self {
            Self::One(connection) => match connection.send_packed_command(&command).await {
                Ok(value) => vec![(String::new(), value)],
                Err(_) => Vec::new(),
            },
            Self::Cluster(Cluster { connection, runtime, .. }) => {
                let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                match entered(runtime, connection.route_command(command, all)).await {
                    Ok(Value::Map(answers)) => {
                        answers.into_iter().filter_map(|(node, value)| Some((text(&node)?, value))).collect()
                    }
                    _ => Vec::new(),
                }
            }
        }
    }
}

/// The same behind a command on no key. A client that follows redirections by itself sends the whole pipeline on, after an `ASKING` by
/// which a node answers for a slot that it does not have yet: the first command takes it away, and what follows is redirected anew.
fn guarded(commands: &Pipeline) -> Pipeline {
    let mut guarded = Pipeline::with_capacity(commands.len() + 1);
    guarded.cmd("TIME");
    for command in commands.cmd_iter() {
        guarded.add_command(command.clone());
    }
    guarded
}

/// Without times of the client's own.
pub(super) fn untimed() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None)
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
