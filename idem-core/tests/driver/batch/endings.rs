//! When results are recorded, and what errors and panics leave behind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use idem_core::machine::StateKind;

use super::*;

#[test]
fn a_result_is_recorded_while_slower_bodies_run() {
    let store = ModelStore::new();
    let (work, slow) = (work(&store), Gate::default());
    let slow = &slow;
    let mut batch = pin!(work.run_batch(entries(3), 3, |n| async move {
        if n == 1 {
            slow.clone().await;
        }
        Ok::<_, Error>(n)
    }));
    assert!(settle(batch.as_mut()).is_pending());
    assert_eq!((store.records(StateKind::Done), store.records(StateKind::Held)), (2, 1));
    slow.open();
    assert_eq!(now(batch).len(), 3);
}

#[test]
fn results_that_come_while_others_are_under_way_go_with_the_next() {
    let store = ModelStore::new();
    let (work, answered) = (work(&store), Gate::default());
    let gates: Vec<Gate> = (0..6).map(|_| Gate::default()).collect();
    store.next("end_many", Fault::AnsweredLater(answered.clone()));
    let open = |range: std::ops::Range<usize>| gates[range].iter().for_each(Gate::open);
    let of = |n: usize| gates[n].clone();
    let mut batch = pin!(work.run_batch(entries(6), 6, |n| {
        let gate = of(n);
        async move {
            gate.await;
            Ok::<_, Error>(n)
        }
    }));
    open(0..2);
    assert!(settle(batch.as_mut()).is_pending());
    for n in 2..6 {
        open(n..n + 1);
        assert!(settle(batch.as_mut()).is_pending());
    }
    assert_eq!(store.records(StateKind::Done), 2, "the others wait for the round trip under way");
    answered.open();
    assert_eq!(now(batch).len(), 6);
    assert_eq!(store.count("end_many"), 2);
}

#[test]
fn bodies_that_do_not_yield_keep_a_result_for_no_longer_than_ten_milliseconds_and_one_of_them() {
    let store = ModelStore::new();
    let work = work(&store);
    let mut batch = pin!(work.run_batch(entries(9), 9, |n| {
        store.time().advance(Duration::from_millis(4));
        async move { Ok::<_, Error>(n) }
    }));
    let mut done = Vec::new();
    while poll(batch.as_mut()).is_pending() {
        done.push(store.records(StateKind::Done));
    }
    assert_eq!(done, [0, 3, 6, 9], "three bodies take twelve milliseconds");
}

#[test]
fn errors_give_their_claims_back_and_a_batch_delivered_again_runs_these_alone() {
    let store = ModelStore::new();
    let fails =
        |even| move |n: usize| async move { if even && n.is_multiple_of(2) { Err(Own) } else { Ok(n) } };
    let first = now(work(&store).run_batch(entries(6), 2, fails(true)));
    assert_eq!(first.iter().filter(|result| matches!(result, Err(Own))).count(), 3);
    assert_eq!((store.records(StateKind::Open), store.records(StateKind::Done)), (3, 3));
    let second = now(work(&store).run_batch(entries(6), 2, fails(false)));
    let ran: Vec<_> = second.iter().map(|result| result.as_ref().unwrap().is_executed()).collect();
    assert_eq!(ran, [true, false, true, false, true, false]);
}

#[test]
fn a_panic_gives_its_claim_back_and_resumes_once_the_others_have_ended() {
    let store = ModelStore::new();
    let (work, slow) = (work(&store), Gate::default());
    let slow = &slow;
    let mut batch = pin!(work.run_batch(entries(5), 2, |n| async move {
        match n {
            1 => panic!("boom {n}"),
            3 => slow.clone().await,
            _ => {}
        }
        Ok::<_, Error>(n)
    }));
    assert!(settle(batch.as_mut()).is_pending(), "the slow one is waited for");
    assert_eq!((store.records(StateKind::Open), store.records(StateKind::Done)), (1, 3));
    slow.open();
    let caught = catch_unwind(AssertUnwindSafe(|| settle(batch.as_mut()))).expect_err("the panic resumes");
    assert_eq!(caught.downcast_ref::<String>().map(String::as_str), Some("boom 1"));
    assert_eq!((store.records(StateKind::Open), store.records(StateKind::Done)), (1, 4));
}

#[derive(Debug)]
struct Own;

impl From<Error> for Own {
    fn from(error: Error) -> Self {
        panic!("no error of idem's own here: {error}")
    }
}

/// An error that a handler may have remembered.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Failure {
    is_final: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        panic!("a body ran: {error}")
    }
}

#[test]
fn whatever_bodies_came_to_is_recorded_in_one_round_trip() {
    use idem_core::private::{Call, ToStoreHandle as _, codec, run};
    static HANDLER: Handler = Handler::new("tests.batch.ends");
    let store = ModelStore::new();
    let call = async |n: usize| {
        let mut call = Call::derive(&HANDLER, false, |text| text.literal(&format!("msg:{n}")));
        call.ask_attempt();
        call.use_store(store.idem_store());
        let codec = codec().final_error(|failure: &Failure| failure.is_final);
        let body = async move {
            match n % 3 {
                0 => Ok(n),
                of => Err(Failure { is_final: of == 1 }),
            }
        };
        run(&call, codec, body).await
    };
    let results = now(idem_core::batch((0..30).map(call), 30));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
    let states = [StateKind::Done, StateKind::Failed, StateKind::Open];
    assert_eq!(states.map(|state| store.records(state)), [10, 10, 10]);
    assert_eq!((store.count("claim_many"), store.count("end_many")), (1, 1));
    // The two, and what they are made of.
    assert_eq!(store.log().len(), 2 + 30 + 30);
}

/// What is given back is not sent again, as no release is: its lease runs out.
#[test]
fn a_release_that_got_lost_with_results_keeps_none_of_them_from_being_recorded() {
    let store = ModelStore::new();
    store.next("end_many", Fault::LostBefore);
    let one = |n: usize| async move {
        if n == 1 {
            return Err(Error::from(idem_core::StoreError::new(idem_core::StoreErrorKind::Full, "a body's")));
        }
        Ok(n)
    };
    let results = in_time(&store, work(&store).run_batch(entries(3), 3, one));
    assert!(results[0].is_ok() && results[1].is_err() && results[2].is_ok());
    assert_eq!((store.records(StateKind::Done), store.records(StateKind::Held)), (2, 1));
}
