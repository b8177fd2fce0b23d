//! Where connections come from, and what one can do.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo};
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, Pipeline, RedisConnectionInfo, RedisResult, Value,
};
use tokio::runtime::Handle;

/// One server, the primary that Sentinels know of, or a cluster.
pub(super) enum Source {
    One(Client),
    /// Asked anew for each connection.
    Sentinel(tokio::sync::Mutex<SentinelClient>),
    Cluster(ClusterClient),
}

/// A connection that any number of calls share.
#[derive(Clone)]
pub(super) enum Connection {
    One(MultiplexedConnection),
    /// Its own timers need the runtime wherever it is polled.
    Cluster(ClusterConnection, Handle),
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
        let client =
            SentinelClient::build(bare.collect(), name.to_owned(), Some(node), SentinelServerType::Master)?;
        Ok(Self::Sentinel(tokio::sync::Mutex::new(client)))
    }

    /// The cluster that these nodes belong to.
    pub(super) fn cluster(nodes: Vec<ConnectionInfo>, limit: Duration) -> RedisResult<Self> {
        let client = ClusterClient::builder(nodes)
            .connection_timeout(limit)
            .response_timeout(limit)
            .overall_response_timeout(None)
            .retries(8)
            .min_retry_wait(10)
            .max_retry_wait(500)
            .build()?;
        Ok(Self::Cluster(client))
    }

    /// Connects. No time of the client's own: the caller has one.
    pub(super) async fn connect(&self) -> RedisResult<Connection> {
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        match self {
            Self::One(client) => {
                client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::One)
            }
            Self::Sentinel(client) => {
                client.lock().await.get_async_connection_with_config(&config).await.map(Connection::One)
            }
            Self::Cluster(client) => {
                let connection = client.get_async_connection().await?;
                Ok(Connection::Cluster(connection, Handle::current()))
            }
        }
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
            Self::Cluster(connection, runtime) => {
                entered(runtime, connection.req_packed_command(command)).await
            }
        }
    }

    /// Sends many at once, in a cluster all to one node. Errors of the server come as values.
    pub(super) async fn send_all(&mut self, commands: &Pipeline) -> RedisResult<Vec<Value>> {
        match self {
            Self::One(connection) => connection.send_packed_commands(commands, 0, commands.len()).await,
            Self::Cluster(connection, runtime) => {
                entered(runtime, connection.req_packed_commands(commands, 0, commands.len())).await
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
            Self::Cluster(connection, runtime) => {
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

/// Polls `future` as if from `runtime`.
async fn entered<F: Future>(runtime: &Handle, future: F) -> F::Output {
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
