//! Single flight: what one task does for all who wait for it.
//!
//! It is a task of its own, and none of those who wait: one of them may be dropped, or not be polled for a while by somebody who waits
//! for something else too, and all the others would wait with it.

use std::future::Future;

use redis::{ErrorKind, RedisResult};
use tokio::runtime::Handle;
use tokio::sync::watch;

#[derive(Clone)]
pub(super) struct Flight<T>(watch::Receiver<Option<RedisResult<T>>>);

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    pub(super) fn begin(
        runtime: &Handle,
        work: impl Future<Output = RedisResult<T>> + Send + 'static,
    ) -> Self {
        let (says, hears) = watch::channel(None);
        runtime.spawn(async move { says.send_replace(Some(work.await)) });
        Self(hears)
    }

    /// What came of it, once it is over.
    pub(super) async fn outcome(mut self) -> RedisResult<T> {
        match self.0.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().expect("it was waited for"),
            Err(_) => Err((ErrorKind::ClusterConnectionNotFound, "the Tokio runtime has ended").into()),
        }
    }

    /// It is over, well or not.
    pub(super) fn is_over(&self) -> bool {
        self.0.borrow().is_some() || self.0.has_changed().is_err()
    }

    /// It is over, and all went well.
    pub(super) fn has_landed(&self) -> bool {
        matches!(*self.0.borrow(), Some(Ok(_)))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use tokio::sync::oneshot;

    use super::*;
    use crate::store::block_on;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()
    }

    #[test]
    fn who_is_not_polled_or_is_dropped_keeps_nobody_waiting() {
        let (runtime, (say, hear)) = (runtime(), oneshot::channel());
        let flight = Flight::begin(runtime.handle(), async { Ok(hear.await.unwrap()) });
        let mut first = pin!(flight.clone().outcome());
        let mut dropped = Box::pin(flight.clone().outcome());
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(cx).is_pending() && dropped.as_mut().poll(cx).is_pending());
        assert!(!flight.is_over());
        drop(dropped);
        say.send(7).unwrap();
        assert_eq!(block_on(flight.clone().outcome()).unwrap(), 7);
        assert!(flight.is_over() && flight.has_landed());
    }

    #[test]
    fn f35_a_runtime_that_has_ended_is_an_error() {
        let runtime = runtime();
        let flight = Flight::<()>::begin(runtime.handle(), std::future::pending());
        let late = runtime.handle().clone();
        drop(runtime);
        for flight in [flight, Flight::begin(&late, std::future::pending())] {
            assert!(block_on(flight.clone().outcome()).is_err());
            assert!(flight.is_over() && !flight.has_landed());
        }
    }
}
