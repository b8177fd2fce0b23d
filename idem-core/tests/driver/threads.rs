//! Real threads, and what the compiler knows of them.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use idem_core::private::{Call, Run, ToStoreHandle as _, codec, run};
use idem_core::{
    Attempt, Counters, Disposition, Error, ErrorKind, Handler, Idempotent, Key, OnDuplicate, Outcome,
    StoreError, counters,
};

use crate::model::ModelStore;

const THREADS: usize = 8;
const CALLS: usize = 2_000;
const KEYS: usize = 50;

fn difference(before: &Counters, after: &Counters) -> [u64; 4] {
    [
        after.executed - before.executed,
        after.replayed - before.replayed,
        after.in_progress - before.in_progress,
        after.released - before.released,
    ]
}

/// What the calls of one round came to, as the callers saw it.
#[derive(Default)]
struct Seen {
    executed: AtomicU32,
    replayed: AtomicU32,
    in_progress: AtomicU32,
    failed: AtomicU32,
}

/// Polls to the end, yielding the processor in between: bodies wait for nothing but a second poll.
fn drive<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        std::thread::yield_now();
    }
}

/// Pending once, so that the claim is seen by others.
async fn let_others_in() {
    let mut polled = false;
    std::future::poll_fn(
        |_| {
            if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
        },
    )
    .await;
}

// F01
#[test]
fn of_many_calls_on_many_threads_one_for_each_key_succeeds() {
    let store = ModelStore::new();
    let keys: Vec<Key> = (0..KEYS).map(|n| Key::trusted(format!("msg:{n}"), "counted").unwrap()).collect();
    let successes: Vec<AtomicU32> = keys.iter().map(|_| AtomicU32::new(0)).collect();
    let at_work: Vec<AtomicU32> = keys.iter().map(|_| AtomicU32::new(0)).collect();
    let seen = Seen::default();
    let before = counters();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, keys, successes, at_work, seen) = (&store, &keys, &successes, &at_work, &seen);
            scope.spawn(move || {
                let work = Idempotent::new(store, Handler::new("tests.threads").max_tries(u32::MAX));
                for call in 0..CALLS {
                    let n = (call * 7 + thread * 13) % KEYS;
                    let body = |awaits: bool| async move {
                        assert_eq!(at_work[n].fetch_add(1, Ordering::SeqCst), 0, "two bodies at once");
                        if awaits {
                            let_others_in().await;
                        }
                        assert_eq!(at_work[n].fetch_sub(1, Ordering::SeqCst), 1);
                        if call < CALLS / 4 {
                            return Err(Failed::Own);
                        }
                        successes[n].fetch_add(1, Ordering::SeqCst);
                        Ok(n)
                    };
                    let outcome = if call % 3 == 0 {
                        work.run_blocking(&keys[n], || drive(body(false)))
                    } else {
                        drive(work.run(&keys[n], || body(call % 3 == 1)))
                    };
                    let counted = match outcome {
                        Ok(Outcome::Executed { value, recorded }) => {
                            assert_eq!((value, recorded), (n, true));
                            &seen.executed
                        }
                        Ok(Outcome::Replayed { value, .. }) => {
                            assert_eq!(value, n);
                            &seen.replayed
                        }
                        Err(Failed::Idem(ErrorKind::InProgress)) => &seen.in_progress,
                        Err(Failed::Own) => &seen.failed,
                        other => panic!("{other:?}"),
                    };
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert!(successes.iter().all(|runs| runs.load(Ordering::SeqCst) == 1), "{successes:?}");
    let all = [&seen.executed, &seen.replayed, &seen.in_progress, &seen.failed]
        .map(|seen| u64::from(seen.load(Ordering::SeqCst)));
    assert_eq!(all.iter().sum::<u64>(), (THREADS * CALLS) as u64);
    // Other tests count too, at the same time: never less than what was seen here.
    let counted = difference(&before, &counters());
    assert!(counted.iter().zip(all).all(|(counted, seen)| *counted >= seen), "{counted:?} < {all:?}");
    let (claims, ends) = (store.count("claim"), store.count("complete") + store.count("release"));
    assert_eq!(claims, THREADS * CALLS);
    assert_eq!(ends as u64, all[0] + all[3], "each grant has one end");
}

#[derive(Debug)]
enum Failed {
    Own,
    Idem(ErrorKind),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Idem(error.kind())
    }
}

#[test]
fn threads_that_wait_for_one_another_all_get_the_one_result() {
    let store = ModelStore::new();
    let runs = AtomicU32::new(0);
    let ended = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Time has to pass for those who wait.
        scope.spawn(|| {
            while !ended.load(Ordering::Acquire) {
                store.time().advance(Duration::from_millis(1));
                std::thread::yield_now();
            }
        });
        let callers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let handler =
                        Handler::new("tests.waiting").on_duplicate(OnDuplicate::Wait(Duration::MAX));
                    let key = Key::trusted("msg:1", "one message").unwrap();
                    let outcome = Idempotent::new(&store, handler)
                        .run_blocking(&key, || Ok::<_, Error>(runs.fetch_add(1, Ordering::SeqCst)));
                    outcome.unwrap().into_value()
                })
            })
            .collect();
        let values = callers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>();
        // Before anything is asserted, or a panic would wait for the time to stop.
        ended.store(true, Ordering::Release);
        for value in values {
            assert_eq!(value.unwrap(), 0);
        }
    });
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

fn is_send<T: Send>(_: &T) {}

#[test]
fn futures_and_errors_go_to_other_threads() {
    fn travels<T: Send + Sync + 'static>() {}
    travels::<Error>();
    travels::<StoreError>();
    travels::<Disposition>();
    travels::<Attempt>();
    static HANDLER: Handler = Handler::new("tests.send");
    let store = ModelStore::new();
    let mut call = Call::derive(&HANDLER, true, |text| text.literal("msg:1"));
    call.use_store(store.idem_store());
    let guarded: Run<'_, _> = run(&call, codec(), async { Ok::<u32, Error>(1) });
    is_send(&guarded);
    let work = Idempotent::new(&store, Handler::new("tests.send"));
    let key = Key::trusted("msg:1", "one message").unwrap();
    is_send(&work.run(&key, || async { Ok::<u32, Error>(1) }));
}

/// What idem adds to the caller's future, whatever the body is.
#[test]
fn the_drivers_own_future_is_small() {
    static HANDLER: Handler = Handler::new("tests.size");
    let call = Call::derive(&HANDLER, true, |text| text.literal("msg:1"));
    let payload = [0_u8; 8192];
    let body = async move {
        std::future::ready(()).await;
        Ok::<u64, Error>(payload.len() as u64)
    };
    let body_size = size_of_val(&body);
    let guarded = run(&call, codec(), body);
    let added = size_of_val(&call) + size_of_val(&guarded) - body_size;
    assert!(added <= 512, "{added} bytes");
}
