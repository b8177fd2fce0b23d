//! Servers that make room, or have none (F44, F45).

use idem::machine::{Recorded, Released, Renewal, Renewed, Verdict};
use idem::{RedisStore, Store, StoreErrorKind};
use idem_servers::RedisServer;

use crate::messages::{MINUTE, again, came, ending, grant, hear, message};
use crate::place::{RUNTIME, open, try_open};

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f44_a_server_that_evicts_is_refused_unless_that_is_accepted() {
    let server = RedisServer::start();
    for policy in [
        "allkeys-lru",
        "allkeys-lfu",
        "allkeys-random",
        "volatile-lru",
        "volatile-lfu",
        "volatile-random",
        "volatile-ttl",
    ] {
        assert_eq!(server.ask(&["CONFIG", "SET", "maxmemory-policy", policy]), "OK");
        let error = try_open(RedisStore::builder(server.url())).expect_err("an evicting server");
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
        for part in [policy, "noeviction", "allow_eviction"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        let store = open(RedisStore::builder(server.url()).allow_eviction());
        assert!(store.warnings().iter().any(|warning| warning.contains(policy)), "{:?}", store.warnings());
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f44_a_policy_that_is_changed_while_it_runs_is_found_by_a_check() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let of_policy = |warnings: &[String]| warnings.iter().any(|warning| warning.contains("maxmemory-policy"));
    assert!(!of_policy(&store.warnings()), "{:?}", store.warnings());
    assert_eq!(server.ask(&["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"]), "OK");
    let warnings = RUNTIME.block_on(store.check()).expect("an answer");
    assert!(of_policy(&warnings), "{warnings:?}");
    assert_eq!(store.warnings(), warnings);
}

/// A server that got full between a claim and its end.
fn fill(server: &RedisServer) {
    assert_eq!(server.ask(&["CONFIG", "SET", "maxmemory", "1"]), "OK");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f45_without_memory_new_claims_are_refused_and_work_that_was_claimed_is_recorded() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let (done, failed, released, renewed, seen) = (message(), message(), message(), message(), message());
    let fences = [&done, &failed, &released, &renewed, &seen].map(|claim| grant(&store, claim).fence);
    came!(hear(store.complete(&ending(&seen, fences[4], b"seen"))), Ok(Recorded::Stored));
    fill(&server);
    let error = hear(store.claim(&message())).expect_err("no memory");
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    assert!(error.to_string().contains("maxmemory"), "{error}");
    came!(hear(store.complete(&ending(&done, fences[0], &[b'x'; 10_000]))), Ok(Recorded::Stored));
    came!(hear(store.fail(&ending(&failed, fences[1], b"declined"))), Ok(Recorded::Stored));
    came!(hear(store.release(&released.id, &released.token)), Ok(Released::Released { tries: 1 }));
    let renewal = Renewal { id: renewed.id, token: renewed.token, lease: MINUTE };
    came!(hear(store.renew(&renewal)), Ok(Renewed::Renewed { .. }));
    // Duplicates are answered.
    came!(hear(store.claim(&again(&seen))), Ok(Verdict::Completed { body: Some(body), .. }) if *body == *b"seen");
    came!(hear(store.claim(&again(&renewed))), Ok(Verdict::InProgress { .. }));
    // A batch with one claim that finds no room is no grant of any.
    let error = hear(store.claim_many(&[again(&seen), message()])).expect_err("no memory");
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f45_without_flags_a_completion_without_memory_is_refused_as_full() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()).without_flags());
    let claim = message();
    let fence = grant(&store, &claim).fence;
    fill(&server);
    let error = hear(store.complete(&ending(&claim, fence, b"done"))).expect_err("no memory");
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    assert_eq!(server.ask(&["CONFIG", "SET", "maxmemory", "0"]), "OK");
    came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
}
