//! Clocks that are wrong (F38, F39).

use std::time::Duration;

use idem::machine::{Claim, Prior, Recorded, StateKind, Verdict};
use idem::{RedisStore, Store};
use idem_servers::{RedisServer, wait_until};

use crate::messages::{DAY, MINUTE, again, came, complete_many, ending, grant, hear, message};
use crate::place::{open, prefix};

/// In seconds.
const A_DAY: i64 = 86_400;

#[test]
#[cfg_attr(not(all(redis_server, c_compiler)), ignore = "redis-server and cc are not both on PATH")]
fn f38_only_the_servers_clock_counts() {
    // A day behind every client.
    let server = RedisServer::on_clock(&[]);
    server.set_clock(-A_DAY);
    let store = open(RedisStore::builder(server.url()));
    let claim = message();
    let granted = grant(&store, &claim);
    came!(
        hear(store.claim(&again(&claim))),
        Ok(Verdict::InProgress { remaining, .. }) if remaining <= claim.lease && remaining > claim.lease / 2
    );
    came!(hear(store.complete(&ending(&claim, granted.fence, b"done"))), Ok(Recorded::Stored));
    came!(
        hear(store.claim(&again(&claim))),
        Ok(Verdict::Completed { age, .. }) if age < Duration::from_secs(30)
    );
}

#[test]
#[cfg_attr(not(all(redis_server, c_compiler)), ignore = "redis-server and cc are not both on PATH")]
fn f39_a_server_clock_set_forward_ends_leases_and_fences_still_grow() {
    let server = RedisServer::on_clock(&[]);
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let claim = Claim { keep: 60 * DAY, ..message() };
    let old = grant(&store, &claim);
    server.set_clock(A_DAY);
    let second = again(&claim);
    wait_until("the store knows of it", || matches!(hear(store.claim(&second)), Ok(Verdict::Claimed(_))));
    let new = grant(&store, &second);
    assert!(new.fence > old.fence && new.prior == Prior::Lapsed, "{old:?} {new:?}");
    came!(
        hear(store.complete(&ending(&claim, old.fence, b"stale"))),
        Ok(Recorded::Superseded { state: StateKind::Held, .. })
    );
    came!(hear(store.complete(&ending(&second, new.fence, b"done"))), Ok(Recorded::Stored));
    server.set_clock(-A_DAY);
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { .. }));
}

#[test]
#[cfg_attr(not(all(redis_server, c_compiler)), ignore = "redis-server and cc are not both on PATH")]
fn f39_a_server_clock_set_back_grows_fences_even_across_deletion() {
    let server = RedisServer::on_clock(&[]);
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let claim = Claim { max_tries: 100, ..message() };
    let mut last = grant(&store, &claim).fence;
    server.set_clock(-A_DAY);
    for _ in 0..3 {
        // An operator deletes the record; the clock alone would not get past its fence for a day.
        hear(store.forget(&claim.id, true)).expect("a deletion");
        came!(hear(store.inspect(&claim.id)), Ok(None));
        let next = grant(&store, &again(&claim));
        assert!(next.fence > last && next.tries == 1, "{next:?} after {last}");
        last = next.fence;
    }
    // Leases are long, and no longer than they were.
    wait_until("the owner is known", || {
        matches!(hear(store.claim(&again(&claim))), Ok(Verdict::InProgress { .. }))
    });
}

/// For such a host the server's clock has run on: what it knows of it is of the past, though its own clock says that it is not.
#[test]
#[cfg_attr(not(all(redis_server, c_compiler)), ignore = "redis-server and cc are not both on PATH")]
fn f38_a_host_that_was_stopped_for_a_day_claims_and_records_by_the_servers_time() {
    let server = RedisServer::on_clock(&[]);
    let store = open(RedisStore::builder(server.url()));
    let kept = Claim { keep: 9 * DAY, ..message() };
    let before = grant(&store, &kept);
    server.set_clock(A_DAY);
    let (claim, batch) = (message(), [message(), message()]);
    let whole = |granted: &Claim| {
        let held = hear(store.inspect(&granted.id)).expect("an answer").expect("a record");
        let lease = held.lease.expect("a lease");
        assert!(lease > granted.lease / 2 && lease <= granted.lease, "{lease:?}");
        assert_eq!((held.tries, held.first_age < MINUTE), (1, true), "{held:?}");
        held.fence
    };
    let granted = grant(&store, &claim);
    assert!(!granted.resumed && granted.tries == 1, "{granted:?}");
    assert_eq!(whole(&claim), granted.fence);
    assert!(granted.fence - before.fence > 86_000_000_000, "{before:?} {granted:?}");
    server.set_clock(2 * A_DAY);
    let verdicts = hear(store.claim_many(&batch)).expect("verdicts");
    for (claim, verdict) in batch.iter().zip(verdicts) {
        came!(verdict, Verdict::Claimed(granted) if granted.fence == whole(claim));
    }
    let ended = |end: &Claim| {
        let done = hear(store.inspect(&end.id)).expect("an answer").expect("a record");
        assert!(done.done_age < Some(MINUTE) && done.ends_in > DAY / 2, "{done:?}");
    };
    grant(&store, &message());
    server.set_clock(3 * A_DAY);
    came!(hear(store.complete(&ending(&kept, before.fence, b"done"))), Ok(Recorded::Stored));
    ended(&kept);
    let batch: Vec<_> = (0..3).map(|_| Claim { keep: 9 * DAY, ..message() }).collect();
    let ends: Vec<_> = batch.iter().map(|claim| ending(claim, grant(&store, claim).fence, b"done")).collect();
    server.set_clock(4 * A_DAY);
    let recorded = hear(complete_many(&store, &ends)).expect("answers");
    assert_eq!(recorded, [Recorded::Stored; 3]);
    batch.iter().for_each(ended);
}

/// Its key lives on for some seconds, since its fence must not be forgotten at once.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn the_result_of_a_claim_whose_record_has_ended_is_recreated() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let short = || Claim { lease: Duration::from_millis(1), keep: Duration::from_millis(1), ..message() };
    let claims = [short(), short(), short()];
    let ends: Vec<_> =
        claims.iter().map(|claim| ending(claim, grant(&store, claim).fence, b"done")).collect();
    for claim in &claims {
        wait_until("its record has ended", || matches!(hear(store.inspect(&claim.id)), Ok(None)));
    }
    assert_eq!(server.ask(&["DBSIZE"]), "3");
    came!(hear(store.complete(&ends[0])), Ok(Recorded::Recreated));
    assert_eq!(hear(complete_many(&store, &ends[1..])).expect("answers"), [Recorded::Recreated; 2]);
}
