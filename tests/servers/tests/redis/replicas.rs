//! Failover to a replica that has less (F43), and claims that wait for it.

use std::time::Duration;

use idem::machine::{Prior, Recorded, StateKind, Verdict};
use idem::{RedisStore, RedisStoreBuilder, Store, StoreErrorKind};
use idem_servers::{Proxy, RedisServer, wait_until};

use crate::messages::{again, came, ending, grant, hear, message};
use crate::place::open;

/// A primary, its replica, the network between them, and the address that clients know.
struct Pair {
    primary: RedisServer,
    replica: RedisServer,
    between: Proxy,
    address: Proxy,
}

impl Pair {
    fn start() -> Self {
        let (primary, replica) = (RedisServer::start(), RedisServer::start());
        let (between, address) = (Proxy::to(primary.port()), Proxy::to(primary.port()));
        replica.follow(between.port());
        primary.wait_for_replicas(1);
        Self { primary, replica, between, address }
    }

    fn builder(&self) -> RedisStoreBuilder {
        RedisStore::builder(format!("redis://127.0.0.1:{}", self.address.port()))
    }

    /// The primary dies, the replica takes over, and the address leads there.
    fn fail_over(&mut self) {
        self.primary.kill();
        self.replica.promote();
        self.address.redirect(self.replica.port());
        self.address.cut_once();
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f43_a_failover_that_loses_a_claim_grants_it_twice_and_the_second_result_is_superseded() {
    let mut pair = Pair::start();
    let store = open(pair.builder());
    let claim = message();
    let before = pair.between.swallowed();
    pair.between.swallow();
    let lost = grant(&store, &claim);
    pair.between.wait_until_swallowed(before);
    pair.fail_over();
    let second = again(&claim);
    let rerun = grant(&store, &second);
    assert!(rerun.fence > lost.fence && rerun.prior == Prior::None, "{lost:?} {rerun:?}");
    // Whoever ends first is recorded, and the other is told.
    came!(hear(store.complete(&ending(&second, rerun.fence, b"second"))), Ok(Recorded::Stored));
    came!(
        hear(store.complete(&ending(&claim, lost.fence, b"first"))),
        Ok(Recorded::Superseded { state: StateKind::Done, .. })
    );
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f43_a_claim_that_waits_for_its_replica_is_refused_before_the_body_runs() {
    let pair = Pair::start();
    // A busy machine's replica may take its time.
    let patient = open(pair.builder().wait_replicas(1, Duration::from_secs(1)));
    let store = open(pair.builder().wait_replicas(1, Duration::from_millis(50)));
    let kept = message();
    wait_until("a claim is confirmed", || hear(patient.claim(&kept)).is_ok());
    pair.between.swallow();
    let claim = message();
    for _ in 0..6 {
        let error = hear(store.claim(&claim)).expect_err("no confirmation");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
        // It was taken back.
        came!(hear(store.inspect(&claim.id)), Ok(None));
    }
    let error = hear(store.claim_many(&[message(), claim.clone()])).expect_err("no confirmation");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    // Duplicates need no confirmation.
    came!(hear(store.claim(&again(&kept))), Ok(Verdict::InProgress { .. }));
    pair.between.pass();
    wait_until("the claim is confirmed", || hear(patient.claim(&claim)).is_ok());
    // Refusals count no try.
    came!(hear(patient.inspect(&claim.id)), Ok(Some(held)) if held.tries == 1);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_grant_that_is_taken_back_leaves_the_record_as_it_was() {
    let pair = Pair::start();
    let careless = open(pair.builder());
    let store = open(pair.builder().wait_replicas(1, Duration::from_millis(50)));
    let (open_again, lapsed) = (message(), crate::messages::lapsing());
    grant(&careless, &open_again);
    hear(careless.release(&open_again.id, &open_again.token)).expect("a release");
    grant(&careless, &lapsed);
    pair.between.swallow();
    for claim in [&open_again, &lapsed] {
        let error = hear(store.claim(&again(claim))).expect_err("no confirmation");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
    let next = grant(&careless, &again(&open_again));
    assert_eq!((next.tries, next.prior), (2, Prior::Released));
    let next = grant(&careless, &again(&lapsed));
    assert_eq!((next.tries, next.prior), (2, Prior::Lapsed));
}

/// One after the other, over a slow network, that would take longer than a call may.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn grants_of_a_batch_are_taken_back_together() {
    let pair = Pair::start();
    let store = open(pair.builder().wait_replicas(1, Duration::from_millis(50)));
    let near = open(RedisStore::builder(pair.primary.url()));
    pair.between.swallow();
    pair.address.delay(Duration::from_millis(20));
    let claims: Vec<_> = (0..300).map(|_| message()).collect();
    let error = hear(store.claim_many(&claims)).expect_err("no confirmation");
    assert!(error.to_string().contains("it was taken back"), "{error}");
    for claim in &claims {
        came!(hear(near.inspect(&claim.id)), Ok(None));
    }
}

/// Servers may count only what the connection itself has written, and the claim that got lost was written over another one.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_claim_that_is_sent_again_writes_again_and_so_is_waited_for() {
    let pair = Pair::start();
    let writes = || pair.primary.info("rdb_changes_since_last_save").parse::<u64>().expect("a number");
    let claims = [message(), message()];
    for tries in 1..=3 {
        // Over a connection of its own each time.
        let store = open(pair.builder().wait_replicas(1, Duration::from_secs(1)));
        let before = writes();
        for verdict in hear(store.claim_many(&claims)).expect("verdicts") {
            came!(verdict, Verdict::Claimed(grant) if grant.resumed == (tries > 1));
        }
        came!(hear(store.claim(&claims[0])), Ok(Verdict::Claimed(grant)) if grant.resumed);
        assert_eq!(writes() - before, 3);
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_confirmed_claim_survives_a_failover() {
    let mut pair = Pair::start();
    let store = open(pair.builder().wait_replicas(1, Duration::from_secs(1)));
    let claim = message();
    wait_until("the claim is confirmed", || hear(store.claim(&claim)).is_ok());
    let fence = hear(store.inspect(&claim.id)).expect("an answer").expect("a record").fence;
    pair.fail_over();
    let owner = open(pair.builder());
    came!(hear(owner.claim(&again(&claim))), Ok(Verdict::InProgress { tries: 1, .. }));
    came!(hear(owner.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_server_that_asks_for_replicas_itself_refuses_claims_without_them() {
    let server = RedisServer::with(&["--min-replicas-to-write", "1"]);
    let store = open(RedisStore::builder(server.url()));
    let error = hear(store.claim(&message())).expect_err("no replicas");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("min-replicas-to-write"), "{error}");
}
