//! A cluster: connections to its nodes, and which of them has what.
//!
//! The client has a connection for clusters too, whose ways are not safe here. `ASKING`, by which a node answers for a slot that is only
//! being moved there, counts for whatever comes next on a connection; and while it asks where slots are, it leaves alone the commands that
//! are under way, of which one may hold the very lock that it waits for. Connections to single nodes do nothing by themselves.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster_routing::Slot;
use redis::{
    Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisResult, RetryMethod,
    Value,
};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;

use super::link::now;
use super::slots::{self, Map};
use super::source::{entered, untimed};
use super::within::Deadline;
use crate::Timestamp;
use crate::join::Join;

/// Where a cluster is to be found.
pub(super) struct Seeds {
    /// Nodes that were named. All others are reached as the first is.
    named: Vec<ConnectionInfo>,
    /// Those that it had when it was last asked.
    met: Mutex<Vec<Arc<str>>>,
    /// Whom to ask first.
    turn: AtomicUsize,
    /// How long a node may take to answer what others can answer as well, or what can be done without.
    patience: Deadline,
}

#[derive(Clone)]
pub(super) struct Cluster(Arc<Inner>);

struct Inner {
    seeds: Arc<Seeds>,
    /// Connections live there.
    runtime: Handle,
    known: Mutex<Known>,
    learning: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    map: Option<Arc<Map>>,
    /// What was moved since, by the word of the node that had it.
    moved: HashMap<Slot, Arc<str>>,
    nodes: HashMap<Arc<str>, Node>,
}

/// One connection, which calls share, made by the first of them.
#[derive(Clone, Default)]
struct Node {
    connection: Arc<OnceCell<MultiplexedConnection>>,
    /// When anything was last heard on it.
    heard: Arc<AtomicU64>,
}

impl Seeds {
    pub(super) fn new(named: Vec<ConnectionInfo>, limit: Duration) -> Self {
        let (met, turn, patience) = (Mutex::default(), AtomicUsize::new(0), Deadline::new(limit / 4));
        Self { named, met, turn, patience }
    }

    /// How a node is reached.
    fn info(&self, address: &str) -> RedisResult<ConnectionInfo> {
        let named = self.named.iter().find(|named| named.addr().to_string() == address);
        let info = named.cloned().or_else(|| at(self.named.first()?, address));
        info.ok_or_else(|| (ErrorKind::ClusterConnectionNotFound, "a node without an address").into())
    }

    /// All that are known. Another one is the first each time: some may be gone, or cut off and behind.
    fn addresses(&self) -> Vec<Arc<str>> {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let named = self.named.iter().map(|named| Arc::from(named.addr().to_string()));
        let mut seen = HashSet::new();
        let mut all: Vec<_> = named.chain(met).filter(|address| seen.insert(address.clone())).collect();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % all.len().max(1);
        all.rotate_left(turn);
        all
    }

    fn meet(&self, nodes: &HashSet<Arc<str>>) {
        *self.met.lock().unwrap_or_else(PoisonError::into_inner) = nodes.iter().cloned().collect();
    }
}

impl Cluster {
    /// Finds out where the slots are.
    pub(super) async fn connect(seeds: Arc<Seeds>) -> RedisResult<Self> {
        let (known, learning) = (Mutex::default(), tokio::sync::Mutex::default());
        let cluster = Self(Arc::new(Inner { seeds, runtime: Handle::current(), known, learning }));
        cluster.learn().await?;
        Ok(cluster)
    }

    /// The address of the node that has a slot, as far as is known. Of what is in no slot, any.
    pub(super) async fn owner(&self, slot: Option<Slot>) -> RedisResult<Arc<str>> {
        let map = self.learn().await?;
        let owner = match slot {
            Some(slot) => self.known().moved.get(&slot).or_else(|| map.get(&slot)).cloned(),
            None => map.values().next().cloned(),
        };
        owner.ok_or_else(|| (ErrorKind::ClusterConnectionNotFound, "no node has its slot").into())
    }

    /// The same for many. It is `None` of what is not known.
    pub(super) async fn owners(&self, slots: &[Slot]) -> Vec<Option<Arc<str>>> {
        let Ok(map) = self.learn().await else { return vec![None; slots.len()] };
        let known = self.known();
        slots.iter().map(|slot| known.moved.get(slot).or_else(|| map.get(slot)).cloned()).collect()
    }

