//! Replies that do not come, and servers that go away (F22 to F24, F42).

use std::time::{Duration, Instant};

use idem::machine::{Recorded, Released, Verdict};
use idem::{RedisStore, RedisStoreBuilder, Store, StoreErrorKind};
use idem_servers::{DURABLE, Proxy, RedisServer, wait_until};

use crate::messages::{again, came, ending, grant, hear, message};
use crate::place::{open, prefix, server};

/// Short enough for a test that waits for it.
const DEADLINE: Duration = Duration::from_secs(1);

fn through(proxy: &Proxy) -> RedisStoreBuilder {
    RedisStore::builder(format!("redis://127.0.0.1:{}", proxy.port())).prefix(prefix())
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f22_a_completion_whose_reply_is_lost_is_stored_once() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let store = open(through(&proxy));
    let claim = message();
    let fence = grant(&store, &claim).fence;
    proxy.lose_reply_to(claim.token.as_bytes());
    came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
    proxy.wait_until_lost(1);
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { body: Some(body), .. }) if *body == *b"done");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f22_a_release_whose_reply_is_lost_is_released_once() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let store = open(through(&proxy));
    let claim = message();
    grant(&store, &claim);
    proxy.lose_reply_to(claim.token.as_bytes());
    came!(hear(store.release(&claim.id, &claim.token)), Ok(Released::Released { tries: 1 }));
    assert_eq!(grant(&store, &again(&claim)).tries, 2);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f23_a_completion_that_finds_no_server_is_recorded_when_it_is_back() {
    let mut server = RedisServer::with(&DURABLE);
    let store = open(RedisStore::builder(server.url()));
    let claim = message();
    let fence = grant(&store, &claim).fence;
    server.kill();
    let error = hear(store.complete(&ending(&claim, fence, b"done"))).expect_err("no server");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    server.restart();
    came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { .. }));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_a_claim_that_finds_no_server_is_an_error_and_recovers_alone() {
    let mut server = RedisServer::with(&DURABLE);
    let store = open(RedisStore::builder(server.url()));
    let claim = message();
    server.kill();
    for _ in 0..3 {
        let error = hear(store.claim(&claim)).expect_err("no server");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains(&server.port().to_string()), "{error}");
    }
    server.restart();
    assert_eq!(grant(&store, &claim).tries, 1);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_stopped_server_costs_a_deadline_and_no_more() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()).deadline(DEADLINE));
    let claim = message();
    server.pause();
    let began = Instant::now();
    let error = hear(store.claim(&claim)).expect_err("no answer");
    let took = began.elapsed();
    server.go_on();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("unknown"), "{error}");
    assert!(took >= DEADLINE && took < Duration::from_secs(10), "{took:?}");
    // The server does now what it was told meanwhile: it was this attempt's claim.
    wait_until("the claim is known", || hear(store.claim(&claim)).is_ok());
    assert_eq!(grant(&store, &claim).tries, 1);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_network_that_swallows_everything_is_left_for_a_new_connection() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let store = open(through(&proxy).deadline(DEADLINE));
    grant(&store, &message());
    let before = proxy.accepted();
    proxy.swallow();
    let claim = message();
    let error = hear(store.claim(&claim)).expect_err("no answer");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    // Only connections that are made now work; the old one still looks open to the client.
    proxy.pass_new();
    wait_until("a new connection works", || hear(store.claim(&claim)).is_ok());
    assert_eq!(grant(&store, &claim).tries, 1);
    assert!(proxy.accepted() > before);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f42_a_server_that_lost_everything_takes_the_result_of_a_living_owner() {
    let mut server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let (claim, other) = (message(), message());
    let before = grant(&store, &claim);
    let lost = grant(&store, &other);
    assert!(store.warnings().iter().any(|warning| warning.contains("append-only")), "{:?}", store.warnings());
    server.restart();
    came!(hear(store.complete(&ending(&claim, before.fence, b"done"))), Ok(Recorded::Recreated));
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { .. }));
    // What nobody finished runs again, and later than before.
    let rerun = grant(&store, &again(&other));
    assert!(rerun.fence > lost.fence && rerun.tries == 1, "{rerun:?}");
    assert_eq!(store.restarts(), 1);
}
