//! Batches in a cluster, and slots that are being moved meanwhile (F46).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use idem::machine::{Claim, Completion, Recorded, Verdict};
use idem::{RedisStore, RedisStoreBuilder, Store, StoreErrorKind};
use idem_servers::{RedisClient, RedisCluster, RedisServer};
use redis::cluster::ClusterClient;

use crate::ended::Ends;
use crate::messages::{again, at_last, came, complete_many, ending, grant, hear, message, tagged};
use crate::place::{RUNTIME, open, try_open};

/// A store over a client of the user's, which follows redirections itself.
fn over_own_client(cluster: &RedisCluster) -> RedisStoreBuilder {
    RedisStore::over_cluster(ClusterClient::new([cluster.url()]).expect("a URL"))
}

/// A store whose claims wait for a replica. A busy machine's may take its time.
fn waiting(cluster: &RedisCluster) -> RedisStoreBuilder {
    RedisStore::builder(cluster.url()).wait_replicas(1, Duration::from_secs(1))
}

/// What a node has been sent: packets, calls of scripts, and waits for replicas.
fn heard(node: &mut RedisClient) -> (u64, u64, u64) {
    let said = node.ask(&["INFO", "all"]);
    let of = |name: &str| {
        let value = said.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.split(',').next()?.trim().parse().ok()).unwrap_or(0)
    };
    (of("total_reads_processed:"), of("cmdstat_evalsha:calls="), of("cmdstat_wait:calls="))
}

fn granted(verdict: &Verdict) -> u64 {
    match verdict {
        Verdict::Claimed(granted) if granted.tries == 1 => granted.fence,
        other => panic!("a grant: {other:?}"),
    }
}

fn endings(claims: &[Claim], verdicts: &[Verdict]) -> Vec<Completion> {
    claims.iter().zip(verdicts).map(|(claim, verdict)| ending(claim, granted(verdict), b"done")).collect()
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_batch_is_one_pipeline_for_each_node() {
    let cluster = RedisCluster::start(3, 3);
    for builder in [RedisStore::builder(cluster.url()), over_own_client(&cluster)] {
        let store = open(builder);
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
        let ends = endings(&claims, &verdicts);
        assert_eq!(hear(complete_many(&store, &ends)).expect("answers"), [Recorded::Stored; 30]);
        assert_eq!(scripts(), 30);
    }
}

/// One `WAIT` for each node, behind all claims that it has.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_batch_that_waits_for_replicas_is_one_pipeline_for_each_node() {
    let cluster = RedisCluster::with_replicas(3);
    let store = open(waiting(&cluster));
    hear(store.claim_many(&[message(), message()])).expect("verdicts");
    let mut nodes: Vec<_> = cluster.nodes()[..3].iter().map(RedisServer::client).collect();
    let before: Vec<_> = nodes.iter_mut().map(heard).collect();
    let claims: Vec<_> = (0..30).map(|_| message()).collect();
    endings(&claims, &hear(store.claim_many(&claims)).expect("verdicts"));
    let mut scripts = 0;
    for (node, before) in nodes.iter_mut().zip(before) {
        let now = heard(node);
        assert_eq!(now.2 - before.2, 1);
        scripts += now.1 - before.1;
    }
    assert_eq!(scripts, 30);
}

/// As after a failover: replicas are given no scripts.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_batch_to_nodes_without_scripts_is_two_pipelines_for_each() {
    let cluster = RedisCluster::with_replicas(3);
    let store = open(waiting(&cluster));
    hear(store.claim_many(&[message(), message()])).expect("verdicts");
    let mut nodes: Vec<_> = cluster.nodes()[..3].iter().map(RedisServer::client).collect();
    for node in &mut nodes {
        assert_eq!(node.ask(&["SCRIPT", "FLUSH"]), "OK");
    }
    let before: Vec<_> = nodes.iter_mut().map(heard).collect();
    let claims: Vec<_> = (0..30).map(|_| message()).collect();
    endings(&claims, &hear(store.claim_many(&claims)).expect("verdicts"));
    for (node, before) in nodes.iter_mut().zip(before) {
        assert_eq!(heard(node).2 - before.2, 2, "it was waited for once for each pipeline");
    }
}

