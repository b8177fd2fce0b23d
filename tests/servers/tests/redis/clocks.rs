//! Clocks that are wrong (F38, F39).

use std::time::Duration;

use idem::machine::{Claim, Prior, Recorded, StateKind, Verdict};
use idem::{RedisStore, Store};
use idem_servers::{RedisServer, wait_until};

use crate::messages::{DAY, again, came, ending, grant, hear, message};
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