    /// Sends to a node. An error if the first reply that is one says that something is elsewhere, or to be sent again.
    pub(super) async fn send_to(
        &self,
        address: &Arc<str>,
        commands: &Pipeline,
        skipped: usize,
    ) -> RedisResult<Vec<Value>> {
        let (node, mut connection) = self.node(address).await?;
        let sent = connection.send_packed_commands(commands, skipped, commands.len() - skipped).await;
        match &sent {
            Ok(_) => node.heard.store(now().as_micros(), Ordering::Relaxed),
            Err(_) => self.leave(address, &node),
        }
        let values = sent?;
        elsewhere(&values).map_or(Ok(values), Err)
    }

    /// Asks every primary, and gives each answer with the address of who gave it. One that is silent is left out.
    pub(super) async fn ask_primaries(&self, command: &Cmd) -> Vec<(String, Value)> {
        let Ok(map) = self.learn().await else { return Vec::new() };
        let mut commands = Pipeline::with_capacity(1);
        commands.add_command(command.clone());
        let nodes: HashSet<_> = map.values().cloned().collect();
        let commands = &commands;
        let asked = nodes.into_iter().map(|address| {
            Box::pin(async move {
                let said = self.0.seeds.patience.within(self.send_to(&address, commands, 0)).await;
                Some((address.to_string(), said?.ok()?.pop()?))
            })
        });
        Join::new(asked).await.into_iter().flatten().collect()
    }

    /// Takes a node's word that it does not have a slot any more.
    pub(super) fn moved(&self, slot: Option<Slot>, address: Arc<str>) {
        if let Some(slot) = slot {
            self.known().moved.insert(slot, address);
        }
    }

    /// The nodes are to be asked where the slots are.
    pub(super) fn forget(&self) {
        self.known().map = None;
    }

    /// Leaves connections on which nothing was heard since `since`: their other ends may be gone without a word.
    pub(super) fn leave_silent(&self, since: Timestamp) {
        let mut known = self.known();
        known.nodes.retain(|_, node| node.heard.load(Ordering::Relaxed) > since.as_micros());
        known.map = None;
    }

    /// The map, asked for if it has to be.
    async fn learn(&self) -> RedisResult<Arc<Map>> {
        if let Some(map) = self.known().map.clone() {
            return Ok(map);
        }
        let _one_at_a_time = self.0.learning.lock().await;
        if let Some(map) = self.known().map.clone() {
            return Ok(map);
        }
        let mut addresses = self.0.seeds.addresses();
        addresses.sort_by_key(|address| !self.is_connected(address));
        let mut why =
            RedisError::from((ErrorKind::ClusterConnectionNotFound, "no node says where slots are"));
        for address in addresses {
            match self.0.seeds.patience.within(self.ask_map(&address)).await {
                Some(Ok(map)) if !map.is_empty() => {
                    let nodes = map.values().cloned().collect();
                    self.0.seeds.meet(&nodes);
                    let map = Arc::new(map);
                    let mut known = self.known();
                    known.nodes.retain(|address, _| nodes.contains(address));
                    known.moved.clear();
                    known.map = Some(map.clone());
                    return Ok(map);
                }
                // It is in no cluster, or not yet.
                Some(Ok(_)) => {}
                Some(Err(error)) => why = error,
                None => {
                    self.known().nodes.remove(&address);
                }
            }
        }
        Err(why)
    }

    async fn ask_map(&self, address: &Arc<str>) -> RedisResult<Map> {
        let mut question = Pipeline::with_capacity(1);
        question.add_command(slots::question());
        let said = self.send_to(address, &question, 0).await?.pop().unwrap_or_default();
        Ok(slots::read(&said.extract_error()?, address))
    }

    async fn node(&self, address: &Arc<str>) -> RedisResult<(Node, MultiplexedConnection)> {
        let node = self.known().nodes.entry(address.clone()).or_default().clone();
        let connection = node.connection.get_or_try_init(|| async {
            let (client, config) = (Client::open(self.0.seeds.info(address)?)?, untimed());
            entered(&self.0.runtime, client.get_multiplexed_async_connection_with_config(&config)).await
        });
        let connection = connection.await?.clone();
        Ok((node, connection))
    }

    fn is_connected(&self, address: &Arc<str>) -> bool {
        self.known().nodes.get(address).is_some_and(|node| node.connection.initialized())
    }

    fn leave(&self, address: &Arc<str>, node: &Node) {
        let mut known = self.known();
        // Another may have made a new one by now.
        if known.nodes.get(address).is_some_and(|now| Arc::ptr_eq(&now.connection, &node.connection)) {
            known.nodes.remove(address);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
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
