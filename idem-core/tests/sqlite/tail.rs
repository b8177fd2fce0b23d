//! Keys that the index does not know yet: what several stores on one file know of them.

use idem_core::machine::{Recorded, Verdict};
use idem_core::{ManualClock, MemoryStore, SqliteStore, Store};
use rusqlite::Connection;

use crate::asks::{Dir, KEEP, LEASE, claim, clock, completion, granted, id, open, replayed};
use crate::processes::{Actor, one_of_three_gets_each_key};

fn finish(store: &SqliteStore, key: &str) {
    let claim = claim(key);
    let grant = granted(store.claim(&claim).wait());
    let recorded = store.complete(&completion(&claim, grant, key.as_bytes())).wait().unwrap();
    assert_eq!(recorded, Recorded::Stored);
}

fn finish_all(store: &SqliteStore, keys: &[&str]) {
    for key in keys {
        finish(store, key);
    }
}

/// What SQLite's online backup makes of the file, and puts back into it while stores have it open.
struct Copy(std::path::PathBuf);

impl Copy {
    fn of(dir: &Dir) -> Self {
        let copy = dir.path().join("copy.db");
        Connection::open(dir.file()).unwrap().backup("main", &copy, None).unwrap();
        Self(copy)
    }

    fn restore(&self, dir: &Dir) {
        let mut hand = Connection::open(dir.file()).unwrap();
        hand.restore("main", &self.0, None::<fn(rusqlite::backup::Progress)>).unwrap();
    }
}

/// So many in a row that the next is taken for new, and claimed without a look.
fn expecting_new_ones(dir: &Dir, clock: &ManualClock) -> SqliteStore {
    let store = open(&dir.file(), clock);
    (0..40).for_each(|n| finish(&store, &format!("before {n}")));
    store
}

#[test]
fn after_a_restore_of_a_time_before_the_index_knew_them_messages_are_known() {
    let dir = Dir::new();
    let store = expecting_new_ones(&dir, &clock());
    let copy = Copy::of(&dir);
    store.index_all().unwrap();
    // The memory of the store holds none of them any more.
    assert!(store.inspect(&id("after")).wait().unwrap().is_none());
    finish(&store, "after");
    copy.restore(&dir);
    finish(&open(&dir.file(), &clock()), "after");
    assert_eq!(replayed(store.claim(&claim("before 3")).wait()), b"before 3");
}

#[test]
fn after_a_restore_messages_that_come_again_in_nearly_the_same_order_are_known() {
    let dir = Dir::new();
    let store = expecting_new_ones(&dir, &clock());
    let copy = Copy::of(&dir);
    finish_all(&store, &["one", "two", "last"]);
    copy.restore(&dir);
    let other = open(&dir.file(), &clock());
    finish_all(&other, &["one", "another", "last"]);
    assert_eq!(replayed(store.claim(&claim("another")).wait()), b"another");
}

#[test]
fn after_a_restore_messages_are_known_behind_one_that_is_gone() {
    let (dir, clock) = (Dir::new(), clock());
    let store = expecting_new_ones(&dir, &clock);
    let copy = Copy::of(&dir);
    finish_all(&store, &["one", "last"]);
    copy.restore(&dir);
    let other = open(&dir.file(), &clock);
    finish_all(&other, &["another", "gone", "last"]);
    // A row whose fence is of this very moment stays.
    clock.advance(LEASE);
    other.forget(&id("gone"), true).wait().unwrap();
    assert_eq!(replayed(store.claim(&claim("another")).wait()), b"another");
}

/// As many as it had, fewer and more.
#[test]
fn after_a_restore_no_message_is_taken_for_one_whose_row_has_been_given_again() {
    for later in [1, 2, 3, 4, 9] {
        for (indexes, looks) in [(false, false), (true, false), (false, true), (true, true)] {
            let dir = Dir::new();
            let clock = clock();
            let store = open(&dir.file(), &clock);
            (0..2).for_each(|n| finish(&store, &format!("before {n}")));
            let copy = Copy::of(&dir);
            (2..4).for_each(|n| finish(&store, &format!("before {n}")));
            if indexes {
                store.index_all().unwrap();
            }
            copy.restore(&dir);
            let other = open(&dir.file(), &clock);
            (0..later).for_each(|n| finish(&other, &format!("after {n}")));
            for n in 0..later {
                let key = format!("after {n}");
                if looks {
                    assert!(store.inspect(&id(&key)).wait().unwrap().is_some(), "{key} of {later}");
                }
                assert_eq!(replayed(store.claim(&claim(&key)).wait()), key.as_bytes());
            }
            assert_eq!(replayed(store.claim(&claim("before 1")).wait()), b"before 1");
            finish(&store, "before 3");
        }
    }
}

/// The one that was written last is found, however it is looked for.
#[test]
fn after_a_restore_a_claim_without_a_look_finds_what_others_have_written() {
    for later in [1, 2, 3, 4] {
        let (dir, clock) = (Dir::new(), clock());
        let store = expecting_new_ones(&dir, &clock);
        let copy = Copy::of(&dir);
        (0..2).for_each(|n| finish(&store, &format!("lost {n}")));
        copy.restore(&dir);
        let other = open(&dir.file(), &clock);
        (0..later).for_each(|n| finish(&other, &format!("after {n}")));
        assert_eq!(replayed(store.claim(&claim("after 0")).wait()), b"after 0", "{later}");
    }
}