/// Its replicas have what was handed out; what they do not have is not handed out, and taken back.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f43_a_batch_that_waited_for_replicas_survives_the_loss_of_a_primary() {
    let mut cluster = RedisCluster::with_replicas(3);
    let store = open(
        cluster.nodes()[1..].iter().map(RedisServer::url).fold(waiting(&cluster), RedisStoreBuilder::node),
    );
    let claims: Vec<_> = (0..30).map(|_| message()).collect();
    let ends = endings(&claims, &hear(store.claim_many(&claims)).expect("verdicts"));
    // One node's replica is behind: nothing of the batch is handed out, and what that node granted it takes back.
    let hasty = open(
        RedisStore::builder(cluster.url())
            .wait_replicas(1, Duration::from_millis(50))
            .deadline(Duration::from_secs(30)),
    );
    let late: Vec<_> = (0..30).map(|_| message()).collect();
    cluster.nodes()[4].pause();
    let error = hear(hasty.claim_many(&late)).expect_err("no confirmation of one node");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
    let behind = |claim: &&Claim| cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 3).1 == 1;
    assert!(late.iter().any(|claim| behind(&claim)));
    for claim in late.iter().filter(behind) {
        came!(hear(store.inspect(&claim.id)), Ok(None));
    }
    cluster.nodes()[4].go_on();

    cluster.nodes_mut()[0].kill();
    let fresh: Vec<_> = (0..30).map(|_| message()).collect();
    let error = hear(store.claim_many(&fresh)).expect_err("a primary is gone");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    cluster.take_over(3, 0);
    let recorded = at_last(|| complete_many(&store, &ends));
    assert_eq!(recorded, [Recorded::Stored; 30]);
    // That primary has no replica now, but duplicates need none.
    let duplicates: Vec<_> = claims.iter().map(again).collect();
    for verdict in at_last(|| store.claim_many(&duplicates)) {
        came!(verdict, Verdict::Completed { body: Some(_), .. });
    }
    // From a node that is up, a store can be opened; of the lost one's address that can be tried again.
    let fresh = open(RedisStore::builder(cluster.nodes()[5].url()));
    came!(hear(fresh.claim(&message())), Ok(Verdict::Claimed(_)));
    let error = try_open(RedisStore::builder(cluster.nodes()[0].url())).expect_err("nobody there");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
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
    let recorded = hear(complete_many(&store, batch)).expect("answers");
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

/// While the first of many calls is told where the slot went, the others are under way.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_crowd_at_a_slot_that_has_moved_is_answered_at_once() {
    let cluster = RedisCluster::start(3, 3);
    let (owner, other) = owner_and_other(&cluster);
    let (slot, _) = cluster.slot(b"idem:{x}", 3);
    // Nobody is to wait for a call to be given up, and another connection made.
    let store = open(RedisStore::builder(cluster.url()).deadline(Duration::from_mins(1)));
    let claims: Vec<_> = (0..400).map(|_| tagged(b'x')).collect();
    let crowd = || {
        let replies = claims.iter().map(|claim| {
            let reply = store.claim(&again(claim));
            RUNTIME.spawn(async move { reply.await.expect("a verdict") })
        });
        let verdicts = replies.collect::<Vec<_>>().into_iter();
        verdicts.map(|verdict| RUNTIME.block_on(verdict).expect("no panic")).collect::<Vec<_>>()
    };
    let began = Instant::now();
    for verdict in crowd() {
        came!(verdict, Verdict::Claimed(_));
    }
    for (from, to) in [(owner, other), (other, owner)].repeat(3) {
        cluster.move_slot(slot, from, to);
        for verdict in crowd() {
            came!(verdict, Verdict::InProgress { tries: 1, .. });
        }
    }
    assert!(began.elapsed() < Duration::from_mins(1), "some call was given up");
}

/// It is found by whom it was told of, and a node that says nothing keeps nobody waiting for the others.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_a_node_that_is_silent_or_gone_is_in_nobodys_way_but_its_own_messages() {
    let mut cluster = RedisCluster::with_replicas(3);
    for node in cluster.nodes() {
        // However long it takes here, the others go on, and put nobody in its place by themselves.
        for (option, value) in
            [("cluster-replica-no-failover", "yes"), ("cluster-require-full-coverage", "no")]
        {
            assert_eq!(node.ask(&["CONFIG", "SET", option, value]), "OK");
        }
    }
    let store = open(RedisStore::builder(cluster.url()).deadline(Duration::from_secs(2)));
    let at = |node: usize| {
        let mut claims = std::iter::repeat_with(message);
        claims.find(|claim| cluster.slot(&[b"idem:", &claim.id.as_bytes()[..]].concat(), 3).1 == node)
    };
    let [of_first, of_other, again_of_other] = [at(0), at(1), at(1)].map(|claim| claim.expect("one"));
    let fence = grant(&store, &of_first).fence;
    cluster.nodes()[0].pause();
    let error = hear(store.claim(&again(&of_first))).expect_err("a node that was stopped");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("no answer within 2s"), "{error}");
    grant(&store, &of_other);
    let opened = open(RedisStore::builder(cluster.nodes()[1].url()).deadline(Duration::from_secs(6)));
    came!(hear(opened.claim(&again(&of_other))), Ok(Verdict::InProgress { .. }));
    // The node whose URL was given is gone for good, and its replica takes its place.
    cluster.nodes()[0].go_on();
    cluster.nodes_mut()[0].kill();
    cluster.take_over(3, 0);
    grant(&store, &again_of_other);
    // Nobody waited for it to have the grant.
    let recorded = at_last(|| store.complete(&ending(&of_first, fence, b"done")));
    assert!(matches!(recorded, Recorded::Stored | Recorded::Recreated), "{recorded:?}");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_batches_while_their_slot_moves_to_and_fro_are_granted_and_recorded_once() {
    let cluster = RedisCluster::start(3, 3);
    let (owner, other) = owner_and_other(&cluster);
    let ways = [(owner, other), (other, owner)].repeat(3);
    batches_while_their_slot_moves(&cluster, &open(RedisStore::builder(cluster.url())), &ways);
}

