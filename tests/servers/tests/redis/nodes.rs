//! A cluster's nodes that fail, fall silent, change their places or their names (F24, F33, F46).

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use idem::machine::{Claim, Forgotten, Recorded, Verdict};
use idem::{RedisStore, RedisStoreBuilder, Store, StoreErrorKind};
use idem_servers::{RedisCluster, RedisServer, wait_until};

use crate::ended::Ends;
use crate::messages::{again, at_last, came, ending, grant, hear, message};
use crate::place::{RUNTIME, open, try_open};

/// Opens by any of its nodes.
fn by_all(cluster: &RedisCluster) -> RedisStoreBuilder {
    cluster.nodes()[1..]
        .iter()
        .map(RedisServer::url)
        .fold(RedisStore::builder(cluster.url()), RedisStoreBuilder::node)
}

/// A message whose record that node has.
fn at(cluster: &RedisCluster, node: usize) -> Claim {
    let mut claims = std::iter::repeat_with(message);
    let is_there = |claim: &Claim| cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 3).1 == node;
    claims.find(is_there).expect("one")
}

/// Those who only delete find it too, though none of their commands is sent twice.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_deletions_alone_find_the_node_that_took_over() {
    let mut cluster = RedisCluster::with_replicas(3);
    let store = open(by_all(&cluster));
    let claim = at(&cluster, 0);
    came!(hear(store.forget(&claim.id, false)), Ok(Forgotten::Absent));
    cluster.nodes_mut()[0].kill();
    cluster.take_over(3, 0);
    wait_until("a deletion is done", || hear(store.forget(&claim.id, false)).is_ok());
}

/// Somebody who waits for two things may poll one of them for a while, and not the other.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f33_a_reply_that_is_not_polled_for_a_while_keeps_no_other_waiting() {
    let cluster = RedisCluster::start(3, 3);
    let store = open(by_all(&cluster).deadline(Duration::from_secs(10)));
    for node in cluster.nodes() {
        node.ask(&["CLIENT", "KILL", "TYPE", "normal"]);
        node.pause();
    }
    // As far as they come: their connections are gone, and nobody says where slots are.
    let mut replies: Vec<_> = (0..3).map(|_| store.claim(&message())).collect();
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..50 {
        for reply in &mut replies {
            assert!(matches!(Pin::new(reply).poll(&mut cx), Poll::Pending));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    cluster.nodes().iter().for_each(RedisServer::go_on);
    for _ in 0..10 {
        grant(&store, &message());
    }
    for reply in replies {
        came!(hear(reply), Ok(Verdict::Claimed(_)));
    }
}

/// The one that was the primary is well, and says so itself.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_primary_that_handed_over_to_its_replica_is_asked_no_more_how_it_is() {
    let cluster = RedisCluster::with_replicas(3);
    let store = open(by_all(&cluster));
    let claim = at(&cluster, 0);
    let fence = grant(&store, &claim).fence;
    cluster.hand_over(3);
    let recorded = at_last(|| store.complete(&ending(&claim, fence, b"done")));
    assert_eq!(recorded, Recorded::Stored);
    let warnings = RUNTIME.block_on(store.check()).expect("an answer");
    assert!(!warnings.iter().any(|warning| warning.contains("replica")), "{warnings:?}");
}

/// As many slots as it has: they are not found out about one by one.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_after_a_failover_few_calls_go_to_the_old_primary() {
    let cluster = RedisCluster::with_replicas(3);
    let store = open(by_all(&cluster));
    grant(&store, &message());
    cluster.hand_over(3);
    for _ in 0..300 {
        grant(&store, &message());
    }
    let stats = cluster.nodes()[0].ask(&["INFO", "errorstats"]);
    let moved = stats.lines().find_map(|line| line.strip_prefix("errorstat_MOVED:count="));
    let moved: u32 = moved.map_or(0, |count| count.trim().parse().expect("a number"));
    assert!(moved < 50, "{moved} were sent on");
}

