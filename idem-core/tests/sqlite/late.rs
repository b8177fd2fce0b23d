//! Records whose time has passed, and that nobody has deleted yet (F53).

use std::time::Duration;

use idem_core::machine::{
    Claim, Forgotten, Grant, OnLapse, Prior, Recorded, Released, Renewal, Renewed, Verdict,
};
use idem_core::{Fingerprint, ManualClock, SqliteStore, Store};
use rusqlite::Connection;

use crate::asks::{Dir, KEEP, LEASE, awaited, claim, clock, completion, granted, id, open, poll};

const STATES: [&str; 4] = ["open", "held", "done", "failed"];

/// A file with one record in this state, whose time has passed: it is there, and so is its index entry.
fn late(state: &str) -> (Dir, ManualClock, SqliteStore, Claim) {
    let (dir, clock) = (Dir::new(), clock());
    let store = open(&dir.file(), &clock);
    // Of another payload, asked for by a handler that would leave a lapse to a person, at its last try.
    let before = Claim {
        fingerprint: Some(Fingerprint::from_bytes([7; 16])),
        on_lapse: OnLapse::Park,
        max_tries: 1,
        ..claim("key")
    };
    let grant = granted(store.claim(&before).wait());
    let end = completion(&before, grant, b"old");
    match state {
        "open" => {
            let released = store.release(&before.id, &before.token).wait().unwrap();
            assert!(matches!(released, Released::Released { .. }), "{released:?}");
        }
        "done" => assert_eq!(store.complete(&end).wait().unwrap(), Recorded::Stored),
        "failed" => assert_eq!(store.fail(&end).wait().unwrap(), Recorded::Stored),
        _ => {}
    }
    clock.advance(KEEP);
    assert_eq!(rows(&dir, &clock), (1, 1), "{state}");
    (dir, clock, store, before)
}

/// How many rows there are, and of how many the time has passed, as another program finds them.
fn rows(dir: &Dir, clock: &ManualClock) -> (i64, i64) {
    let connection = Connection::open(dir.file()).unwrap();
    let count = "select count(*), count(*) filter (where drop_at <= ?1) from idem_record";
    let now = i64::try_from(clock.now().as_micros()).unwrap();
    connection.query_row(count, [now], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

fn is_new(grant: Grant, state: &str) {
    assert_eq!((grant.tries, grant.prior, grant.resumed), (1, Prior::None, false), "{state}");
    assert!(grant.first_age.is_zero(), "{state}");
}

/// On the caller's thread, by the writer, and in a batch: each asks in its own way.
#[test]
fn f53_a_record_whose_time_has_passed_is_claimed_anew_in_the_same_step() {
    for state in STATES {
        let (dir, clock, store, _) = late(state);
        is_new(granted(store.claim(&claim("key")).wait()), state);
        assert_eq!(rows(&dir, &clock), (1, 0), "{state}");
        let duplicate = store.claim(&claim("key")).wait().unwrap();
        assert!(matches!(duplicate, Verdict::InProgress { tries: 1, .. }), "{state}: {duplicate:?}");

        let (dir, clock, store, _) = late(state);
        let neighbour = Connection::open(dir.file()).unwrap();
        neighbour.execute_batch("begin immediate").unwrap();
        let mut reply = store.claim(&claim("key"));
        assert!(poll(&mut reply).is_pending());
        neighbour.execute_batch("commit").unwrap();
        is_new(granted(awaited(reply)), state);
        assert_eq!(rows(&dir, &clock), (1, 0), "{state}");

        let (dir, clock, store, _) = late(state);
        match store.claim_many(&[claim("key"), claim("key")]).wait().unwrap()[..] {
            [Verdict::Claimed(grant), Verdict::InProgress { tries: 1, .. }] => is_new(grant, state),
            ref other => panic!("{state}: {other:?}"),
        }
        assert_eq!(rows(&dir, &clock), (1, 0), "{state}");
    }
}

#[test]
fn f53_a_record_whose_time_has_passed_is_seen_by_nobody() {
    for state in STATES {
        let (dir, clock, store, before) = late(state);
        assert_eq!(store.inspect(&id("key")).wait().unwrap(), None, "{state}");
        let renewal = Renewal { id: before.id, token: before.token, lease: LEASE };
        assert_eq!(store.renew(&renewal).wait().unwrap(), Renewed::Lost(None), "{state}");
        assert_eq!(rows(&dir, &clock), (1, 1), "{state}: it was there all the time");
        assert_eq!(store.forget(&id("key"), false).wait().unwrap(), Forgotten::Absent, "{state}");
    }
}

#[test]
fn f53_a_record_lives_until_the_instant_of_its_end() {
    let (dir, clock) = (Dir::new(), clock());
    let store = open(&dir.file(), &clock);
    let first = claim("key");
    let grant = granted(store.claim(&first).wait());
    assert_eq!(store.complete(&completion(&first, grant, b"old")).wait().unwrap(), Recorded::Stored);
    let last = Duration::from_micros(1);
    clock.advance(KEEP.saturating_sub(last));
    let verdict = store.claim(&claim("key")).wait().unwrap();
    assert!(matches!(verdict, Verdict::Completed { .. }), "{verdict:?}");
    clock.advance(last);
    is_new(granted(store.claim(&claim("key")).wait()), "done");
}
