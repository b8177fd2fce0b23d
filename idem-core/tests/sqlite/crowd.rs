//! Many callers in one process.

use std::sync::Barrier;
use std::task::Poll;
use std::time::Duration;

use idem_core::machine::{Claim, Forgotten, OnLapse, Prior, Recorded, StateKind, Verdict};
use idem_core::{
    Classed, Error, Handler, Idempotent, Key, ManualClock, SqliteStore, Store, StoreClass, StoreErrorKind,
    Timestamp,
};
use rusqlite::Connection;

use crate::asks::{Dir, KEEP, LEASE, awaited, claim, clock, completion, granted, id, open, poll, replayed};

#[test]
fn after_a_panic_of_a_plain_function_the_claim_is_back_at_once() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let work = Idempotent::new(&store, Handler::new("tests.panic"));
    let key = Key::trusted("msg:1", "a test's only message").unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        work.run_blocking(&key, || -> Result<u32, Error> { panic!("boom") })
    }));
    assert!(panicked.is_err());
    let again = work.run_blocking(&key, || Ok::<u32, Error>(7)).unwrap();
    assert!(again.is_executed());
}

#[test]
fn of_sixteen_threads_one_gets_each_key() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let barrier = Barrier::new(16);
    let grants: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|thread| {
                let (store, barrier) = (&store, &barrier);
                scope.spawn(move || {
                    let mut grants = 0;
                    for key in 0..32 {
                        barrier.wait();
                        let reply = store.claim(&claim(&format!("key {key}")));
                        let verdict = if thread % 2 == 0 { reply.wait() } else { awaited(reply) };
                        match verdict.unwrap() {
                            Verdict::Claimed(_) => grants += 1,
                            Verdict::InProgress { tries: 1, .. } => {}
                            other => panic!("{other:?}"),
                        }
                    }
                    grants
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(grants, 32);
}

#[test]
fn completions_that_come_together_share_a_commit() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let claims: Vec<_> = (0..64).map(|n| claim(&format!("key {n}"))).collect();
    let grants: Vec<_> = claims.iter().map(|claim| granted(store.claim(claim).wait())).collect();
    let before = store.commits();

    // A neighbour's lock holds the writer up until all are there.
    let neighbour = Connection::open(dir.file()).unwrap();
    neighbour.execute_batch("begin immediate").unwrap();
    let mut replies: Vec<_> = claims
        .iter()
        .zip(&grants)
        .map(|(claim, grant)| store.complete(&completion(claim, *grant, b"done")))
        .collect();
    for reply in &mut replies {
        assert!(poll(reply).is_pending());
    }
    neighbour.execute_batch("commit").unwrap();
    for reply in replies {
        assert_eq!(awaited(reply).unwrap(), Recorded::Stored);
    }
    // The first may have gone alone, before the others came.
    assert!(store.commits() - before <= 2, "{} commits", store.commits() - before);
}

#[test]
fn a_dropped_reply_takes_effect_and_the_last_handle_waits_for_it() {
    let dir = Dir::new();
    let clock = clock();
    let store = open(&dir.file(), &clock);
    let (polled, unpolled, late) = (claim("polled"), claim("unpolled"), claim("late"));
    let [one, two, three] = [&polled, &unpolled, &late].map(|claim| granted(store.claim(claim).wait()));
    let mut reply = store.complete(&completion(&polled, one, b"1"));
    let _ = poll(&mut reply);
    drop(reply);
    drop(store.complete(&completion(&unpolled, two, b"2")));
    let outlives_the_store = store.complete(&completion(&late, three, b"3"));
    drop(store);
    drop(outlives_the_store);

    let store = open(&dir.file(), &clock);
    assert_eq!(replayed(store.claim(&claim("polled")).wait()), b"1");
    assert_eq!(replayed(store.claim(&claim("unpolled")).wait()), b"2");
    assert_eq!(replayed(store.claim(&claim("late")).wait()), b"3");
}

#[test]
fn a_duplicate_is_answered_while_another_connection_holds_the_write_lock() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).busy_timeout(Duration::from_millis(20)).open().unwrap();
    let (done, running) = (claim("done"), claim("running"));
    let grant = granted(store.claim(&done).wait());
    let _ = store.complete(&completion(&done, grant, b"result")).wait().unwrap();
    let _ = granted(store.claim(&running).wait());

    let neighbour = Connection::open(dir.file()).unwrap();
    neighbour.execute_batch("begin exclusive").unwrap();
    assert_eq!(replayed(store.claim(&claim("done")).wait()), b"result");
    let verdict = store.claim(&claim("running")).wait().unwrap();
    assert!(matches!(verdict, Verdict::InProgress { .. }), "{verdict:?}");
    assert_eq!(store.inspect(&id("done")).wait().unwrap().unwrap().state, StateKind::Done);
}