/// What was given up leaves nothing behind that waits for the node.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_batches_to_a_node_that_is_silent_end_with_their_deadline() {
    let cluster = RedisCluster::start(3, 3);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let builder = by_all(&cluster).deadline(Duration::from_secs(2));
    let store = runtime.block_on(builder.connect()).expect("a store");
    let claims: Vec<_> = (0..3).map(|node| at(&cluster, node)).collect();
    cluster.nodes()[2].pause();
    let replies: Vec<_> = (0..40).map(|_| RUNTIME.spawn(store.claim_many(&claims))).collect();
    for reply in replies {
        let reply = RUNTIME.block_on(reply).expect("no panic");
        let error = reply.expect_err("a node that was stopped");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
    wait_until("nobody waits any more", || runtime.metrics().num_alive_tasks() < 20);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_nobody_says_how_nodes_are_that_are_silent_or_gone() {
    let mut cluster = RedisCluster::start(3, 3);
    let store = open(by_all(&cluster).deadline(Duration::from_secs(2)));
    cluster.nodes().iter().for_each(RedisServer::pause);
    let error = RUNTIME.block_on(store.check()).expect_err("no answer");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    cluster.nodes_mut().iter_mut().for_each(RedisServer::kill);
    let error = RUNTIME.block_on(store.check()).expect_err("no answer");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");

    let mut server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    server.kill();
    let error = RUNTIME.block_on(store.check()).expect_err("no answer");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    server.restart();
    grant(&store, &message());
    assert_eq!(store.restarts(), 1);
    server.restart();
    // Its connection is gone, and it is well.
    let warnings = RUNTIME.block_on(store.check()).expect("an answer");
    assert!(!warnings.iter().any(|warning| warning.contains("forbidden")), "{warnings:?}");
    assert_eq!(store.restarts(), 2);
}

/// The reply gets lost once the deletion is done, and another has the record next.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f22_what_a_node_did_whose_reply_is_lost_is_asked_for_again_unless_it_deletes() {
    let cluster = RedisCluster::start(3, 3);
    let proxies = cluster.behind_proxies();
    let store = open(RedisStore::builder(format!("redis://127.0.0.1:{}", proxies[0].port())));
    // From now on all nodes have the script.
    for node in 0..3 {
        came!(hear(store.forget(&at(&cluster, node).id, false)), Ok(Forgotten::Absent));
    }
    for (node, proxy) in proxies.iter().enumerate() {
        let claim = at(&cluster, node);
        proxy.lose_reply_to(b"EVALSHA");
        let fence = grant(&store, &claim).fence;
        proxy.lose_reply_to(b"EVALSHA");
        came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
        let lost = proxy.lost();
        proxy.lose_reply_to(b"EVALSHA");
        let error = hear(store.forget(&claim.id, false)).expect_err("a deletion whose reply was lost");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        proxy.wait_until_lost(lost + 1);
        let next = again(&claim);
        came!(hear(store.claim(&next)), Ok(Verdict::Claimed(grant)) if grant.tries == 1);
        came!(hear(store.claim(&again(&claim))), Ok(Verdict::InProgress { tries: 1, .. }));
        // Nor behind the redirection of a slot that has moved.
        let fence = grant(&store, &next).fence;
        came!(hear(store.complete(&ending(&next, fence, b"done"))), Ok(Recorded::Stored));
        let (slot, owner) = cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 3);
        let to = (owner + 1) % 3;
        cluster.move_slot(slot, owner, to);
        let lost = proxies[to].lost();
        proxies[to].lose_reply_to(b"EVALSHA");
        let error = hear(store.forget(&claim.id, false)).expect_err("a deletion whose reply was lost");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        proxies[to].wait_until_lost(lost + 1);
        came!(hear(store.claim(&again(&claim))), Ok(Verdict::Claimed(grant)) if grant.tries == 1);
        proxies.iter().for_each(idem_servers::Proxy::pass);
    }
}

/// Nodes say where the others are by their names, or only by their ports.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_cluster_is_found_by_names_by_addresses_and_by_ports_alone() {
    let cluster = RedisCluster::start(3, 3);
    for node in cluster.nodes() {
        assert_eq!(node.ask(&["CONFIG", "SET", "cluster-announce-hostname", "localhost"]), "OK");
    }
    let known = |node: &RedisServer| node.ask(&["CLUSTER", "SHARDS"]).matches("localhost").count() == 3;
    wait_until("all names are known", || cluster.nodes().iter().all(known));
    for (kind, protocol) in [("hostname", "resp3"), ("unknown-endpoint", "resp2"), ("ip", "resp3")] {
        for node in cluster.nodes() {
            assert_eq!(node.ask(&["CONFIG", "SET", "cluster-preferred-endpoint-type", kind]), "OK");
        }
        let store = open(RedisStore::builder(format!("{}/?protocol={protocol}", cluster.url())));
        let claims: Vec<_> = (0..3).map(|node| at(&cluster, node)).collect();
        for verdict in hear(store.claim_many(&claims)).expect("verdicts") {
            came!(verdict, Verdict::Claimed(_));
        }
        for (owner, claim) in claims.iter().enumerate() {
            let (slot, _) = cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 3);
            let to = (owner + 1) % 3;
            cluster.begin_move(slot, owner, to);
            while cluster.move_keys(slot, owner, to, 100) > 0 {}
            came!(hear(store.claim(&again(claim))), Ok(Verdict::InProgress { tries: 1, .. }));
            cluster.end_move(slot, owner, to);
            came!(hear(store.claim(&again(claim))), Ok(Verdict::InProgress { tries: 1, .. }));
        }
        let duplicates: Vec<_> = claims.iter().map(again).collect();
        for verdict in hear(store.claim_many(&duplicates)).expect("verdicts") {
            came!(verdict, Verdict::InProgress { tries: 1, .. });
        }
        assert!(
            !RUNTIME
                .block_on(store.check())
                .expect("an answer")
                .iter()
                .any(|warning| warning.contains("forbidden"))
        );
    }
}

