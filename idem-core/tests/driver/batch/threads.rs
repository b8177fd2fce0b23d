//! Batches on many threads at once, whose bodies are woken by another.

use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Sender, channel};

use super::*;

const THREADS: usize = 6;
const BATCHES: usize = 60;
const KEYS: usize = 40;

/// Polls on this thread, parked in between.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        std::thread::park();
    }
}

/// Pending until the other thread has woken it.
async fn elsewhere(wakers: &Sender<Waker>) {
    let mut sent = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut sent, true) {
            return Poll::Ready(());
        }
        wakers.send(cx.waker().clone()).expect("the thread that wakes");
        Poll::Pending
    })
    .await;
}

// F01
#[test]
fn of_many_batches_on_many_threads_one_run_for_each_key_succeeds() {
    let store = ModelStore::new();
    let (successes, at_work) = ([const { AtomicU32::new(0) }; KEYS], [const { AtomicU32::new(0) }; KEYS]);
    let (wakers, woken) = channel::<Waker>();
    std::thread::scope(|scope| {
        scope.spawn(move || woken.into_iter().for_each(Waker::wake));
        for thread in 0..THREADS {
            let (store, successes, at_work, wakers) = (&store, &successes, &at_work, wakers.clone());
            scope.spawn(move || {
                let work = Idempotent::new(store, Handler::new("tests.batch.threads").max_tries(u32::MAX));
                let (work, wakers) = (&work, &wakers);
                for batch in 0..BATCHES {
                    let size = batch % 12 + 1;
                    // With repeats, and in another order on each thread.
                    let entries = (0..size).map(|at| {
                        let n = (batch * 5 + at * (thread + 3)) % KEYS;
                        (key(n), (at, n))
                    });
                    let results = block_on(work.run_batch(entries, batch % 4 + 1, |(at, n)| async move {
                        assert_eq!(at_work[n].fetch_add(1, Ordering::SeqCst), 0, "two bodies at once");
                        if (at + batch) % 3 != 0 {
                            elsewhere(wakers).await;
                        }
                        at_work[n].fetch_sub(1, Ordering::SeqCst);
                        if (at + batch + thread) % 5 == 0 {
                            return Err(Failed);
                        }
                        successes[n].fetch_add(1, Ordering::SeqCst);
                        Ok(n)
                    }));
                    assert_eq!(results.len(), size);
                }
            });
        }
        drop(wakers);
    });
    store.finish_spawned();
    let succeeded: Vec<_> = successes.iter().map(|count| count.load(Ordering::SeqCst)).collect();
    assert!(succeeded.iter().all(|count| *count <= 1), "{succeeded:?}");
    assert!(succeeded.iter().sum::<u32>() > 30, "{succeeded:?}");
}

#[derive(Debug)]
struct Failed;

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        assert_eq!(error.kind(), ErrorKind::InProgress, "{error}");
        Self
    }
}
