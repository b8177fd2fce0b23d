//! What servers answer instead of an answer (F46).

use std::sync::atomic::{AtomicBool, Ordering};

use idem::machine::{Recorded, Verdict};
use idem::{RedisStore, Store, StoreErrorKind};
use idem_servers::{DURABLE, RedisCluster, RedisServer, wait_until};

use crate::messages::{again, came, complete_many, ending, grant, hear, message};
use crate::place::{cluster, open, prefix, server};

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_flushed_scripts_are_loaded_anew_by_each_operation() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let flush = || assert_eq!(server.ask(&["SCRIPT", "FLUSH"]), "OK");
    let claim = message();
    flush();
    let fence = grant(&store, &claim).fence;
    flush();
    came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
    flush();
    came!(hear(store.inspect(&claim.id)), Ok(Some(_)));
    flush();
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { .. }));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_scripts_flushed_in_the_middle_of_pipelines_spoil_no_command() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = server.client();
            while !ended.load(Ordering::Relaxed) {
                assert_eq!(client.ask(&["SCRIPT", "FLUSH"]), "OK");
            }
        });
        for _ in 0..20 {
            let claims: Vec<_> = (0..200).map(|_| message()).collect();
            // Repeats are judged in their order, however often the first of them is sent.
            let batch: Vec<_> = claims.iter().cloned().chain(claims.iter().take(10).map(again)).collect();
            let verdicts = hear(store.claim_many(&batch)).expect("verdicts");
            for (at, verdict) in verdicts.iter().enumerate() {
                let first = at < claims.len();
                let as_expected = match verdict {
                    Verdict::Claimed(grant) => first && grant.tries == 1,
                    Verdict::InProgress { tries: 1, .. } => !first,
                    _ => false,
                };
                assert!(as_expected, "{at}: {verdict:?}");
            }
            let ends: Vec<_> = claims.iter().map(|claim| ending(claim, 1, b"done")).collect();
            let recorded = hear(complete_many(&store, &ends)).expect("answers");
            assert!(recorded.iter().all(|recorded| *recorded == Recorded::Stored), "{recorded:?}");
        }
        ended.store(true, Ordering::Relaxed);
    });
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_demoted_primary_is_unavailable_and_its_successor_is_found() {
    let (server, other) = (RedisServer::start(), RedisServer::start());
    let store = open(RedisStore::builder(server.url()));
    let claim = message();
    grant(&store, &claim);
    server.follow(other.port());
    let error = hear(store.claim(&message())).expect_err("a replica");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("replica"), "{error}");
    server.promote();
    wait_until("it is a primary again", || hear(store.claim(&message())).is_ok());
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_server_that_is_loading_is_unavailable_until_it_is_ready() {
    // Slow enough to be caught at it: it listens to clients after each thousand commands.
    let options = [&DURABLE[..], &["--key-load-delay", "300"]].concat();
    let mut server = RedisServer::with(&options);
    let store = open(RedisStore::builder(server.url()));
    let claim = message();
    let fence = grant(&store, &claim).fence;
    let claims: Vec<_> = (0..5_000).map(|_| message()).collect();
    hear(store.claim_many(&claims)).expect("verdicts");
    server.relaunch();
    let mut loading = 0;
    wait_until("it has read its data", || match hear(store.complete(&ending(&claim, fence, b"done"))) {
        Ok(recorded) => {
            assert_eq!(recorded, Recorded::Stored);
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
            loading += u32::from(error.to_string().contains("reading its data"));
            false
        }
    });
    assert!(loading > 0, "it was never caught at it");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_value_of_another_type_is_left_alone() {
    let (server, prefix) = (server(), prefix());
    let store = open(RedisStore::builder(server.url()).prefix(prefix.clone()));
    let claim = message();
    let key = [prefix.as_bytes(), claim.id.as_bytes()].concat();
    let mut client = server.client();
    assert_eq!(client.ask(&[b"LPUSH", &key[..], b"an item"]), "1");
    let error = hear(store.claim(&claim)).expect_err("a list");
    assert_eq!(error.kind(), StoreErrorKind::Foreign, "{error}");
    let error = hear(store.claim_many(&[message(), claim.clone()])).expect_err("a list");
    assert_eq!(error.kind(), StoreErrorKind::Foreign, "{error}");
    assert_eq!(client.ask(&[b"LRANGE", &key[..], b"0", b"-1"]), "an item");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_slots_that_move_under_load_lose_no_claim_and_grant_none_twice() {
    let cluster = RedisCluster::start(4, 3);
    let store = open(RedisStore::builder(cluster.url()));
    let claims: Vec<_> = (0..60).map(|_| message()).collect();
    let ended = AtomicBool::new(false);
    let (says, hears) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let workers: Vec<_> = claims
            .chunks(20)
            .map(|claims| {
                let (store, ended, says) = (&store, &ended, says.clone());
                scope.spawn(move || {
                    let fences: Vec<_> = claims.iter().map(|claim| grant(store, claim).fence).collect();
                    says.send(()).expect("somebody hears it");
                    while !ended.load(Ordering::Relaxed) {
                        for claim in claims {
                            came!(hear(store.claim(&again(claim))), Ok(Verdict::InProgress { tries: 1, .. }));
                        }
                        let fresh: Vec<_> = (0..20).map(|_| message()).collect();
                        for verdict in hear(store.claim_many(&fresh)).expect("verdicts") {
                            came!(verdict, Verdict::Claimed(grant) if grant.tries == 1);
                        }
                    }
                    for (claim, fence) in claims.iter().zip(fences) {
                        came!(hear(store.complete(&ending(claim, fence, b"done"))), Ok(Recorded::Stored));
                    }
                })
            })
            .collect();
        drop(says);
        for _ in &workers {
            hears.recv().expect("a worker with its claims");
        }
        // To the node that had none, while they are asked for.
        for claim in claims.iter().step_by(4) {
            let (slot, owner) = cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 3);
            let owner = (owner..3).find(|&node| {
                let count = cluster.nodes()[node].ask(&["CLUSTER", "COUNTKEYSINSLOT", &slot.to_string()]);
                count != "0"
            });
            if let Some(owner) = owner {
                cluster.move_slot(slot, owner, 3);
            }
        }
        ended.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.join().expect("a worker");
        }
    });
    let moved: u64 = cluster.nodes()[3].ask(&["DBSIZE"]).parse().expect("a number");
    assert!(moved > 0, "no record was moved");
    for claim in &claims {
        came!(hear(store.claim(&again(claim))), Ok(Verdict::Completed { .. }));
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn records_spread_over_all_nodes_of_a_cluster() {
    let cluster = cluster();
    let store = open(RedisStore::builder(cluster.url()).prefix(prefix()));
    let claims: Vec<_> = (0..64).map(|_| message()).collect();
    for verdict in hear(store.claim_many(&claims)).expect("verdicts") {
        came!(verdict, Verdict::Claimed(_));
    }
    for node in cluster.nodes() {
        assert_ne!(node.ask(&["DBSIZE"]), "0");
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_cluster_that_lost_a_node_is_unavailable() {
    let mut cluster = RedisCluster::start(3, 3);
    let store = open(RedisStore::builder(cluster.url()));
    grant(&store, &message());
    cluster.nodes_mut()[2].kill();
    wait_until("the cluster is down", || {
        cluster.nodes()[0].ask(&["CLUSTER", "INFO"]).contains("cluster_state:fail")
    });
    let claim = message();
    let error = hear(store.claim(&claim)).expect_err("a cluster that is down");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    cluster.nodes_mut()[2].restart();
    wait_until("the cluster is up", || hear(store.claim(&claim)).is_ok());
    assert_eq!(grant(&store, &claim).tries, 1);
}

/// Claims that wait for replicas go in pipelines, in which a cluster's client follows no slot. Without replicas, none is granted.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_claim_that_waits_for_replicas_follows_its_slot() {
    let cluster = RedisCluster::start(2, 2);
    let store =
        open(RedisStore::builder(cluster.url()).wait_replicas(1, std::time::Duration::from_millis(50)));
    let claim = message();
    let refused = || {
        let error = hear(store.claim(&claim)).expect_err("no replicas");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
    };
    refused();
    let (slot, owner) = cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 2);
    cluster.move_slot(slot, owner, 1 - owner);
    refused();
}