/// The others go on, and messages name the cure, and no password.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_node_with_another_password_is_in_nobodys_way_but_its_own_messages() {
    let cluster = RedisCluster::start(3, 3);
    let claims = [0, 1, 2].map(|node| at(&cluster, node));
    for (node, password) in cluster.nodes().iter().zip(["rosebud", "rosebud", "sesame"]) {
        assert_eq!(node.ask(&["CONFIG", "SET", "requirepass", password]), "OK");
    }
    let urls = cluster.nodes().iter().map(|node| node.url().replace("redis://", "redis://:rosebud@"));
    let builders: Vec<_> = urls.map(RedisStore::builder).collect();
    for (builder, claim) in builders[..2].iter().zip(&claims) {
        let store = open(builder.clone());
        grant(&store, claim);
        let error = hear(store.claim(&claims[2])).expect_err("another password");
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
        let text = format!("{error} {error:?}");
        assert!(text.contains("password") && !text.contains("rosebud"), "{text}");
    }
    let error = try_open(builders[2].clone()).expect_err("another password");
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
    assert!(!format!("{error} {error:?}").contains("rosebud"), "{error}");
}

/// All of them lost their connections, and are told together.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_a_crowd_whose_connections_are_gone_asks_few_times_where_slots_are() {
    let cluster = RedisCluster::start(3, 3);
    let store = open(by_all(&cluster).deadline(Duration::from_mins(1)));
    grant(&store, &message());
    for node in cluster.nodes() {
        node.ask(&["CLIENT", "KILL", "TYPE", "normal"]);
    }
    let replies: Vec<_> = (0..400)
        .map(|_| {
            let reply = store.claim(&message());
            RUNTIME.spawn(async move { reply.await.expect("a verdict") })
        })
        .collect();
    for reply in replies {
        came!(RUNTIME.block_on(reply), Ok(Verdict::Claimed(_)));
    }
    let asked = cluster.nodes().iter().map(|node| {
        let stats = node.ask(&["INFO", "commandstats"]);
        let asked = stats.lines().find_map(|line| line.strip_prefix("cmdstat_cluster|slots:calls="));
        asked.map_or(0, |asked| asked.split(',').next().expect("a number").parse::<u32>().expect("a number"))
    });
    let asked: u32 = asked.sum();
    assert!(asked < 40, "asked {asked} times");
}

/// Nobody is told to take over: the others find out that a primary is gone, and choose its replica.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_a_primary_that_is_killed_under_load_is_followed_by_its_replica() {
    let mut cluster = RedisCluster::with_replicas(3);
    let store = open(by_all(&cluster));
    let claims: Vec<_> = (0..30).map(|_| message()).collect();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (store, ended) = (&store, &ended);
            scope.spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    let batch: Vec<_> = (0..10).map(|_| message()).collect();
                    if worker % 2 == 0 {
                        at_last(|| store.claim_many(&batch));
                    } else {
                        let _ = at_last(|| store.claim(&batch[0]));
                        at_last(|| store.forget(&batch[0].id, true));
                    }
                }
            });
        }
        let _ends = Ends(&ended);
        cluster.nodes_mut()[0].kill();
        for claim in &claims {
            came!(at_last(|| store.claim(claim)), Verdict::Claimed(_));
        }
    });
    let warnings = RUNTIME.block_on(store.check()).expect("an answer");
    assert!(!warnings.iter().any(|warning| warning.contains("forbidden")), "{warnings:?}");
}
