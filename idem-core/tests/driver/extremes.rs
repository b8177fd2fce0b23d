//! Settings, clocks and executors at the edge of what is possible.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use idem_core::private::{Call, ToStoreHandle as _, codec, run};
use idem_core::{Error, Handler, Idempotent};

use crate::async_driver::key;
use crate::model::{Fault, ModelStore};

fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// A handler that never ends, polled once.
fn hangs(store: &ModelStore, handler: Handler, checks: impl FnOnce()) {
    let (work, key) = (Idempotent::new(store, handler), key());
    let mut call = Box::pin(work.run(&key, std::future::pending::<Result<u32, Error>>));
    assert!(poll(&mut call).is_pending());
    checks();
}

// F10
#[test]
fn a_lease_without_end_is_a_lease() {
    // The token decides how early the renewal is: several of them.
    for _ in 0..20 {
        let store = ModelStore::new();
        hangs(&store, Handler::new("tests.extremes").lease(Duration::MAX).max_hold(Duration::MAX), || {
            store.time().advance(Duration::from_secs(86_400));
            assert_eq!(store.count("renew"), 0);
        });
    }
}

// F10
#[test]
fn a_lease_of_nothing_is_not_renewed_without_a_pause() {
    for lease in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(5)] {
        let store = ModelStore::new();
        hangs(&store, Handler::new("tests.extremes").lease(lease), || {
            store.time().advance(Duration::from_secs(1));
            assert!(store.count("renew") <= 1_000);
        });
    }
}

#[test]
fn asking_for_the_loss_again_and_again_starts_one_timer() {
    let store = ModelStore::new();
    static HANDLER: Handler = Handler::new("tests.extremes");
    let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
    call.ask_attempt();
    call.use_store(store.idem_store());
    let call = &call;
    let mut body = Box::pin(run(call, codec(), async move {
        for _ in 0..1_000 {
            // As `select!` in a loop does.
            let mut lost = Box::pin(Call::attempt(call).lost());
            assert!(poll(&mut lost).is_pending());
        }
        std::future::pending::<Result<u32, Error>>().await
    }));
    assert!(poll(&mut body).is_pending());
    assert_eq!(store.time().timers(), 2, "one for the loss, one for the renewal");
    store.time().advance(Duration::from_secs(60));
    assert_eq!(store.time().timers(), 2);
}

/// An executor that polls within `wake`, as some do on one thread.
struct Inline(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut future) = taken else { return };
        if future.as_mut().poll(&mut Context::from_waker(&self.clone().into())).is_pending() {
            *self.0.lock().unwrap() = Some(future);
        }
    }
}

#[test]
fn an_executor_may_poll_within_wake() {
    let store = ModelStore::new();
    store.next("claim", Fault::LostBefore);
    let (done, told) = std::sync::mpsc::channel();
    let worker = {
        let store = store.clone();
        std::thread::spawn(move || {
            let work = Idempotent::new(&store, Handler::new("tests.extremes"));
            let call = async move {
                let outcome = work.run(&key(), || async { Ok::<_, Error>(7) }).await;
                done.send(outcome).unwrap();
            };
            Arc::new(Inline(Mutex::new(Some(Box::pin(call))))).wake();
            store.time().advance(Duration::from_secs(1));
        })
    };
    // Long enough for any machine; only a deadlock takes it.
    let outcome =
        told.recv_timeout(Duration::from_secs(20)).expect("the timer and the poll wait for each other");
    assert_eq!(outcome.unwrap().into_value(), 7);
    worker.join().unwrap();
}
