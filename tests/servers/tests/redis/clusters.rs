//! Batches in a cluster, and slots that are being moved meanwhile (F46).

use std::sync::atomic::{AtomicBool, Ordering};

use idem::machine::{Claim, Recorded, Verdict};
use idem::{RecordId, RedisStore, Store};
use idem_servers::{RedisClient, RedisCluster, RedisServer};

use crate::messages::{again, came, ending, grant, hear, message};
use crate::place::open;

/// What a node has been sent: packets, and calls of scripts.
fn heard(node: &mut RedisClient) -> (u64, u64) {
    let said = node.ask(&["INFO", "all"]);
    let of = |name: &str| {
        let value = said.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.split(',').next()?.trim().parse().ok()).unwrap_or(0)
    };
    (of("total_reads_processed:"), of("cmdstat_evalsha:calls="))
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_batch_is_one_pipeline_for_each_node() {
    let cluster = RedisCluster::start(3, 3);
    let store = open(RedisStore::builder(cluster.url()));
    // The client asks where the slots are.
    hear(store.claim_many(&[message(), message()])).expect("verdicts");
    let claims: Vec<_> = (0..30).map(|_| message()).collect();
    let mut nodes: Vec<_> = cluster.nodes().iter().map(RedisServer::client).collect();
    let mut before: Vec<_> = nodes.iter_mut().map(heard).collect();
    let mut scripts = || {
        let mut scripts = 0;
        for (node, before) in nodes.iter_mut().zip(&mut before) {
            let now = heard(node);
            // One is the batch, and one asks for this.
            assert_eq!(now.0 - before.0, 2);
            scripts += now.1 - before.1;
            *before = now;
        }
        scripts
    };
    let verdicts = hear(store.claim_many(&claims)).expect("verdicts");
    assert_eq!(scripts(), 30);
    let ends: Vec<_> = claims
        .iter()
        .zip(verdicts)
        .map(|(claim, verdict)| match verdict {
            Verdict::Claimed(granted) => ending(claim, granted.fence, b"done"),
            other => panic!("a grant: {other:?}"),
        })
        .collect();
    assert_eq!(hear(store.complete_many(&ends)).expect("answers"), [Recorded::Stored; 30]);
    assert_eq!(scripts(), 30);
}

/// A message whose record is in the slot of the tag.
fn tagged(tag: u8) -> Claim {
    let claim = message();
    let mut id = *claim.id.as_bytes();
    id[..3].copy_from_slice(&[b'{', tag, b'}']);
    Claim { id: RecordId::from_bytes(id), ..claim }
}

/// In a slot that is half moved, what was moved and what is new is at the new node, which answers only who was sent there.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_slot_that_is_half_moved_loses_no_record_and_grants_none_twice() {
    let cluster = RedisCluster::start(4, 3);
    let store = open(RedisStore::builder(cluster.url()));
    let mut claims: Vec<_> = (0..40).map(|_| tagged(b'x')).chain((0..20).map(|_| message())).collect();
    let mut fences = Vec::new();
    for verdict in hear(store.claim_many(&claims)).expect("verdicts") {
        came!(&verdict, Verdict::Claimed(_));
        fences.extend(if let Verdict::Claimed(granted) = verdict { Some(granted.fence) } else { None });
    }
    let (slot, owner) = cluster.slot(b"idem:{x}", 3);
    cluster.begin_move(slot, owner, 3);
    assert_eq!(cluster.move_keys(slot, owner, 3, 20), 20);
    for claim in &claims {
        came!(hear(store.claim(&again(claim))), Ok(Verdict::InProgress { tries: 1, .. }));
    }
    // New ones begin at the new node, one by one or in a batch.
    let fresh: Vec<_> = (0..10).map(|_| tagged(b'x')).collect();
    for claim in &fresh[..5] {
        fences.push(grant(&store, claim).fence);
    }
    for verdict in hear(store.claim_many(&fresh[5..])).expect("verdicts") {
        came!(verdict, Verdict::Claimed(granted) if { fences.push(granted.fence); granted.tries == 1 });
    }
    claims.extend(fresh);
    let ends: Vec<_> =
        claims.iter().zip(&fences).map(|(claim, fence)| ending(claim, *fence, b"done")).collect();
    let (one_by_one, batch) = ends.split_at(20);
    for end in one_by_one {
        came!(hear(store.complete(end)), Ok(Recorded::Stored));
    }
    let recorded = hear(store.complete_many(batch)).expect("answers");
    assert!(recorded.iter().all(|recorded| *recorded == Recorded::Stored), "{recorded:?}");
    let all_done = || {
        let duplicates: Vec<_> = claims.iter().map(again).collect();
        for verdict in hear(store.claim_many(&duplicates)).expect("verdicts") {
            came!(verdict, Verdict::Completed { body: Some(body), .. } if *body == *b"done");
        }
    };
    all_done();
    while cluster.move_keys(slot, owner, 3, 100) > 0 {}
    cluster.end_move(slot, owner, 3);
    all_done();
    // Each record is at one node.
    let records =
        cluster.nodes().iter().map(|node| node.ask(&["DBSIZE"]).parse::<usize>().expect("a number"));
    assert_eq!(records.sum::<usize>(), claims.len());
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_batches_while_their_slot_moves_to_and_fro_are_granted_and_recorded_once() {
    let cluster = RedisCluster::start(3, 3);
    let store = open(RedisStore::builder(cluster.url()));
    let (slot, owner) = cluster.slot(b"idem:{x}", 3);
    let other = (owner + 1) % 3;
    let ended = AtomicBool::new(false);
    let batches = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (store, ended) = (&store, &ended);
                scope.spawn(move || {
                    let mut batches = 0;
                    while !ended.load(Ordering::Relaxed) || batches < 3 {
                        let claims: Vec<_> =
                            (0..12).map(|at| if at < 8 { tagged(b'x') } else { message() }).collect();
                        let verdicts = hear(store.claim_many(&claims)).expect("verdicts");
                        let ends: Vec<_> = claims
                            .iter()
                            .zip(verdicts)
                            .map(|(claim, verdict)| match verdict {
                                Verdict::Claimed(granted) if granted.tries == 1 => {
                                    ending(claim, granted.fence, b"done")
                                }
                                other => panic!("a grant: {other:?}"),
                            })
                            .collect();
                        for claim in &claims {
                            came!(hear(store.claim(&again(claim))), Ok(Verdict::InProgress { tries: 1, .. }));
                        }
                        let recorded = hear(store.complete_many(&ends)).expect("answers");
                        assert_eq!(recorded, [Recorded::Stored; 12]);
                        let duplicates: Vec<_> = claims.iter().map(again).collect();
                        for verdict in hear(store.claim_many(&duplicates)).expect("verdicts") {
                            came!(verdict, Verdict::Completed { .. });
                        }
                        batches += 1;
                    }
                    batches
                })
            })
            .collect();
        for _ in 0..3 {
            for (from, to) in [(owner, other), (other, owner)] {
                cluster.begin_move(slot, from, to);
                while cluster.move_keys(slot, from, to, 5) > 0 {}
                cluster.end_move(slot, from, to);
            }
        }
        ended.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().expect("a worker")).sum::<usize>()
    });
    let records =
        cluster.nodes().iter().map(|node| node.ask(&["DBSIZE"]).parse::<usize>().expect("a number"));
    assert_eq!(records.sum::<usize>(), batches * 12);
}
