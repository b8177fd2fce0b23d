//! A client of the user's for a cluster, which follows redirections by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::aio::ConnectionLike;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{
    MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo, Slot, SlotAddr,
};
use redis::{Cmd, Pipeline, RedisResult, Value};
use tokio::runtime::Handle;

use super::slots::{self, Map};
use super::source::{behind, entered, text};

#[derive(Clone)]
pub(super) struct OwnClient {
    connection: ClusterConnection,
    /// The client's own timers need it wherever it is polled.
    runtime: Handle,
    /// Known here only to say what goes together.
    map: Arc<Mutex<Option<Arc<Map>>>>,
}

impl OwnClient {
    pub(super) fn new(connection: ClusterConnection) -> Self {
        Self { connection, runtime: Handle::current(), map: Arc::default() }
    }

    pub(super) async fn send_one(&mut self, command: &Cmd) -> RedisResult<Value> {
        entered(&self.runtime, self.connection.req_packed_command(command)).await
    }

    /// Sends commands about one record to where it is. Errors of the server come as values.
    pub(super) async fn send(&mut self, commands: &Pipeline) -> RedisResult<Vec<Value>> {
        let sent = self.connection.req_packed_commands(commands, 0, commands.len());
        entered(&self.runtime, sent).await
    }

    /// Sends many to the node that has `key`.
    pub(super) async fn send_to_node(&mut self, commands: &Pipeline, key: &[u8]) -> RedisResult<Vec<Value>> {
        let primary = SingleNodeRoutingInfo::SpecificNode(Route::with_key(key, SlotAddr::Master));
        let sent = self.connection.route_pipeline(guarded(commands), 1, commands.len(), primary);
        entered(&self.runtime, sent).await
    }

    pub(super) async fn ask_primaries(&mut self, command: Cmd) -> Vec<(String, Value)> {
        let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
        match entered(&self.runtime, self.connection.route_command(command, all)).await {
            Ok(Value::Map(said)) => {
                said.into_iter().filter_map(|(node, value)| Some((text(&node)?, value))).collect()
            }
            Err(error) if error.code().is_some() => vec![(String::new(), Value::Nil)],
            _ => Vec::new(),
        }
    }

    /// The address of the node that has each slot. Of what is `None`, the client finds it out.
    pub(super) async fn owners(&mut self, slots: &[Slot]) -> Vec<Option<Arc<str>>> {
        let known = self.map().clone();
        let map = match known {
            Some(map) => map,
            None => self.learn().await,
        };
        slots.iter().map(|slot| map.get(slot).cloned()).collect()
    }

    pub(super) fn forget(&self) {
        *self.map() = None;
    }

    async fn learn(&mut self) -> Arc<Map> {
        let said = self.send_one(&slots::question()).await.ok();
        // Nodes that do not know their own names are all one then, and their batches go in parts.
        let map = Arc::new(said.map(|said| slots::read(&said, "")).unwrap_or_default());
        *self.map() = Some(map.clone());
        map
    }

    fn map(&self) -> MutexGuard<'_, Option<Arc<Map>>> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same behind a command on no key. A client that follows redirections by itself sends the whole pipeline on, after an `ASKING` by
/// which a node answers for a slot that it does not have yet: the first command takes it away, and what follows is redirected anew.
fn guarded(commands: &Pipeline) -> Pipeline {
    behind("TIME", commands)
}
