//! Replies that do not come, and servers that go away (F22 to F24, F42).

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use idem::machine::{Forgotten, Recorded, Released, Renewal, Renewed, Verdict};
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

/// Sent again, it would delete what another caller has claimed and recorded meanwhile.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f22_a_deletion_whose_reply_is_lost_is_not_sent_again() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let store = open(through(&proxy));
    let claim = message();
    let fence = grant(&store, &claim).fence;
    came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
    // The server has the script from then on.
    came!(hear(store.forget(&message().id, false)), Ok(Forgotten::Absent));
    proxy.lose_reply_to(claim.id.as_bytes());
    assert_eq!(server.ask(&["CONFIG", "RESETSTAT"]), "OK");
    let error = hear(store.forget(&claim.id, false)).expect_err("an outcome that nobody knows");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    proxy.wait_until_lost(1);
    let said = server.ask(&["INFO", "commandstats"]);
    assert!(said.contains("cmdstat_evalsha:calls=1,") && !said.contains("cmdstat_eval:"), "{said}");
    assert_eq!(hear(store.inspect(&claim.id)).expect("an answer"), None);
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

/// A server that dies in the middle of what it says.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_reply_that_is_cut_in_its_middle_is_lost_and_asked_for_again() {
    let server = server();
    let cut = Cutting::to(server.port());
    let store = open(RedisStore::builder(format!("redis://127.0.0.1:{}", cut.port)).prefix(prefix()));
    let claim = message();
    let fence = grant(&store, &claim).fence;
    let large = vec![7; 50_000];
    came!(hear(store.complete(&ending(&claim, fence, &large))), Ok(Recorded::Stored));
    cut.replies.store(1, Ordering::SeqCst);
    came!(hear(store.claim(&again(&claim))), Ok(Verdict::Completed { body: Some(body), .. }) if *body == *large);
    cut.replies.store(2, Ordering::SeqCst);
    let error = hear(store.claim(&again(&claim))).expect_err("no answer, twice");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
}

/// Passes everything on, but ends connections in the middle of large replies.
struct Cutting {
    port: u16,
    replies: Arc<AtomicUsize>,
}

impl Cutting {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let this = Self { port: listener.local_addr().expect("an address").port(), replies: Arc::default() };
        let replies = this.replies.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(("127.0.0.1", port)).expect("a server");
                let (mut from, mut to) =
                    (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let replies = replies.clone();
                std::thread::spawn(move || pass_or_cut(server, client, &replies));
            }
        });
        this
    }
}

fn pass_or_cut(mut server: TcpStream, mut client: TcpStream, replies: &AtomicUsize) {
    let mut bytes = [0; 1_000];
    while let Ok(len @ 1..) = server.read(&mut bytes) {
        let left = |left: usize| left.checked_sub(1);
        let cut =
            len == bytes.len() && replies.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok();
        if client.write_all(&bytes[..len]).is_err() || cut {
            break;
        }
    }
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
}

/// Who gave up waits for no connection any more.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn calls_that_were_given_up_leave_no_queue_of_connections_to_be_made() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let deadline = Duration::from_millis(300);
    let store = runtime.block_on(through(&proxy).deadline(deadline).connect()).expect("a store");
    proxy.swallow();
    hear(store.claim(&message())).expect_err("no answer");
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| hear(store.claim(&message())).expect_err("no answer"));
        }
    });
    // Two more deadlines.
    for _ in 0..3 {
        hear(store.claim(&message())).expect_err("no answer");
    }
    let alive = runtime.metrics().num_alive_tasks();
    assert!(alive < 20, "{alive} tasks");
}

/// A duplicate's answer that is read from a replica may be of the past.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_name_that_leads_to_a_replica_now_is_no_place_to_look() {
    let (primary, replica) = (RedisServer::start(), RedisServer::start());
    let proxy = Proxy::to(primary.port());
    let store = open(through(&proxy).only_scripts());
    let claim = message();
    let fence = grant(&store, &claim).fence;
    replica.follow(primary.port());
    proxy.redirect(replica.port());
    proxy.cut_once();
    for looked in [hear(store.inspect(&claim.id)).map(drop), hear(store.claim(&again(&claim))).map(drop)] {
        let error = looked.expect_err("a replica does not know");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
    replica.promote();
    wait_until("it is a primary", || hear(store.inspect(&claim.id)).is_ok());
    came!(hear(store.complete(&ending(&claim, fence, b"done"))), Ok(Recorded::Stored));
}

/// The key of a record with a short life outlives what others know of the time, renewed or not.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_renewal_does_not_shorten_how_long_a_fence_is_known() {
    let (server, prefix) = (server(), prefix());
    let store = open(RedisStore::builder(server.url()).prefix(prefix.clone()));
    let mut claim = message();
    (claim.lease, claim.keep) = (Duration::from_millis(200), Duration::from_millis(200));
    grant(&store, &claim);
    let renewal = Renewal { id: claim.id, token: claim.token, lease: Duration::from_millis(200) };
    came!(hear(store.renew(&renewal)), Ok(Renewed::Renewed { .. }));
    let key = [prefix.as_bytes(), claim.id.as_bytes()].concat();
    let left: u64 = server.client().ask(&[b"PTTL", &key[..]]).parse().expect("milliseconds");
    assert!(left > 4_000, "{left} ms");
}