/// Three stores on one file against one in memory, with keys that go into the index all the time.
#[test]
fn what_several_stores_answer_is_what_one_in_memory_answers() {
    for seed in 1..=12_u64 {
        let dir = Dir::new();
        let clock = clock();
        let memory = MemoryStore::builder().clock(clock.clone()).build();
        let sqlite = |clock: &ManualClock, tail: usize| {
            SqliteStore::builder(dir.file()).clock(clock.clone()).tail(tail).open().unwrap()
        };
        let mut stores = [sqlite(&clock, 1), sqlite(&clock, 7), sqlite(&clock, 1 << 20)];
        let mut state = seed;
        let mut next = |bound: u64| {
            // Of the generator of Knuth's MMIX.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for step in 0..400 {
            let key = format!("key {}", next(24));
            let which = usize::try_from(next(3)).unwrap();
            let store = &stores[which];
            let told = match next(16) {
                0..7 => {
                    let claim = claim(&key);
                    let (one, other) =
                        (store.claim(&claim).wait().unwrap(), memory.claim(&claim).wait().unwrap());
                    if let (Verdict::Claimed(one), Verdict::Claimed(other)) = (&one, &other)
                        && next(3) > 0
                    {
                        let end = completion(&claim, *one, key.as_bytes());
                        let one = store.complete(&end).wait().unwrap();
                        let other =
                            memory.complete(&completion(&claim, *other, key.as_bytes())).wait().unwrap();
                        assert_eq!(one, other);
                    }
                    (told(&one), told(&other))
                }
                7..10 => {
                    let (one, other) =
                        (store.forget(&id(&key), true).wait(), memory.forget(&id(&key), true).wait());
                    (told(&one.unwrap()), told(&other.unwrap()))
                }
                10 | 11 => {
                    let state =
                        |store: &dyn Store| store.inspect(&id(&key)).wait().unwrap().map(|found| found.state);
                    (format!("{:?}", state(store)), format!("{:?}", state(&memory)))
                }
                12 => {
                    let claims: Vec<_> =
                        (0..4).map(|n| claim(&format!("key {}", (next(24) + n) % 24))).collect();
                    let all = |verdicts: Vec<Verdict>| verdicts.iter().map(told).collect::<String>();
                    let (one, other) = (store.claim_many(&claims).wait(), memory.claim_many(&claims).wait());
                    (all(one.unwrap()), all(other.unwrap()))
                }
                13 => {
                    clock.advance(if next(8) == 0 { KEEP } else { LEASE / 2 });
                    let _ = store.sweep(3).wait().unwrap();
                    continue;
                }
                14 => {
                    store.index_all().unwrap();
                    continue;
                }
                _ => {
                    stores[which] = sqlite(&clock, [1, 7, 1 << 20][which]);
                    continue;
                }
            };
            assert_eq!(told.0, told.1, "step {step} of seed {seed}, store {which}, {key}");
        }
        let hand = Connection::open(dir.file()).unwrap();
        let doubled: i64 = hand
            .query_row("select count(*) - count(distinct k) from idem_record", [], |row| row.get(0))
            .unwrap();
        assert_eq!(doubled, 0);
    }
}

/// An answer without its times and fences.
fn told(answer: &impl std::fmt::Debug) -> String {
    format!("{answer:?}").chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

#[test]
fn of_three_processes_that_index_all_the_time_one_gets_each_key() {
    one_of_three_gets_each_key("race and index");
}

/// As a program does that is started for each message, and ends before its writer comes to the index.
#[test]
fn keys_go_into_the_index_though_no_process_lives_for_long() {
    let dir = Dir::new();
    let upto = || -> i64 {
        let hand = Connection::open(dir.file()).unwrap();
        hand.query_row("select upto from idem_index", [], |row| row.get(0)).unwrap()
    };
    let store = open(&dir.file(), &clock());
    (0..40).for_each(|n| finish(&store, &format!("key {n}")));
    drop(store);
    assert_eq!(upto(), 0);
    for _ in 0..32 {
        drop(SqliteStore::builder(dir.file()).clock(clock()).tail(40).open().unwrap());
    }
    assert_eq!(upto(), 40);
}

/// It is killed at some step, and what it has not put there others do.
#[test]
fn keys_that_a_killed_process_was_putting_into_the_index_are_found() {
    let dir = Dir::new();
    let idle = open(&dir.file(), &clock());
    finish(&idle, "of the idle one");
    for round in 0..4 {
        let mut worker = Actor::start("finish and index", &dir.file());
        let said: Vec<String> = (0..50 + 40 * round).map(|_| worker.hears()).collect();
        worker.kill();
        let fresh = open(&dir.file(), &clock());
        for key in &said {
            assert_eq!(replayed(fresh.claim(&claim(key)).wait()), key.as_bytes());
        }
        if round % 2 == 1 {
            fresh.index_all().unwrap();
        }
        for key in said.iter().rev().take(20) {
            assert_eq!(replayed(idle.claim(&claim(key)).wait()), key.as_bytes());
        }
    }
    assert_eq!(replayed(idle.claim(&claim("of the idle one")).wait()), b"of the idle one");
}
