//! A cluster of primaries.

use super::{RedisServer, wait_until};

/// A cluster of primaries without replicas; its slots are spread over all nodes but the last ones, as a test says.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
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
        let cluster = Self { nodes };
        wait_until("all nodes know the cluster", || {
            cluster.nodes.iter().all(|node| {
                let info = node.ask(&["CLUSTER", "INFO"]);
                let has = |line: &str| info.lines().any(|found| found.trim() == line);
                has("cluster_state:ok") && has(&format!("cluster_known_nodes:{}", cluster.nodes.len()))
            })
        });
        cluster
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
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        let (slot, port) = (slot.to_string(), target.port().to_string());
        let ids = [source, target].map(|node| node.ask(&["CLUSTER", "MYID"]));
        assert_eq!(target.ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[0]]), "OK");
        assert_eq!(source.ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[1]]), "OK");
        let mut client = source.client();
        loop {
            let keys = client.ask_bytes(&["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
            if keys.is_empty() {
                break;
            }
            for key in keys {
                let moved =
                    client.ask(&[b"MIGRATE", &b"127.0.0.1"[..], port.as_bytes(), &key, b"0", b"5000"]);
                assert!(moved == "OK" || moved == "NOKEY", "MIGRATE: {moved}");
            }
        }
        for node in [target, source].into_iter().chain(&self.nodes) {
            assert_eq!(node.ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &ids[1]]), "OK");
        }
    }
}
