//! Executors, threads, and the runtime that a store lives in.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use idem::machine::Verdict;
use idem::{Error, ErrorKind, Handler, Idempotent, Key, PostgresStore, Store, StoreErrorKind};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use crate::asks::{claim, granted};
use crate::database::{Other, fresh, fresh_name, migrated, open, url};

fn key() -> Key {
    Key::trusted("msg:1", "a test's only message").expect("a key")
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn workers(count: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(count).enable_all().build().expect("a runtime")
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_plain_function_waits_on_a_thread_that_knows_nothing_of_tokio() {
    let store = open(&fresh());
    let work = Idempotent::new(&store, Handler::new("tests.plain"));
    assert!(work.run_blocking(&key(), || Ok::<_, Error>(1)).expect("an outcome").is_executed());
    assert_eq!(work.run_blocking(&key(), || Ok::<_, Error>(2)).expect("an outcome").into_value(), 1);
}

/// The only worker waits itself: what it waits for has to run somewhere else.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_plain_function_waits_on_the_only_worker_of_the_stores_runtime() {
    let builder = fresh();
    let runtime = workers(1);
    let outcome = runtime.block_on(async move {
        let store = builder.open().await.expect("a store");
        let task = tokio::spawn(async move {
            let work = Idempotent::new(&store, Handler::new("tests.only_worker"));
            work.run_blocking(&key(), || Ok::<_, Error>(1)).map(|outcome| outcome.is_executed())
        });
        task.await.expect("no panic")
    });
    assert!(outcome.expect("an outcome"));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_plain_function_waits_within_another_runtime_of_one_thread() {
    let store = open(&fresh());
    let outcome = one_thread().block_on(async {
        let work = Idempotent::new(&store, Handler::new("tests.elsewhere"));
        work.run_blocking(&key(), || Ok::<_, Error>(1))
    });
    assert!(outcome.expect("an outcome").is_executed());
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_plain_function_is_refused_where_waiting_would_be_for_ever() {
    let builder = fresh();
    let runs = AtomicU32::new(0);
    one_thread().block_on(async {
        let store = builder.open().await.expect("a store");
        assert!(!store.can_block());
        let work = Idempotent::new(&store, Handler::new("tests.one_thread"));
        let refused = work.run_blocking(&key(), || Ok::<_, Error>(runs.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(refused.expect_err("it would never end").kind(), ErrorKind::Misconfigured);
        // An async handler runs there.
        assert!(work.run(&key(), || async { Ok::<_, Error>(0) }).await.expect("an outcome").is_executed());
    });
    assert_eq!(runs.into_inner(), 0);
}

/// Neither the thread nor a task of a `LocalSet` can be given away, and neither is a worker.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_plain_function_waits_within_a_local_set() {
    let builder = fresh();
    let runtime = workers(1);
    let outcomes = runtime.block_on(LocalSet::new().run_until(async {
        let store = builder.open().await.expect("a store");
        let work = Idempotent::new(&store, Handler::new("tests.local_set"));
        let first = work.run_blocking(&key(), || Ok::<_, Error>(1)).map(|outcome| outcome.is_executed());
        let task = tokio::task::spawn_local(async move {
            let work = Idempotent::new(&store, Handler::new("tests.local_set"));
            work.run_blocking(&key(), || Ok::<_, Error>(2)).map(idem::Outcome::into_value)
        });
        (first, task.await.expect("no panic"))
    }));
    assert!(outcomes.0.expect("an outcome"));
    assert_eq!(outcomes.1.expect("an outcome"), 1);
}

/// What it waits for has to run on it. The error comes all the same, in time.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_reply_that_its_runtimes_only_thread_waits_for_is_an_error() {
    let builder = fresh().timeout(Duration::from_millis(200));
    one_thread().block_on(LocalSet::new().run_until(async {
        let store = builder.open().await.expect("a store");
        let error = store.claim(&claim("one")).wait().expect_err("nobody can answer");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        for words in ["has one thread", "await the reply", "open the store in a multi-threaded runtime"] {
            assert!(error.to_string().contains(words), "{error}");
        }
        assert!(matches!(store.claim(&claim("other")).await, Ok(Verdict::Claimed(_))));
        // A thread beside the runtime's own may wait.
        let beside = tokio::task::spawn_blocking(move || store.claim(&claim("beside")).wait());
        assert!(matches!(beside.await.expect("no panic"), Ok(Verdict::Claimed(_))));
    }));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn another_executor_can_wait() {
    let store = open(&fresh());
    let verdict = futures::executor::block_on(store.claim(&claim("elsewhere")));
    assert!(matches!(verdict, Ok(Verdict::Claimed(_))), "{verdict:?}");
    let within = one_thread().block_on(async { store.claim(&claim("in another runtime")).await });
    assert!(matches!(within, Ok(Verdict::Claimed(_))), "{within:?}");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f35_a_store_whose_runtime_has_ended_says_so_and_neither_panics_nor_hangs() {
    let schema = fresh_name();
    let builder = migrated(PostgresStore::builder(url()).schema(&schema));
    for runtime in [workers(1), one_thread()] {
        let store = runtime.block_on(builder.open()).expect("a store");
        // Else the answer may be there at once.
        let mut other = Other::at(&url());
        other.does(&format!("begin; lock table {schema}.idem_record in exclusive mode"));
        let first = claim("before");
        let mut reply = store.claim(&first);
        runtime.block_on(async { assert!(futures::poll!(&mut reply).is_pending()) });
        drop(runtime);
        let error = futures::executor::block_on(reply).expect_err("its runtime has ended");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        let error = store.claim(&claim("after")).wait().expect_err("its runtime has ended");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        assert!(error.to_string().contains("runtime"), "{error}");
        store.spawn(Box::pin(async {}));
        drop(store);
    }
    // The next process, or the next runtime, goes on with the records.
    granted(&open(&builder), &claim("after"));
}

#[test]
fn without_a_runtime_a_store_cannot_be_opened() {
    let builder = PostgresStore::builder("postgres://postgres@127.0.0.1:1/postgres");
    let error = futures::executor::block_on(builder.open()).expect_err("there is no runtime");
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert!(error.to_string().contains("tokio runtime"), "{error}");
    let error = futures::executor::block_on(builder.migrate()).expect_err("there is no runtime");
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
}
