//! Equal keys in one batch.

use std::cell::Cell;

use idem_core::{BatchEntry, OnLapse};

use super::*;

#[test]
fn of_equal_keys_the_later_ones_get_the_first_ones_result() {
    let store = ModelStore::new();
    let ran = Cell::new(0);
    let entries = [0, 1, 0, 2, 0].into_iter().enumerate().map(|(at, n)| (key(n), at));
    let results = now(work(&store).run_batch(entries, 5, |at| {
        ran.set(ran.get() + 1);
        async move {
            yield_once().await;
            Ok::<_, Error>(at)
        }
    }));
    let values: Vec<_> = results.into_iter().map(Result::unwrap).collect();
    assert_eq!(values.iter().map(Outcome::is_executed).collect::<Vec<_>>(), [true, true, false, true, false]);
    assert_eq!(values.into_iter().map(Outcome::into_value).collect::<Vec<_>>(), [0, 1, 0, 3, 0]);
    assert_eq!(ran.get(), 3);
}

#[test]
fn after_an_error_of_the_first_the_second_runs_as_another_attempt() {
    let store = ModelStore::new();
    let entries = [0, 1].map(|at| (key(7), at));
    let results = now(work(&store).run_batch(entries, 2, |at| async move {
        if at == 0 { Err(Error::from(broken())) } else { Ok(at) }
    }));
    assert!(results[0].is_err());
    assert_eq!(*results[1].as_ref().unwrap(), executed(1));
    assert_eq!(store.record().tries, 2);
}

#[test]
fn a_first_that_keeps_its_claim_after_an_error_does_not_hold_the_second_for_ever() {
    let store = ModelStore::new();
    let parking = Idempotent::new(&store, Handler::new("tests.batch").on_lapse(OnLapse::Park));
    let entries = [0, 1].map(|at| (key(7), at));
    let results = now(parking.run_batch(entries, 2, |_| async { Err::<u8, _>(Error::from(broken())) }));
    assert_eq!(kind(&results[1]), ErrorKind::InProgress, "as it would be alone");
}

#[test]
fn a_panic_of_the_first_lets_the_second_run() {
    let store = ModelStore::new();
    let (work, done) = (work(&store), Cell::new(false));
    let (work, done) = (&work, &done);
    let calls = [0, 1].map(|at| async move {
        let key = key(7);
        let result = work.run(&key, || async move {
            assert!(at == 1, "boom");
            Ok::<_, Error>(at)
        });
        done.set(result.await.unwrap() == executed(1));
    });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| now(idem_core::batch(calls, 2))));
    assert!(caught.is_err() && done.get());
}

#[test]
fn the_second_asks_once_the_firsts_claim_is_back() {
    for panics in [false, true] {
        let (store, back) = (ModelStore::new(), Gate::default());
        store.next("release", Fault::AnsweredLater(back.clone()));
        let work = work(&store);
        let mut batch = pin!(work.run_batch([0, 1].map(|at| (key(7), at)), 2, |at| async move {
            match at {
                0 if panics => std::panic::resume_unwind(Box::new("on purpose")),
                0 => Err(Error::from(broken())),
                at => Ok(at),
            }
        }));
        assert!(settle(batch.as_mut()).is_pending());
        store.run_spawned();
        assert!(settle(batch.as_mut()).is_pending());
        assert_eq!(store.count("claim"), 1);
        back.open();
        store.finish_spawned();
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| now(batch)));
        assert_eq!((ended.is_err(), store.count("claim"), store.count("complete")), (panics, 2, 1));
    }
}

#[test]
fn another_payload_under_an_equal_key_is_a_mismatch() {
    let store = ModelStore::new();
    let entries = [100, 100, 200].map(|amount: u32| BatchEntry::new(key(7), amount).payload(&amount));
    let results = now(work(&store).run_batch(entries, 3, |amount| async move { Ok::<_, Error>(amount) }));
    assert_eq!(*results[0].as_ref().unwrap(), executed(100));
    assert_eq!(results[1].as_ref().unwrap().value(), &100);
    assert_eq!(kind(&results[2]), ErrorKind::Mismatch);
}

fn broken() -> idem_core::StoreError {
    idem_core::StoreError::new(idem_core::StoreErrorKind::Unavailable, "the work's own")
}
