//! The caller's future, dropped midway.

use idem_core::machine::StateKind;

use super::*;

#[test]
fn what_has_ended_is_recorded_what_runs_keeps_its_claim_and_what_waits_gives_it_back() {
    for lost in [false, true] {
        let store = ModelStore::new();
        let (work, recorded, slow) = (work(&store), Gate::default(), Gate::default());
        // Two are under way to the store or got lost on it, two have gathered behind them, two run, and two wait.
        let fault = if lost { Fault::LostBefore } else { Fault::AnsweredLater(recorded.clone()) };
        store.next("end_many", fault);
        let (gates, slow) = ([Gate::default(), Gate::default()], &slow);
        let gates = &gates;
        let mut batch = Box::pin(work.run_batch(entries(8), 4, |n| async move {
            match n {
                0 | 1 => {}
                2 | 3 => gates[n - 2].clone().await,
                _ => slow.clone().await,
            }
            Ok::<_, Error>(n)
        }));
        assert!(settle(batch.as_mut()).is_pending());
        gates.iter().for_each(Gate::open);
        assert!(settle(batch.as_mut()).is_pending());
        drop(batch);
        recorded.open();
        store.finish_spawned();
        let records = [StateKind::Done, StateKind::Held, StateKind::Open].map(|kind| store.records(kind));
        assert_eq!(records, [4, 4, 0]);

        let again =
            in_time(&store, work.run_batch(entries(4), 4, |n| async move { Ok::<_, Error>(n + 100) }));
        assert!(again.into_iter().enumerate().all(|(n, result)| result.unwrap().into_value() == n));
    }
}

#[test]
fn what_waits_for_its_turn_is_given_back() {
    let store = ModelStore::new();
    let work = work(&store);
    let mut batch = Box::pin(work.run_batch(entries(8), 2, |_| std::future::pending::<Result<u8, Error>>()));
    assert!(settle(batch.as_mut()).is_pending());
    drop(batch);
    store.finish_spawned();
    assert_eq!((store.records(StateKind::Held), store.records(StateKind::Open)), (2, 6));
    assert_eq!(store.count("release"), 6);
}

#[test]
fn claims_under_way_are_given_back() {
    let store = ModelStore::new();
    let (work, answered) = (work(&store), Gate::default());
    store.next("claim_many", Fault::AnsweredLater(answered.clone()));
    let mut batch = Box::pin(work.run_batch(entries(8), 2, |n| async move { Ok::<_, Error>(n) }));
    assert!(settle(batch.as_mut()).is_pending());
    assert_eq!(store.records(StateKind::Held), 8);
    drop(batch);
    store.run_spawned();
    assert_eq!(store.records(StateKind::Held), 8, "the answer is awaited");
    answered.open();
    store.finish_spawned();
    assert_eq!(store.records(StateKind::Open), 8);
}

/// Drops `future` once the gate is open.
async fn until<F: Future>(future: F, gate: &Gate) -> Option<F::Output> {
    let (mut future, mut gate) = (pin!(future), pin!(gate.clone()));
    std::future::poll_fn(|cx| {
        if gate.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

#[test]
fn a_call_that_drops_its_handler_leaves_the_others_alone() {
    // While its claim is under way, while it waits for its turn, and while its body runs.
    for (stage, left) in
        [("claim_many", StateKind::Open), ("queue", StateKind::Open), ("body", StateKind::Held)]
    {
        let store = ModelStore::new();
        let (work, slow, stop, claimed) = (work(&store), Gate::default(), Gate::default(), Gate::default());
        if stage == "claim_many" {
            store.next("claim_many", Fault::AnsweredLater(claimed.clone()));
        }
        let dropped = if stage == "body" { 0 } else { 2 };
        let (work, slow, stop) = (&work, &slow, &stop);
        let mut batch = pin!(idem_core::batch(
            (0..4).map(|n| async move {
                let key = key(n);
                let call = work.run(&key, || async move {
                    if n == 0 {
                        slow.clone().await;
                    }
                    Ok::<_, Error>(n)
                });
                if n == dropped {
                    until(call, stop).await.transpose().unwrap()
                } else {
                    Some(call.await.unwrap())
                }
            }),
            1
        ));
        let mut results = settle(batch.as_mut());
        for gate in [stop, &claimed, slow] {
            assert!(results.is_pending());
            gate.open();
            results = settle(batch.as_mut());
            if results.is_ready() {
                break;
            }
        }
        let Poll::Ready(results) = results else { panic!("the batch waits for a call that was dropped") };
        store.finish_spawned();
        for (n, result) in results.into_iter().enumerate() {
            assert_eq!(result, if n == dropped { None } else { Some(executed(n)) }, "dropped in its {stage}");
        }
        assert_eq!((store.records(StateKind::Done), store.records(left)), (3, 1), "dropped in its {stage}");
    }
}

#[test]
fn before_its_first_poll_nothing_happened() {
    let store = ModelStore::new();
    let work = work(&store);
    drop(work.run_batch(entries(8), 2, |n| async move { Ok::<_, Error>(n) }));
    assert!(store.log().is_empty());
    assert_eq!(store.run_spawned(), 0);
}

#[test]
fn at_every_poll_no_message_is_lost() {
    for polls in 0..40 {
        let store = ModelStore::new();
        let work = work(&store);
        let answered: Vec<Gate> = (0..4).map(|_| Gate::default()).collect();
        for (at, gate) in answered.iter().enumerate() {
            let operation = if at % 2 == 0 { "claim_many" } else { "end_many" };
            store.next(operation, Fault::AnsweredLater(gate.clone()));
        }
        // Equal keys too, and bodies of one to three polls.
        let entries = [0, 1, 2, 3, 0, 4, 5, 1, 6].map(|n| (key(n), n));
        let mut batch = Box::pin(work.run_batch(entries, 3, |n| async move {
            for _ in 0..n % 3 {
                yield_once().await;
            }
            Ok::<_, Error>(n)
        }));
        for poll_at in 0..polls {
            if poll(batch.as_mut()).is_ready() {
                break;
            }
            if poll_at % 5 == 4 {
                answered[poll_at / 5 % 4].open();
            }
        }
        drop(batch);
        answered.iter().for_each(Gate::open);
        store.finish_spawned();
        // After the leases every message is done, or runs now, and none twice.
        store.time().advance(LEASE);
        let done = store.records(StateKind::Done);
        let again =
            in_time(&store, work.run_batch(super::entries(7), 7, |n| async move { Ok::<_, Error>(n) }));
        let ran = again.iter().filter(|result| result.as_ref().unwrap().is_executed()).count();
        assert_eq!(ran + done, 7, "dropped after {polls} polls");
    }
}