/// A grant of a slot that is being moved is on the way to the other node with its key, and is told to that one's replica.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_batches_that_wait_for_replicas_while_their_slot_moves_are_granted_and_recorded_once() {
    let cluster = RedisCluster::with_replicas(3);
    let (owner, other) = owner_and_other(&cluster);
    let ways = [(owner, other), (other, owner)].repeat(2);
    batches_while_their_slot_moves(&cluster, &open(waiting(&cluster)), &ways);
}

/// The client sends a pipeline on as a whole, behind an `ASKING`: of what is still at the old node, the new one must make no record. (To
/// one side only: its calls that go by themselves are safe just as long as nobody asks by an older map.)
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_batches_over_a_client_of_the_users_while_their_slot_moves_are_granted_and_recorded_once() {
    let cluster = RedisCluster::start(3, 3);
    let way = owner_and_other(&cluster);
    batches_while_their_slot_moves(&cluster, &open(over_own_client(&cluster)), &[way]);
}

/// Half of a batch is moved, and the client knows no better than to send all of it on.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_pipeline_that_a_client_sends_on_makes_no_second_record_of_what_is_at_the_old_node() {
    let cluster = RedisCluster::start(3, 3);
    let store = open(over_own_client(&cluster));
    hear(store.claim_many(&[message(), message()])).expect("verdicts");
    let (slot, owner) = cluster.slot(b"idem:{x}", 3);
    let (_, other) = owner_and_other(&cluster);
    let old: Vec<_> = (0..10).map(|_| tagged(b'x')).collect();
    hear(store.claim_many(&old)).expect("verdicts");
    cluster.begin_move(slot, owner, other);
    // Those of the first come first, and are not moved; the last is new, and the old node says to ask the new one.
    let batch: Vec<_> = old.iter().map(again).chain([tagged(b'x')]).collect();
    let verdicts = hear(store.claim_many(&batch)).expect("verdicts");
    for verdict in &verdicts[..10] {
        came!(verdict, Verdict::InProgress { tries: 1, .. });
    }
    came!(&verdicts[10], Verdict::Claimed(_));
    let in_slot = |node: usize| {
        cluster.nodes()[node].ask(&["CLUSTER", "COUNTKEYSINSLOT", &slot.to_string()]).parse::<usize>()
    };
    assert_eq!((in_slot(owner), in_slot(other)), (Ok(10), Ok(1)));
    // From now on those of the slot go by themselves, and are not sent to and fro.
    let mut node = cluster.nodes()[other].client();
    let before = heard(&mut node).0;
    hear(store.claim_many(&batch)).expect("verdicts");
    let packets = heard(&mut node).0 - before;
    assert!(packets < 8, "`ASKING` and a claim, but no pipeline: {packets}");
}

fn owner_and_other(cluster: &RedisCluster) -> (usize, usize) {
    let (_, owner) = cluster.slot(b"idem:{x}", 3);
    (owner, (owner + 1) % 3)
}

fn batches_while_their_slot_moves(cluster: &RedisCluster, store: &RedisStore, ways: &[(usize, usize)]) {
    let (slot, _) = cluster.slot(b"idem:{x}", 3);
    let ended = AtomicBool::new(false);
    let batches = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let ended = &ended;
                scope.spawn(move || {
                    let mut batches = 0;
                    while !ended.load(Ordering::Relaxed) || batches < 3 {
                        let claims: Vec<_> =
                            (0..12).map(|at| if at < 8 { tagged(b'x') } else { message() }).collect();
                        let ends = endings(&claims, &hear(store.claim_many(&claims)).expect("verdicts"));
                        for claim in &claims {
                            came!(hear(store.claim(&again(claim))), Ok(Verdict::InProgress { tries: 1, .. }));
                        }
                        let recorded = hear(complete_many(store, &ends)).expect("answers");
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
        let moving = Ends(&ended);
        for &(from, to) in ways {
            cluster.begin_move(slot, from, to);
            while cluster.move_keys(slot, from, to, 5) > 0 {}
            cluster.end_move(slot, from, to);
        }
        drop(moving);
        workers.into_iter().map(|worker| worker.join().expect("a worker")).sum::<usize>()
    });
    // Each record is at one node, whatever replicas it has.
    let primaries = cluster.nodes()[..3].iter();
    let records = primaries.map(|node| node.ask(&["DBSIZE"]).parse::<usize>().expect("a number"));
    assert_eq!(records.sum::<usize>(), batches * 12);
}
