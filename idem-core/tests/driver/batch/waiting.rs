//! Messages that wait for their turn.

use std::cell::Cell;

use idem_core::Token;
use idem_core::machine::{State, StateKind};

use super::*;

/// The first body waits for the gate, and no other runs meanwhile.
fn behind_one<'a>(
    work: &'a Idempotent,
    count: usize,
    gate: &'a Gate,
    ran: &'a Cell<usize>,
) -> impl Future<Output = Vec<Result<Outcome<usize>, Error>>> + 'a {
    work.run_batch(entries(count), 1, move |n| async move {
        ran.set(ran.get() + 1);
        if n == 0 {
            gate.clone().await;
        }
        Ok(n)
    })
}

#[test]
fn messages_that_wait_for_their_turn_are_renewed() {
    let store = ModelStore::new();
    let (work, gate, ran) = (work(&store), Gate::default(), Cell::new(0));
    let mut batch = pin!(behind_one(&work, 4, &gate, &ran));
    assert!(settle(batch.as_mut()).is_pending());
    for _ in 0..12 {
        store.time().advance(LEASE / 3);
        store.run_spawned();
        assert!(settle(batch.as_mut()).is_pending());
    }
    assert!(store.count("renew") >= 4 * 11, "{}", store.count("renew"));
    assert_eq!((ran.get(), store.count("claim")), (1, 4));
    gate.open();
    assert!(now(batch).into_iter().enumerate().all(|(n, result)| result.unwrap() == executed(n)));
    assert_eq!(store.count("claim"), 4, "no lease ran out");
}

#[test]
fn a_message_that_was_taken_over_while_it_waited_does_not_run() {
    let store = ModelStore::new();
    let (work, gate, ran) = (work(&store), Gate::default(), Cell::new(0));
    let mut batch = pin!(behind_one(&work, 2, &gate, &ran));
    assert!(settle(batch.as_mut()).is_pending());
    store.change_all(|record| {
        if let State::Held { .. } = record.state {
            record.token = Token::fresh();
        }
    });
    store.time().advance(LEASE / 3);
    gate.open();
    let results = now(batch);
    assert_eq!(kind(&results[1]), ErrorKind::InProgress);
    assert_eq!(ran.get(), 1);
    assert!(results[0].is_ok(), "its effect happened, though another has the record");
}

#[test]
fn a_message_waits_for_no_longer_than_it_may_be_held() {
    let store = ModelStore::new();
    let hold = Duration::from_secs(60);
    let work = Idempotent::new(&store, Handler::new("tests.batch").lease(LEASE).max_hold(hold));
    let (gate, ran) = (Gate::default(), Cell::new(0));
    let mut batch = pin!(behind_one(&work, 2, &gate, &ran));
    assert!(settle(batch.as_mut()).is_pending());
    for _ in 0..20 {
        store.time().advance(LEASE / 3);
    }
    gate.open();
    let results = now(batch);
    assert_eq!(kind(&results[1]), ErrorKind::InProgress);
    assert_eq!((ran.get(), store.records(StateKind::Open)), (1, 1), "given back");
}

#[test]
fn a_body_that_waited_may_be_held_as_long_as_any_other() {
    let store = ModelStore::new();
    let hold = Duration::from_secs(60);
    let work = Idempotent::new(&store, Handler::new("tests.batch").lease(LEASE).max_hold(hold));
    let (first, second) = (Gate::default(), Gate::default());
    let gates = [&first, &second];
    let mut batch = pin!(work.run_batch(entries(2), 1, |n| async move {
        gates[n].clone().await;
        Ok::<_, Error>(n)
    }));
    for gate in gates {
        assert!(settle(batch.as_mut()).is_pending());
        for _ in 0..5 {
            store.time().advance(LEASE / 3);
        }
        assert!(settle(batch.as_mut()).is_pending());
        let elsewhere = work.run_blocking(&key(1), || Ok::<_, Error>(7));
        assert_eq!(kind(&elsewhere), ErrorKind::InProgress, "its lease is renewed");
        gate.open();
    }
    assert!(now(batch).into_iter().enumerate().all(|(n, result)| result.unwrap() == executed(n)));
    assert_eq!(store.count("claim"), 4, "two of the batch, and two of others");
}
