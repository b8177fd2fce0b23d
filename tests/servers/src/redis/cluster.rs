//! A cluster of primaries.

use super::{RedisServer, wait_until};
use crate::Proxy;

/// A cluster of primaries; its slots are spread over all nodes but the last ones, as a test says, which can be made replicas.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
    /// How many of them are no replicas; these come first.
    primaries: usize,
}

/// How many slots a cluster has.
const SLOTS: usize = 16_384;

impl RedisCluster {
    /// Starts `nodes` servers that know each other, and spreads the slots over the first `owners` of them.
    ///
    /// # Panics
    /// If they are no cluster within ten seconds.
    pub fn start(nodes: usize, owners: usize) -> Self {
        let options = [
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "2000",
            "--cluster-config-file",
            "nodes.conf",
        ];
        let nodes: Vec<_> = (0..nodes).map(|_| RedisServer::with(&options)).collect();
        for (number, node) in (1..).zip(&nodes) {
            // Whose word counts where two say that a slot is theirs.
            assert_eq!(node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &number.to_string()]), "OK");
        }
        for (number, node) in nodes[..owners].iter().enumerate() {
            let (first, next) = (SLOTS * number / owners, SLOTS * (number + 1) / owners);
            let slots: Vec<_> = (first..next).map(|slot| slot.to_string()).collect();
            let command: Vec<_> =
                ["CLUSTER", "ADDSLOTS"].into_iter().chain(slots.iter().map(String::as_str)).collect();
            assert_eq!(node.ask(&command), "OK");
        }
        for node in &nodes[1..] {
            assert_eq!(node.ask(&["CLUSTER", "MEET", "127.0.0.1", &nodes[0].port().to_string()]), "OK");
        }
        let primaries = nodes.len();
        let cluster = Self { nodes, primaries };
        wait_until("all nodes know the cluster", || {
            cluster.nodes.iter().all(|node| {
                let info = node.ask(&["CLUSTER", "INFO"]);
                let has = |line: &str| info.lines().any(|found| found.trim() == line);
                has("cluster_state:ok") && has(&format!("cluster_known_nodes:{}", cluster.nodes.len()))
            })
        });
        cluster
    }

    /// The same, with a replica for each owner: that of the first owner is the first node behind all owners.
    ///
    /// # Panics
    /// As `start`.
    pub fn with_replicas(owners: usize) -> Self {
        let mut cluster = Self::start(2 * owners, owners);
        cluster.primaries = owners;
        let (primaries, replicas) = cluster.nodes.split_at(owners);
        for (primary, replica) in primaries.iter().zip(replicas) {
            assert_eq!(replica.ask(&["CLUSTER", "REPLICATE", &primary.ask(&["CLUSTER", "MYID"])]), "OK");
        }
        for (primary, replica) in primaries.iter().zip(replicas) {
            wait_until("the replica is in step", || {
                let info = replica.ask(&["INFO", "replication"]);
                info.contains("role:slave") && info.contains("master_link_status:up")
            });
            primary.wait_for_replicas(1);
        }
        cluster
    }

    /// Lets the replica of an owner take its place, whatever the others think, and waits until these know.
    ///
    /// # Panics
    /// If they do not within ten seconds.
    pub fn take_over(&self, replica: usize, owner: usize) {
        assert_eq!(self.nodes[replica].ask(&["CLUSTER", "FAILOVER", "TAKEOVER"]), "OK");
        let id = self.nodes[replica].ask(&["CLUSTER", "MYID"]);
        let others = self.nodes.iter().enumerate().filter(|(number, _)| *number != owner);
        for (_, node) in others {
            wait_until("all others know the new owner", || {
                let nodes = node.ask(&["CLUSTER", "NODES"]);
                let line = nodes.lines().find(|line| line.starts_with(&id));
                let is_owner = line.is_some_and(|line| line.contains("master") && line.contains('-'));
                is_owner && node.ask(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
            });
        }
    }

    /// Lets a replica take over from its primary, which is well and becomes one itself, and waits until all nodes know. Nodes grant that
    /// once in a while for each primary.
    ///
    /// # Panics
    /// If they do not within ten seconds.
    pub fn hand_over(&self, replica: usize) {
        let id = self.nodes[replica].ask(&["CLUSTER", "MYID"]);
        let all_know_as = |role: &str| {
            self.nodes.iter().all(|node| {
                let nodes = node.ask(&["CLUSTER", "NODES"]);
                let is_one = |line: &str| line.starts_with(&id) && line.contains(role);
                nodes.lines().any(is_one)
            })
        };
        wait_until("all nodes know the replica", || all_know_as("slave"));
        wait_until("the replica is in step", || {
            self.nodes[replica].ask(&["INFO", "replication"]).contains("master_link_status:up")
        });
        assert_eq!(self.nodes[replica].ask(&["CLUSTER", "FAILOVER"]), "OK");
        wait_until("all nodes know the new primary", || all_know_as("master"));
    }

    /// Puts a network in front of each node, and waits until all nodes lead clients there.
    ///
    /// # Panics
    /// If they do not within ten seconds.
    pub fn behind_proxies(&self) -> Vec<Proxy> {
        let proxies: Vec<_> = self.nodes.iter().map(|node| Proxy::to(node.port())).collect();
        for (node, proxy) in self.nodes.iter().zip(&proxies) {
            let port = proxy.port().to_string();
            assert_eq!(node.ask(&["CONFIG", "SET", "cluster-announce-port", &port]), "OK");
        }
        let ports: Vec<_> = proxies.iter().map(|proxy| format!(":{}@", proxy.port())).collect();
        wait_until("all nodes lead to the proxies", || {
            self.nodes.iter().all(|node| {
                let nodes = node.ask(&["CLUSTER", "NODES"]);
                ports.iter().all(|port| nodes.contains(port))
            })
        });
        proxies
    }

    /// The URL of its first node.
    pub fn url(&self) -> String {
        self.nodes[0].url()
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// Its nodes, to kill or pause one.
    pub fn nodes_mut(&mut self) -> &mut [RedisServer] {
        &mut self.nodes
    }

    /// Moves one slot with its keys from node to node, as an operator's tool does: commands are redirected meanwhile.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        self.begin_move(slot, from, to);
        while self.move_keys(slot, from, to, 100) > 0 {}
        self.end_move(slot, from, to);
    }

    /// Begins to move a slot: from now on, its old node says where to ask for what it does not have.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        let slot = slot.to_string();
        let ids = [source, target].map(|node| node.ask(&["CLUSTER", "MYID"]));
        assert_eq!(target.ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[0]]), "OK");
        assert_eq!(source.ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[1]]), "OK");
    }

    /// Moves up to `count` keys of a slot, and says how many it found.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn move_keys(&self, slot: u16, from: usize, to: usize, count: usize) -> usize {
        let port = self.nodes[to].port().to_string();
        let mut client = self.nodes[from].client();
        let keys = client.ask_bytes(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), &count.to_string()]);
        for key in &keys {
            let moved = client.ask(&[b"MIGRATE", &b"127.0.0.1"[..], port.as_bytes(), key, b"0", b"5000"]);
            assert!(moved == "OK" || moved == "NOKEY", "MIGRATE: {moved}");
        }
        keys.len()
    }

    /// Ends a move: the slot is the new node's.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn end_move(&self, slot: u16, from: usize, to: usize) {
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        let id = target.ask(&["CLUSTER", "MYID"]);
        for node in [target, source].into_iter().chain(&self.nodes[..self.primaries]) {
            assert_eq!(node.ask(&["CLUSTER", "SETSLOT", &slot.to_string(), "NODE", &id]), "OK");
        }
        // Else a node could not outdo an older word when the slot moves on.
        wait_until("all nodes have heard of it", || {
            let epoch = |node: &RedisServer| {
                let info = node.ask(&["CLUSTER", "INFO"]);
                info.lines().find(|line| line.starts_with("cluster_current_epoch:")).map(str::to_owned)
            };
            self.nodes.iter().all(|node| epoch(node) == epoch(target))
        });
    }

    /// The slot of a key, and the node that has it if no slot was moved.
    ///
    /// # Panics
    /// If a node does not answer.
    pub fn slot(&self, key: &[u8], owners: usize) -> (u16, usize) {
        let slot = self.nodes[0].client().ask(&[b"CLUSTER", b"KEYSLOT", key]);
        let slot: u16 = slot.parse().expect("a number");
        let owner = (0..owners).find(|number| usize::from(slot) < SLOTS * (number + 1) / owners);
        (slot, owner.expect("every slot has an owner"))
    }
}