#[test]
fn a_claim_on_a_quiet_store_is_granted_where_it_is_made_and_seen_by_others() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let other = SqliteStore::open(dir.file()).unwrap();
    let reply = store.claim(&claim("new"));
    assert!(matches!(reply.peek(), Some(Ok(Verdict::Claimed(_)))), "{reply:?}");
    let verdict = other.claim(&claim("new")).wait().unwrap();
    assert!(matches!(verdict, Verdict::InProgress { .. }), "{verdict:?}");

    let reply = store.claim(&Claim { durable: true, ..claim("must last") });
    assert!(reply.peek().is_none(), "this one waits for the disk");
    let _ = granted(reply.wait());
}

#[test]
fn a_claim_that_finds_the_lock_taken_waits_for_it_and_not_on_the_callers_thread() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).busy_timeout(Duration::from_secs(60)).open().unwrap();
    let neighbour = Connection::open(dir.file()).unwrap();
    neighbour.execute_batch("begin immediate").unwrap();
    let mut reply = store.claim(&claim("new"));
    assert!(poll(&mut reply).is_pending());
    neighbour.execute_batch("commit").unwrap();
    assert_eq!(granted(awaited(reply)).tries, 1);
}

#[test]
fn a_duplicate_among_many_new_messages_is_found_by_the_writer_and_the_next_by_a_look() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).busy_timeout(Duration::from_secs(60)).open().unwrap();
    let done = claim("done");
    let grant = granted(store.claim(&done).wait());
    let _ = store.complete(&completion(&done, grant, b"result")).wait().unwrap();

    let neighbour = Connection::open(dir.file()).unwrap();
    neighbour.execute_batch("begin immediate").unwrap();
    let claims: Vec<_> = (0..40).map(|n| claim(&format!("new {n}"))).collect();
    let waits = |claim| {
        let mut reply = store.claim(claim);
        assert!(poll(&mut reply).is_pending());
        reply
    };
    let replies: Vec<_> = claims.iter().map(waits).collect();
    let mut duplicate = store.claim(&claim("done"));
    assert!(poll(&mut duplicate).is_pending(), "nobody looked, because all others were new");
    neighbour.execute_batch("commit").unwrap();
    assert_eq!(replayed(awaited(duplicate)), b"result");
    for reply in replies {
        assert_eq!(granted(awaited(reply)).tries, 1);
    }

    neighbour.execute_batch("begin immediate").unwrap();
    let mut new = store.claim(&claim("one more"));
    assert!(poll(&mut new).is_pending());
    assert_eq!(replayed(store.claim(&claim("done")).wait()), b"result");
    neighbour.execute_batch("commit").unwrap();
    let _ = granted(awaited(new));
}

#[test]
fn a_lock_that_is_not_given_up_is_unavailable_for_all_who_wait_and_the_store_goes_on() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).busy_timeout(Duration::from_millis(20)).open().unwrap();
    let neighbour = Connection::open(dir.file()).unwrap();
    neighbour.execute_batch("begin exclusive").unwrap();
    let claims: Vec<_> = (0..8).map(|n| claim(&format!("key {n}"))).collect();
    let mut replies: Vec<_> = claims.iter().map(|claim| store.claim(claim)).collect();
    for reply in &mut replies {
        let _: Poll<_> = poll(reply);
    }
    // And on the caller's own thread.
    let mut errors = vec![store.claim(&claim("waits")).wait().unwrap_err()];
    errors.extend(replies.into_iter().filter_map(|reply| awaited(reply).err()));
    for error in &errors {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.is_transient());
        assert!(error.to_string().contains("idem.db") && error.to_string().contains("lock"), "{error}");
    }
    neighbour.execute_batch("commit").unwrap();

    // Sent again with the same token; nothing was half done.
    for claim in &claims {
        assert_eq!(granted(store.claim(claim).wait()).tries, 1);
    }
}

#[test]
fn records_outlive_the_store_that_wrote_them() {
    let dir = Dir::new();
    let clock = clock();
    let bodies: [&[u8]; 4] = [b"", b"\0\0", b"\xff\xfe\xc3\x28", &vec![0x5a; 1 << 20]];
    let store = open(&dir.file(), &clock);
    for (n, body) in bodies.iter().enumerate() {
        let claim = claim(&n.to_string());
        let grant = granted(store.claim(&claim).wait());
        assert_eq!(store.complete(&completion(&claim, grant, body)).wait().unwrap(), Recorded::Stored);
    }
    let held = claim("held");
    let first = granted(store.claim(&held).wait());
    drop(store);

    let store = open(&dir.file(), &clock);
    for (n, body) in bodies.iter().enumerate() {
        assert_eq!(replayed(store.claim(&claim(&n.to_string())).wait()), *body);
    }
    let again = granted(store.claim(&held).wait());
    assert!(again.resumed);
    assert_eq!(again.fence, first.fence);
    clock.advance(LEASE);
    let next = granted(store.claim(&claim("held")).wait());
    assert_eq!((next.tries, next.prior), (2, Prior::Lapsed));
    assert!(next.fence > first.fence);
}

