//! A cluster, whose commands follow a record to the node that has it.
//!
//! The client would do so by itself, but `ASKING`, by which a node answers for a slot that is only being moved there, counts for
//! whatever comes next on its connection. Another call's command, on its way there by an old map of the slots, would find no record of
//! what the slot's old node still has, and be granted. So it goes in one pipeline with what asks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster_async::ClusterConnection;
use redis::{
    Client, Cmd, ConnectionAddr, ConnectionInfo, Pipeline, RedisError, RedisResult, RetryMethod, Value,
};
use tokio::runtime::Handle;

use super::source::{entered, untimed};
use crate::clock::Clock;
use crate::store::sleep;

/// How often something is sent again in a cluster that has no node for it.
const TRIES: u32 = 8;

#[derive(Clone)]
pub(super) struct Cluster {
    pub(super) connection: ClusterConnection,
    /// The client's own timers need it wherever it is polled.
    pub(super) runtime: Handle,
    /// How one of its nodes is reached, and so all. Where that is not known, the client follows as it was told.
    node: Option<Arc<ConnectionInfo>>,
    /// Nodes that commands were sent to by others, by address.
    nodes: Arc<tokio::sync::Mutex<HashMap<String, MultiplexedConnection>>>,
}

/// Where to, by another node's word.
enum Redirect {
    Moved(String),
    Ask(String),
}

impl Cluster {
    pub(super) fn new(connection: ClusterConnection, node: Option<ConnectionInfo>) -> Self {
        Self { connection, runtime: Handle::current(), node: node.map(Arc::new), nodes: Arc::default() }
    }

    /// Whether it is not the client that follows redirections.
    pub(super) fn is_followed(&self) -> bool {
        self.node.is_some()
    }

    /// Sends one command to where its record is.
    pub(super) async fn follow_one(&mut self, command: &Cmd, once: bool) -> RedisResult<Value> {
        let mut pipeline = Pipeline::with_capacity(1);
        pipeline.add_command(command.clone());
        Ok(self.follow(&pipeline, once).await?.pop().unwrap_or_default())
    }

    /// Sends commands about one record to where it is. If only `once`, not again unless a node said that it had not done it.
    pub(super) async fn follow(&mut self, commands: &Pipeline, once: bool) -> RedisResult<Vec<Value>> {
        let mut redirect = None;
        for tries in 1.. {
            let error = match self.send(commands, redirect.as_ref()).await {
                Ok(values) => return Ok(values),
                Err(error) if !self.is_followed() || tries > TRIES => return Err(error),
                Err(error) if once && error.code().is_none() => return Err(error),
                Err(error) => error,
            };
            let to = error.redirect_node().map(|(node, _)| node.to_owned());
            redirect = match (error.retry_method(), to) {
                (RetryMethod::MovedRedirect, Some(node)) => Some(Redirect::Moved(node)),
                (RetryMethod::AskRedirect, Some(node)) => Some(Redirect::Ask(node)),
                (RetryMethod::NoRetry, _) => return Err(error),
                // For a while its slot has no node, or the node no connection.
                _ => None,
            };
            // Twice at once: by an old map to the old node of a slot that is being moved, and on from there.
            if redirect.is_none() || tries > 2 {
                sleep(&Clock::monotonic(), Duration::from_millis(5 << tries.min(6))).await;
            }
        }
        unreachable!("it ends after some tries")
    }

    async fn send(&mut self, commands: &Pipeline, to: Option<&Redirect>) -> RedisResult<Vec<Value>> {
        let count = commands.len();
        let (address, asking) = match to {
            None => {
                return entered(&self.runtime, self.connection.req_packed_commands(commands, 0, count)).await;
            }
            Some(Redirect::Moved(address)) => (address, false),
            Some(Redirect::Ask(address)) => (address, true),
        };
        let mut node = self.node(address).await?;
        let sent = if asking {
            let mut all = Pipeline::with_capacity(count + 1);
            all.cmd("ASKING");
            for command in commands.cmd_iter() {
                all.add_command(command.clone());
            }
            node.send_packed_commands(&all, 1, count).await
        } else {
            node.send_packed_commands(commands, 0, count).await
        };
        match sent.and_then(|values| elsewhere(&values).map_or(Ok(values), Err)) {
            Err(error) if matches!(error.retry_method(), RetryMethod::Reconnect) => {
                self.nodes.lock().await.remove(address);
                Err(error)
            }
            sent => sent,
        }
    }

    async fn node(&self, address: &str) -> RedisResult<MultiplexedConnection> {
        let mut nodes = self.nodes.lock().await;
        if let Some(node) = nodes.get(address) {
            return Ok(node.clone());
        }
        let info = self.node.as_deref().and_then(|node| at(node, address));
        let info = info.ok_or((redis::ErrorKind::ClusterConnectionNotFound, "a node without an address"))?;
        let (client, config) = (Client::open(info)?, untimed());
        let connecting = client.get_multiplexed_async_connection_with_config(&config);
        let node = entered(&self.runtime, connecting).await?;
        nodes.insert(address.to_owned(), node.clone());
        Ok(node)
    }
}

/// The first of the replies that says that it has to be asked for elsewhere, or again.
fn elsewhere(values: &[Value]) -> Option<RedisError> {
    let errors = values.iter().filter(|value| matches!(value, Value::ServerError(_)));
    let mut errors = errors.filter_map(|error| error.clone().extract_error().err());
    errors.find(|error| !matches!(error.retry_method(), RetryMethod::NoRetry))
}

/// The same as another node is reached, at another address.
fn at(node: &ConnectionInfo, address: &str) -> Option<ConnectionInfo> {
    let (host, port) = address.rsplit_once(':')?;
    let (host, port) = ((!host.is_empty()).then(|| host.to_owned())?, port.parse().ok()?);
    let address = match node.addr().clone() {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host, port, insecure, tls_params }
        }
        _ => ConnectionAddr::Tcp(host, port),
    };
    Some(node.clone().set_addr(address))
}
