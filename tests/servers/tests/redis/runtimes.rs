//! Replies on executors that are not the store's, on threads without any, and on runtimes that are gone (F35).

use std::time::Duration;

use idem::machine::{Recorded, Verdict};
use idem::{Error, ErrorKind, RedisStore, Store, StoreErrorKind, idempotent};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use crate::messages::{again, came, ending, grant, message};
use crate::place::{RUNTIME, cluster, open, prefix, server};

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

#[idempotent(key = "msg:<id>", store = store, scope = "redis.plain")]
fn plain(id: u32, store: &RedisStore) -> Result<u32, Error> {
    Ok(id)
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_thread_without_a_runtime_gets_its_answers() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let claim = message();
    came!(store.claim(&claim).wait(), Ok(Verdict::Claimed(_)));
    came!(store.complete(&ending(&claim, 1, b"done")).wait(), Ok(Recorded::Stored));
    assert_eq!(plain(7, &store).expect("a result"), 7);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn plain_handlers_on_all_workers_of_the_stores_own_runtime_get_their_answers() {
    let (server, cluster) = (server(), cluster());
    for url in [server.url(), cluster.url()] {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let store = RedisStore::builder(url).prefix(prefix()).connect().await.expect("a server");
            let all: Vec<_> = (0..8)
                .map(|id| {
                    let store = store.clone();
                    tokio::spawn(async move { plain(id, &store) })
                })
                .collect();
            for (id, task) in (0..).zip(all) {
                assert_eq!(task.await.expect("a task").expect("a result"), id);
            }
        });
    }
}

/// Neither the thread nor a task of a `LocalSet` can be given away, and neither is a worker.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn plain_handlers_within_a_local_set_get_their_answers() {
    let server = server();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(LocalSet::new().run_until(async {
        let store = RedisStore::builder(server.url()).prefix(prefix()).connect().await.expect("a server");
        assert_eq!(plain(7, &store).expect("a result"), 7);
        let task = tokio::task::spawn_local(async move { plain(8, &store) });
        assert_eq!(task.await.expect("no panic").expect("a result"), 8);
    }));
}

/// What it waits for has to run on it. The error comes all the same, in time.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_reply_that_its_runtimes_only_thread_waits_for_is_an_error() {
    let server = server();
    one_thread().block_on(LocalSet::new().run_until(async {
        let builder = RedisStore::builder(server.url()).prefix(prefix()).deadline(Duration::from_millis(200));
        let store = builder.connect().await.expect("a server");
        let error = store.claim(&message()).wait().expect_err("nobody can answer");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        came!(store.claim(&message()).await, Ok(Verdict::Claimed(_)));
    }));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_plain_handler_is_refused_where_it_would_wait_for_its_own_thread() {
    let server = server();
    one_thread().block_on(async {
        let store = RedisStore::builder(server.url()).prefix(prefix()).connect().await.expect("a server");
        assert!(!store.can_block());
        let error = plain(7, &store).expect_err("no thread to wait on");
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        came!(store.claim(&message()).await, Ok(Verdict::Claimed(_)));
    });
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f35_a_store_whose_runtime_is_gone_is_unavailable_in_time() {
    let (server, cluster) = (server(), cluster());
    for url in [server.url(), cluster.url()] {
        let runtime = one_thread();
        let builder = RedisStore::builder(url).prefix(prefix());
        let store = runtime.block_on(builder.connect()).expect("a server");
        let claim = message();
        came!(runtime.block_on(store.claim(&claim)), Ok(Verdict::Claimed(_)));
        drop(runtime);
        let other = one_thread();
        for _ in 0..2 {
            let error = other.block_on(store.claim(&claim)).expect_err("no runtime");
            assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
            let error = store.release(&claim.id, &claim.token).wait().expect_err("no runtime");
            assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        }
        store.spawn(Box::pin(async {}));
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f33_replies_that_are_dropped_midway_leave_the_connection_in_order() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for polls in 0..3 {
        for _ in 0..50 {
            let claim = message();
            let mut reply = store.claim(&claim);
            for _ in 0..polls {
                if std::pin::Pin::new(&mut reply).poll(&mut cx).is_ready() {
                    break;
                }
            }
            drop(reply);
            // The next answer is that of the next question.
            let next = message();
            assert_eq!(grant(&store, &next).tries, 1);
            assert_eq!(grant(&store, &claim).tries, 1);
            came!(
                crate::messages::hear(store.claim(&again(&claim))),
                Ok(Verdict::InProgress { tries: 1, .. })
            );
        }
    }
}

/// As of a stream of many that is not asked for the next one while something else is awaited.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f33_many_replies_that_are_not_polled_keep_no_other_waiting() {
    let (server, cluster) = (server(), cluster());
    for builder in [RedisStore::builder(server.url()).only_scripts(), RedisStore::builder(cluster.url())] {
        let store = open(builder.prefix(prefix()).deadline(Duration::from_secs(20)));
        RUNTIME.block_on(async {
            let mut replies: Vec<_> = (0..1_000).map(|_| store.claim(&message())).collect();
            for _ in 0..3 {
                std::future::poll_fn(|cx| {
                    replies.retain_mut(|reply| std::pin::Pin::new(reply).poll(cx).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
            }
            came!(store.claim(&message()).await, Ok(Verdict::Claimed(_)));
        });
    }
}

/// What `require = "durable"` is compared with while a handler is compiled.
const _: () = assert!(matches!(<RedisStore as idem::Classed>::CLASS, Some(idem::StoreClass::Lossy)));
