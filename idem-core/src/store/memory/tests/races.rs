//! Several threads on one store.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{claim, completion, finish, grant, id, replay, token};
use crate::MemoryStore;
use crate::machine::{Claim, Completion, Recorded, Verdict};
use crate::store::Store;

#[test]
fn of_all_who_ask_at_once_one_is_granted() {
    const ROUNDS: usize = 2_000;
    const THREADS: u64 = 4;
    let store = MemoryStore::new();
    let barrier = Barrier::new(4);
    let granted: Vec<AtomicUsize> = (0..ROUNDS).map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, barrier, granted) = (&store, &barrier, &granted);
            scope.spawn(move || {
                for (round, granted) in (0..).zip(granted) {
                    barrier.wait();
                    let by = Claim { token: token(thread), ..claim(round) };
                    match store.claim(&by).wait().unwrap() {
                        Verdict::Claimed(grant) => {
                            assert_eq!(grant.tries, 1);
                            granted.fetch_add(1, Ordering::Relaxed);
                            let completion =
                                Completion { token: by.token, ..completion(round, &round.to_le_bytes()) };
                            assert_eq!(store.complete(&completion).wait().unwrap(), Recorded::Stored);
                        }
                        Verdict::InProgress { .. } => {}
                        Verdict::Completed { body, .. } => assert_eq!(&*body.unwrap(), &round.to_le_bytes()),
                        other => panic!("{other:?}"),
                    }
                }
            });
        }
    });
    assert!(granted.iter().all(|count| count.load(Ordering::Relaxed) == 1));
}

#[test]
fn threads_that_work_on_many_keys_disturb_nobody() {
    const KEYS: u64 = 5_000;
    let store = MemoryStore::new();
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in (thread..KEYS).step_by(4) {
                    finish(store, number, &number.to_le_bytes());
                    if number % 512 == 0 {
                        store.sweep(usize::MAX).wait().unwrap();
                        assert!(store.oldest_completed_age().is_some());
                    }
                }
            });
        }
    });
    for number in 0..KEYS {
        assert_eq!(replay(&store, number).unwrap().as_deref(), Some(&number.to_le_bytes()[..]));
    }
    assert_eq!(store.counts().finished, 5_000);
}

#[test]
fn a_panic_elsewhere_does_not_disable_the_store() {
    let store = MemoryStore::builder().max_records(10).build();
    finish(&store, 1, b"result");
    let poisoned = thread::scope(|scope| {
        scope
            .spawn(|| {
                let _shard = store.0.lock_shard_of(&id(1));
                panic!("while the shard is locked");
            })
            .join()
    });
    assert!(poisoned.is_err());
    assert!(replay(&store, 1).unwrap().is_some());
    grant(&store, &claim(2));
}
