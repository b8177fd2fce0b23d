//! Who owns a message, and who may write (F01 to F13).

use std::sync::Barrier;
use std::time::Duration;

use idem::machine::{Claim, OnLapse, Prior, Recorded, Released, Renewal, Renewed, StateKind, Verdict};
use idem::{ManualClock, RedisStore, Store, StoreErrorKind};
use idem_servers::{Proxy, wait_until};

use crate::messages::{DAY, MINUTE, again, came, ending, grant, hear, lapsing, message};
use crate::place::{open, prefix, server};

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f01_of_sixty_four_claims_at_once_one_is_granted() {
    const CONNECTIONS: usize = 4;
    const EACH: usize = 16;
    let (server, prefix) = (server(), prefix());
    let stores: Vec<_> =
        (0..CONNECTIONS).map(|_| open(RedisStore::builder(server.url()).prefix(prefix.clone()))).collect();
    for _ in 0..20 {
        let first = message();
        let barrier = Barrier::new(CONNECTIONS * EACH);
        let verdicts: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..CONNECTIONS * EACH)
                .map(|runner| {
                    let (store, barrier, claim) = (&stores[runner % CONNECTIONS], &barrier, again(&first));
                    scope.spawn(move || {
                        barrier.wait();
                        hear(store.claim(&claim)).expect("a verdict")
                    })
                })
                .collect();
            all.into_iter().map(|runner| runner.join().expect("a runner")).collect()
        });
        let granted = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Claimed(_))).count();
        let waiting = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::InProgress { .. })).count();
        assert_eq!((granted, waiting), (1, CONNECTIONS * EACH - 1), "{verdicts:?}");
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f02_a_claim_whose_reply_is_lost_is_granted_once_and_at_once() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    let store = open(RedisStore::builder(url).prefix(prefix()));
    let claim = message();
    proxy.lose_reply_to(claim.token.as_bytes());
    // The store sends it again by itself, over another connection.
    let resumed = grant(&store, &claim);
    assert_eq!((resumed.tries, resumed.resumed), (1, true));
    proxy.wait_until_lost(1);
    // A caller that does so gets the same grant.
    let again_resumed = grant(&store, &claim);
    assert_eq!((again_resumed.fence, again_resumed.tries), (resumed.fence, 1));
    came!(hear(store.complete(&ending(&claim, resumed.fence, b"done"))), Ok(Recorded::Stored));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f02_a_claim_that_gets_no_reply_at_all_is_unknown_and_never_a_verdict() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    let store = open(RedisStore::builder(url).prefix(prefix()));
    let claim = message();
    proxy.lose_replies_to(claim.token.as_bytes(), 2);
    let error = hear(store.claim(&claim)).expect_err("no verdict");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    let resumed = grant(&store, &claim);
    assert_eq!((resumed.tries, resumed.resumed), (1, true));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f05_a_stale_owner_cannot_complete_after_a_takeover() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let stale = lapsing();
    let old = grant(&store, &stale);
    let owner = again(&stale);
    let new = grant(&store, &owner);
    assert!(new.fence > old.fence && new.prior == Prior::Lapsed, "{new:?}");
    came!(hear(store.complete(&ending(&owner, new.fence, b"the owner's"))), Ok(Recorded::Stored));
    came!(
        hear(store.complete(&ending(&stale, old.fence, b"stale"))),
        Ok(Recorded::Superseded { state: StateKind::Done, fence }) if fence == new.fence
    );
    came!(
        hear(store.claim(&again(&stale))),
        Ok(Verdict::Completed { body: Some(body), .. }) if *body == *b"the owner's"
    );
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f06_a_claim_is_not_released_by_those_who_were_refused_it() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let held = message();
    grant(&store, &held);
    let refused = again(&held);
    came!(hear(store.claim(&refused)), Ok(Verdict::InProgress { .. }));
    came!(hear(store.release(&refused.id, &refused.token)), Ok(Released::Superseded));
    let mismatched = Claim { fingerprint: None, ..again(&held) };
    came!(hear(store.claim(&mismatched)), Ok(Verdict::Mismatch { state: StateKind::Held }));
    came!(hear(store.release(&mismatched.id, &mismatched.token)), Ok(Released::Superseded));
    came!(hear(store.claim(&again(&held))), Ok(Verdict::InProgress { tries: 1, .. }));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f07_a_renewal_after_a_takeover_is_lost() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let stale = lapsing();
    grant(&store, &stale);
    grant(&store, &again(&stale));
    let renewal = Renewal { id: stale.id, token: stale.token, lease: MINUTE };
    came!(hear(store.renew(&renewal)), Ok(Renewed::Lost(Some(StateKind::Held))));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f08_a_lapsed_claim_that_nobody_took_over_is_renewed_and_recorded() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let claim = lapsing();
    let fence = grant(&store, &claim).fence;
    let renewal = Renewal { id: claim.id, token: claim.token, lease: Duration::ZERO };
    came!(hear(store.renew(&renewal)), Ok(Renewed::Renewed { .. }));
    came!(hear(store.complete(&ending(&claim, fence, b"late"))), Ok(Recorded::Stored));
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { .. }));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f09_a_damaged_record_is_an_error_and_never_free() {
    let (server, prefix) = (server(), prefix());
    let store = open(RedisStore::builder(server.url()).prefix(prefix.clone()));
    let claim = message();
    grant(&store, &claim);
    let key = [prefix.as_bytes(), claim.id.as_bytes()].concat();
    let mut client = server.client();
    let whole = client.ask_bytes(&[b"GET", &key[..]]).remove(0);
    // Cut at each place, down to a record without the end of its lease.
    for len in [1, 5, 12, 19, 26, 33, 48, 64] {
        assert_eq!(client.ask(&[b"SET", &key[..], &whole[..len]]), "OK");
        let error = hear(store.claim(&again(&claim))).expect_err("no verdict");
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{len} bytes: {error}");
        assert_eq!(
            client.ask_bytes(&[b"GET", &key[..]]).remove(0),
            whole[..len],
            "nothing is written over it"
        );
    }
    assert_eq!(client.ask(&[b"SET", &key[..], b"another program's"]), "OK");
    let error = hear(store.complete(&ending(&claim, 1, b"done"))).expect_err("no verdict");
    assert_eq!(error.kind(), StoreErrorKind::Foreign, "{error}");
    assert_eq!(client.ask(&[b"GET", &key[..]]), "another program's");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f10_leases_of_no_time_and_of_centuries_are_what_they_say() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    for lease in [Duration::MAX, Duration::from_hours(300 * 365 * 24), Duration::from_secs(u64::MAX / 1_000)]
    {
        let claim = Claim { lease, keep: Duration::MAX, ..message() };
        grant(&store, &claim);
        came!(
            hear(store.claim(&again(&claim))),
            Ok(Verdict::InProgress { remaining, .. }) if remaining > 200 * 365 * DAY
        );
    }
    for lease in [Duration::ZERO, Duration::from_nanos(1)] {
        let claim = Claim { lease, ..message() };
        grant(&store, &claim);
        assert_eq!(grant(&store, &again(&claim)).prior, Prior::Lapsed);
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f11_at_the_instant_of_its_end_a_lease_has_lapsed_and_a_record_is_gone() {
    let (server, clock) = (server(), ManualClock::new());
    let store = open(RedisStore::builder(server.url()).prefix(prefix()).on_clock(clock.clone()));
    let claim = message();
    grant(&store, &claim);
    let tick = Duration::from_micros(1);
    clock.advance(claim.lease.saturating_sub(tick));
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::InProgress { remaining, .. }) if remaining == tick);
    clock.advance(tick);
    let second = again(&claim);
    assert_eq!(grant(&store, &second).prior, Prior::Lapsed);
    clock.advance(second.keep.saturating_sub(tick));
    assert_eq!(grant(&store, &again(&claim)).tries, 3);
    clock.advance(DAY);
    assert_eq!(grant(&store, &again(&claim)).tries, 1, "the record has ended");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f13_a_claim_whose_worker_is_gone_is_granted_anew_after_its_lease() {
    let (server, prefix) = (server(), prefix());
    let worker = open(RedisStore::builder(server.url()).prefix(prefix.clone()));
    let other = open(RedisStore::builder(server.url()).prefix(prefix));
    let claim = Claim { lease: Duration::from_secs(1), ..message() };
    grant(&worker, &claim);
    drop(worker);
    came!(hear(other.claim(&again(&claim))), Ok(Verdict::InProgress { .. }));
    let parked = Claim { on_lapse: OnLapse::Park, ..again(&claim) };
    wait_until("the lease has ended", || matches!(hear(other.claim(&parked)), Ok(Verdict::Lapsed { .. })));
    assert_eq!(grant(&other, &again(&claim)).prior, Prior::Lapsed);
}
