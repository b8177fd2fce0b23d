//! Any batch, on a store that loses answers: what holds for all of them.

use std::collections::HashMap;

use idem_core::StoreErrorKind;
use idem_core::machine::StateKind;
use proptest::prelude::*;

use super::*;

/// What one body does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Succeeds,
    Fails,
    Panics,
}

#[derive(Clone, Debug)]
struct Message {
    key: usize,
    body: Body,
    /// How often it waits for another poll.
    polls: usize,
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    None,
    LostBefore,
    LostAfter,
    Full,
}

fn message() -> impl Strategy<Value = Message> {
    let body = prop_oneof![60 => Just(Body::Succeeds), 20 => Just(Body::Fails), 1 => Just(Body::Panics)];
    (0..12_usize, body, 0..4_usize).prop_map(|(key, body, polls)| Message { key, body, polls })
}

fn trouble() -> impl Strategy<Value = (&'static str, Trouble)> {
    let operation = prop_oneof![Just("claim_many"), Just("end_many"), Just("claim"), Just("complete")];
    let trouble = prop_oneof![
        4 => Just(Trouble::None),
        2 => Just(Trouble::LostBefore),
        2 => Just(Trouble::LostAfter),
        1 => Just(Trouble::Full),
    ];
    (operation, trouble)
}

/// What the bodies have done.
#[derive(Default)]
struct Books {
    at_work: Vec<usize>,
    most: usize,
    done: HashMap<usize, usize>,
    ran: usize,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_two_bodies_of_a_message_run_at_once_and_a_recorded_success_is_its_last_run(
        messages in prop::collection::vec(message(), 0..30),
        troubles in prop::collection::vec(trouble(), 0..8),
        limit in 1..6_usize,
    ) {
        let store = ModelStore::new();
        let troubled = !troubles.is_empty();
        for (operation, trouble) in troubles {
            store.next(operation, match trouble {
                Trouble::None => Fault::None,
                Trouble::LostBefore => Fault::LostBefore,
                Trouble::LostAfter => Fault::LostAfter,
                Trouble::Full => Fault::Broken(StoreErrorKind::Full),
            });
        }
        let books = RefCell::new(Books::default());
        let (work, books) = (Idempotent::new(&store, Handler::new("tests.batch.any").max_tries(u32::MAX)), &books);
        let entries = messages.iter().enumerate().map(|(at, message)| (key(message.key), (at, message)));
        let batch = work.run_batch(entries, limit, |(at, message): (usize, &Message)| {
            let message = message.clone();
            async move {
                {
                    let mut books = books.borrow_mut();
                    assert!(!books.at_work.contains(&message.key), "two bodies of one message at once");
                    books.at_work.push(message.key);
                    books.most = books.most.max(books.at_work.len());
                    books.ran += 1;
                }
                for _ in 0..message.polls {
                    yield_once().await;
                }
                let mut books = books.borrow_mut();
                books.at_work.retain(|key| *key != message.key);
                match message.body {
                    Body::Succeeds => {
                        books.done.insert(message.key, at);
                        Ok(at)
                    }
                    Body::Fails => Err(Failed::Own),
                    Body::Panics => {
                        drop(books);
                        std::panic::resume_unwind(Box::new("on purpose"))
                    }
                }
            }
        });
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| in_time(&store, batch)));
        store.finish_spawned();
        let books = books.borrow();
        prop_assert!(books.most <= limit);
        prop_assert!(books.at_work.is_empty());
        let Ok(results) = ended else { return Ok(()) };
        prop_assert_eq!(results.len(), messages.len());
        // Whether the store said that it knows of the last run.
        let mut last: HashMap<usize, (usize, bool)> = HashMap::new();
        for (at, (message, result)) in messages.iter().zip(&results).enumerate() {
            let before = last.get(&message.key).copied();
            match result {
                Ok(Outcome::Executed { value, recorded }) => {
                    prop_assert_eq!(*value, at);
                    prop_assert!(!matches!(before, Some((_, true))), "a run after a recorded success");
                    last.insert(message.key, (at, *recorded));
                }
                Ok(outcome) => prop_assert_eq!(before.map(|(at, _)| at), Some(*outcome.value())),
                Err(Failed::Own) => prop_assert_eq!(message.body, Body::Fails),
                // After a success that could not be recorded, or a claim that nobody could be told of, until it is given back.
                Err(Failed::Idem(ErrorKind::InProgress)) => {
                    prop_assert!(troubled && !matches!(before, Some((_, true))));
                }
                Err(Failed::Idem(kind)) => {
                    prop_assert!(troubled && matches!(kind, ErrorKind::Unavailable | ErrorKind::Full));
                }
            }
        }
        let known = last.values().filter(|(_, recorded)| *recorded).count();
        let done = store.records(StateKind::Done);
        // At least those that the store said it knows, and without trouble all.
        let least = if troubled { known } else { last.len() };
        prop_assert!((least..=last.len()).contains(&done));
    }
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