#[test]
fn fences_grow_across_deletion() {
    let dir = Dir::new();
    let clock = clock();
    let store = open(&dir.file(), &clock);
    let first = granted(store.claim(&claim("key")).wait());
    let forgotten = store.forget(&id("key"), true).wait().unwrap();
    assert!(matches!(forgotten, Forgotten::Forgotten(_)), "{forgotten:?}");
    assert!(granted(store.claim(&claim("key")).wait()).fence > first.fence);
}

#[test]
fn fences_grow_across_deletion_though_the_clock_was_set_back() {
    let dir = Dir::new();
    let first = granted(open(&dir.file(), &clock()).claim(&claim("key")).wait());
    let hour = Duration::from_secs(3_600);
    let earlier = ManualClock::at(Timestamp::from_micros(clock().now().as_micros() - 3_600_000_000));
    let store = open(&dir.file(), &earlier);
    let _ = store.forget(&id("key"), true).wait().unwrap();
    assert_eq!(store.inspect(&id("key")).wait().unwrap(), None);
    assert_eq!(store.forget(&id("key"), true).wait().unwrap(), Forgotten::Absent);
    let second = granted(store.claim(&claim("key")).wait());
    assert!(second.fence > first.fence && second.tries == 1, "{first:?}, {second:?}");

    let _ = store.forget(&id("key"), true).wait().unwrap();
    assert_eq!((store.sweep(9).wait().unwrap(), rows(&dir)), (0, 1), "its fence is still ahead");
    earlier.advance(hour + Duration::from_secs(1));
    assert_eq!((store.sweep(9).wait().unwrap(), rows(&dir)), (1, 0));
}

#[test]
fn a_sweep_deletes_what_has_ended_and_no_more_than_asked() {
    let dir = Dir::new();
    let clock = clock();
    let store = open(&dir.file(), &clock);
    let claims: Vec<_> = (0..10).map(|n| claim(&format!("old {n}"))).collect();
    assert_eq!(store.claim_many(&claims).wait().unwrap().len(), 10);
    assert_eq!(store.sweep(100).wait().unwrap(), 0);
    clock.advance(KEEP);
    let _ = granted(store.claim(&claim("new")).wait());
    assert_eq!(store.sweep(3).wait().unwrap(), 3);
    assert_eq!(awaited(store.sweep(0)).unwrap(), 0);
    assert_eq!(awaited(store.sweep(100)).unwrap(), 7);
    assert_eq!(rows(&dir), 1);
    assert!(store.inspect(&id("new")).wait().unwrap().is_some());
}

#[test]
fn dead_records_go_along_with_later_writes() {
    let dir = Dir::new();
    let clock = clock();
    let store = open(&dir.file(), &clock);
    for round in 0..10 {
        let claims: Vec<_> = (0..1_000).map(|n| claim(&format!("{round}:{n}"))).collect();
        let verdicts = store.claim_many(&claims).wait().unwrap();
        assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::Claimed(_))));
        // Housekeeping comes with the transaction after.
        let _ = granted(store.claim(&claim(&format!("{round}"))).wait());
        clock.advance(KEEP);
    }
    assert!(rows(&dir) < 3_100, "{} rows", rows(&dir));
}

#[test]
fn a_sweep_of_many_rows_takes_many_transactions() {
    let dir = Dir::new();
    let clock = clock();
    let store = open(&dir.file(), &clock);
    let claims: Vec<_> = (0..10_000).map(|n| claim(&format!("{n}"))).collect();
    assert_eq!(store.claim_many(&claims).wait().unwrap().len(), 10_000);
    clock.advance(KEEP);
    let before = store.commits();
    assert_eq!(awaited(store.sweep(usize::MAX)).unwrap(), 10_000);
    assert!(store.commits() - before > 2);
}

#[test]
fn of_two_equal_keys_in_one_request_the_second_is_judged_after_the_first() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let claims = [claim("a"), claim("b"), claim("a")];
    let verdicts = awaited(store.claim_many(&claims)).unwrap();
    assert!(
        matches!(verdicts[..], [Verdict::Claimed(_), Verdict::Claimed(_), Verdict::InProgress { .. }]),
        "{verdicts:?}"
    );
}

#[test]
fn a_parked_message_waits_for_a_person_after_its_holder_fell_silent() {
    let dir = Dir::new();
    let clock = clock();
    let store = open(&dir.file(), &clock);
    let parked = |key| idem_core::machine::Claim { on_lapse: OnLapse::Park, ..claim(key) };
    let _ = granted(store.claim(&parked("key")).wait());
    clock.advance(LEASE);
    assert!(matches!(store.claim(&parked("key")).wait().unwrap(), Verdict::Lapsed { tries: 1, .. }));
}

#[test]
fn its_class_is_transactional() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    assert_eq!(store.handle().class(), StoreClass::Transactional);
    assert_eq!(<SqliteStore as Classed>::CLASS, Some(StoreClass::Transactional));
}

fn rows(dir: &Dir) -> i64 {
    let connection = Connection::open(dir.file()).unwrap();
    connection.query_row("select count(*) from idem_record", [], |row| row.get(0)).unwrap()
}
