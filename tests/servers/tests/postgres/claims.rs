//! Who gets a claim, under load and in the narrow places between two sessions.

use std::time::Duration;

use idem::machine::{Forgotten, OnLapse, Prior, Recorded, Released, Renewal, Renewed, StateKind, Verdict};
use idem::{Fingerprint, ManualClock, PostgresStore, Store, StoreError, StoreErrorKind, Timestamp, Token};
use sqlx::postgres::PgConnectOptions;

use crate::asks::{again, ask, claim, complete, ending, granted, id, judged, replayed};
use crate::database::{
    NOW, Other, execute, fresh, fresh_name, migrated, number, open, run, spawn, url, wait_for,
};

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f01_of_sixty_four_tasks_one_gets_each_key() {
    let builder = fresh();
    let stores = [open(&builder), open(&builder)];
    let grants = run(async {
        let mut grants = 0;
        for round in 0..40 {
            let tasks: Vec<_> = (0..64)
                .map(|task| {
                    let store = stores[task % 2].clone();
                    tokio::spawn(async move { store.claim(&claim(&format!("key {round}"))).await })
                })
                .collect();
            for task in tasks {
                match task.await.expect("no panic").expect("no error") {
                    Verdict::Claimed(_) => grants += 1,
                    Verdict::InProgress { tries: 1, .. } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        grants
    });
    assert_eq!(grants, 40);
}

/// The first store's statement takes its snapshot, and then waits where it reads the clock, until the second's claim has been
/// committed: it finds neither a record to see nor one to write.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f04_an_empty_answer_is_asked_again_and_is_no_grant() {
    let builder = fresh();
    let other = open(&builder);
    let schema = fresh_name();
    let lock = number(&url(), "select (random() * 1000000000)::bigint");
    execute(
        &url(),
        &format!(
            "create schema {schema};
             create function {schema}.clock_timestamp() returns timestamptz language sql volatile as
                 'select pg_catalog.clock_timestamp() from pg_advisory_xact_lock_shared({lock})';"
        ),
    );
    let options: PgConnectOptions = url().parse().expect("a URL");
    let options = options.options([("search_path", format!("{schema},pg_catalog"))]);
    let slow = open(&PostgresStore::builder(options).schema(schema_of(&builder)));

    let mut gate = Other::at(&url());
    gate.does(&format!("select pg_advisory_lock({lock})"));
    let message = claim("contested");
    let waiting = {
        let (slow, claim) = (slow.clone(), again(&message));
        spawn(async move { slow.claim(&claim).await })
    };
    let waits = format!(
        "select count(*) from pg_locks where locktype = 'advisory' and objid = {lock} and not granted"
    );
    wait_for(&url(), &waits, 1);
    granted(&other, &message);
    gate.does(&format!("select pg_advisory_unlock({lock})"));
    let verdict = run(waiting).expect("no panic").expect("a verdict");
    assert!(matches!(verdict, Verdict::InProgress { tries: 1, .. }), "{verdict:?}");
}

fn schema_of(builder: &idem::PostgresStoreBuilder) -> String {
    let schema = builder.print_schema().expect("valid names");
    schema.split('"').nth(1).expect("a quoted schema").to_owned()
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f05_a_stale_owner_does_not_overwrite_its_successor() {
    let store = open(&fresh());
    let first = idem::machine::Claim { lease: Duration::ZERO, ..claim("stale") };
    let old = granted(&store, &first);
    let second = again(&first);
    let new = granted(&store, &second);
    assert_eq!((new.tries, new.prior), (2, Prior::Lapsed));
    assert!(new.fence > old.fence);
    assert_eq!(complete(&store, &ending(&second, new, b"second")), Recorded::Stored);
    let late = complete(&store, &ending(&first, old, b"first"));
    assert_eq!(late, Recorded::Superseded { state: StateKind::Done, fence: new.fence });
    assert_eq!(replayed(&store, &first), b"second");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f06_nobody_releases_a_claim_that_is_not_theirs() {
    let store = open(&fresh());
    let first = claim("held");
    granted(&store, &first);
    let refused = again(&first);
    assert!(matches!(judged(&store, &refused), Verdict::InProgress { .. }));
    let released = run(async { store.release(&refused.id, &refused.token).await });
    assert_eq!(released.expect("an answer"), Released::Superseded);
    assert!(matches!(judged(&store, &refused), Verdict::InProgress { tries: 1, .. }));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f07_a_renewal_after_a_takeover_is_lost() {
    let store = open(&fresh());
    let first = idem::machine::Claim { lease: Duration::ZERO, ..claim("starved") };
    granted(&store, &first);
    granted(&store, &again(&first));
    let renewal = Renewal { id: first.id, token: first.token, lease: Duration::from_secs(30) };
    let renewed = run(async { store.renew(&renewal).await }).expect("an answer");
    assert_eq!(renewed, Renewed::Lost(Some(StateKind::Held)));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f08_a_lapsed_claim_that_nobody_took_is_renewed_and_completed() {
    let store = open(&fresh());
    let first = idem::machine::Claim { lease: Duration::ZERO, ..claim("lapsed") };
    let grant = granted(&store, &first);
    let renewal = Renewal { id: first.id, token: first.token, lease: Duration::ZERO };
    let renewed = run(async { store.renew(&renewal).await }).expect("an answer");
    assert_eq!(renewed, Renewed::Renewed { remaining: Duration::ZERO });
    assert_eq!(complete(&store, &ending(&first, grant, b"late")), Recorded::Stored);
    assert_eq!(replayed(&store, &first), b"late");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f09_a_claim_without_the_end_of_its_lease_is_never_free_and_said_to_be_damaged() {
    let builder = fresh();
    let (store, table) = (open(&builder), format!("{}.idem_record", schema_of(&builder)));
    let (first, done) = (claim("endless"), claim("done, and held"));
    granted(&store, &first);
    let grant = granted(&store, &done);
    complete(&store, &ending(&done, grant, b"done"));
    let mut other = Other::at(&url());
    other.does(&format!("update {table} set lease_at = case when lease_at is null then 1 end"));
    let damaged = |error: StoreError| {
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        assert!(error.to_string().contains("`lease_at`"), "{error}");
    };
    let duplicates = |count| {
        let store = open(&builder);
        let finished = claim("finished");
        match judged(&store, &finished) {
            Verdict::Claimed(grant) => drop(complete(&store, &ending(&finished, grant, b""))),
            other => assert!(matches!(other, Verdict::Completed { .. }), "{other:?}"),
        }
        (0..count).for_each(|_| drop(replayed(&store, &finished)));
        store
    };
    // With none, some and many duplicates before, a claim asks differently.
    for store in [0, 3, 30].map(duplicates) {
        damaged(ask(&store, &again(&first)).expect_err("a damaged record is no verdict"));
        damaged(ask(&store, &again(&done)).expect_err("a damaged record is no verdict"));
    }
    damaged(
        run(async { store.claim_many(&[again(&first)]).await }).expect_err("a damaged record is no verdict"),
    );
    damaged(run(async { store.release(&first.id, &Token::fresh()).await }).expect_err("no answer"));
    damaged(run(async { store.inspect(&first.id).await }).expect_err("no snapshot"));
    // Deleted on an operator's word, it is gone, and nobody can say what it was.
    assert_eq!(run(async { store.forget(&first.id, true).await }).expect("an answer"), Forgotten::Absent);
    granted(&store, &again(&first));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f10_the_longest_and_the_shortest_leases_are_what_they_say() {
    let store = open(&fresh());
    let long = idem::machine::Claim { lease: Duration::MAX, keep: Duration::MAX, ..claim("long") };
    granted(&store, &long);
    let Verdict::InProgress { remaining, .. } = judged(&store, &again(&long)) else { panic!("not held") };
    assert!(remaining > Duration::from_secs(1 << 40), "{remaining:?}");
    for short in [Duration::ZERO, Duration::from_nanos(999)] {
        let claim = idem::machine::Claim { lease: short, ..claim(&format!("{short:?}")) };
        granted(&store, &claim);
        assert_eq!(granted(&store, &again(&claim)).prior, Prior::Lapsed);
    }
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f38_a_consumer_whose_clock_is_wrong_gets_the_same_verdicts() {
    let builder = fresh();
    let right = open(&builder);
    let next_century = Timestamp::from_micros(4_500_000_000_000_000);
    let wrong = open(&builder.clock(ManualClock::at(next_century)));
    let first = claim("skewed");
    granted(&right, &first);
    assert!(matches!(judged(&wrong, &again(&first)), Verdict::InProgress { tries: 1, .. }));
    let second = claim("skewed, the other way");
    granted(&wrong, &second);
    assert!(matches!(judged(&right, &again(&second)), Verdict::InProgress { tries: 1, .. }));
}

/// Holds a row for longer than the lease, and tells when it let go.
fn holds(mut other: Other, rest: &'static str) -> std::thread::JoinHandle<i64> {
    std::thread::spawn(move || {
        let let_go = other.finds(&format!("{NOW} from pg_sleep(0.6)"));
        other.does(rest);
        let_go
    })
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f40_a_claim_that_waited_for_another_session_has_a_whole_lease() {
    let builder = fresh();
    let (store, table) = (open(&builder), format!("{}.idem_record", schema_of(&builder)));
    let lease = Duration::from_millis(400);
    let lease_at = |key: &str| {
        number(&url(), &format!("select lease_at from {table} where k = '\\x{}'", hex(id(key).as_bytes())))
    };

    // A new record, which the other session takes back in the end.
    let fresh = idem::machine::Claim { lease, ..claim("new") };
    let mut other = Other::at(&url());
    other.does(&format!(
        "begin; insert into {table} (k, st, token, fence, tries, made_at, drop_at) \
         values ('\\x{}', 0, '\\x{:032}', 1, 1, 1, 1)",
        hex(fresh.id.as_bytes()),
        0
    ));
    let held = holds(other, "rollback");
    let grant = granted(&store, &fresh);
    assert_eq!((grant.tries, grant.resumed), (1, false));
    assert!(lease_at("new") >= held.join().expect("no panic") + 400_000);

    // A lapsed one, which the other session only looked at, under a lock.
    let lapsed = idem::machine::Claim { lease: Duration::ZERO, ..claim("lapsed") };
    granted(&store, &lapsed);
    let lock = format!("begin; select from {table} where k = '\\x{}' for update", hex(lapsed.id.as_bytes()));
    let mut other = Other::at(&url());
    other.does(&lock);
    let held = holds(other, "commit");
    let next = idem::machine::Claim { lease, ..again(&lapsed) };
    granted(&store, &next);
    assert!(lease_at("lapsed") >= held.join().expect("no panic") + 400_000);

    // And a renewal of it.
    let mut other = Other::at(&url());
    other.does(&lock);
    let held = holds(other, "commit");
    let renewal = Renewal { id: next.id, token: next.token, lease };
    let renewed = run(async { store.renew(&renewal).await }).expect("an answer");
    assert_eq!(renewed, Renewed::Renewed { remaining: lease });
    assert!(lease_at("lapsed") >= held.join().expect("no panic") + 400_000);
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f48_a_database_that_serializes_by_default_grants_each_key_once() {
    let url = crate::database::database(&[("default_transaction_isolation", "serializable")]);
    let own = migrated(PostgresStore::builder(url.as_str()));
    let pool = run(sqlx::PgPool::connect(&url)).expect("a pool");
    for builder in [own, PostgresStore::builder(pool)] {
        let store = open(&builder);
        let round = fresh_name();
        run(async {
            for key in 0..16 {
                let tasks: Vec<_> = (0..16)
                    .map(|_| {
                        let (store, claim) = (store.clone(), claim(&format!("{round} {key}")));
                        tokio::spawn(async move { store.claim(&claim).await.map(|verdict| (claim, verdict)) })
                    })
                    .collect();
                let mut grants = 0;
                for task in tasks {
                    match task.await.expect("no panic") {
                        Ok((claim, Verdict::Claimed(grant))) => {
                            grants += 1;
                            let recorded = store.complete(&ending(&claim, grant, b"done")).await;
                            assert_eq!(recorded.expect("an answer"), Recorded::Stored);
                        }
                        Ok(_) => {}
                        // Sixteen sessions that meet on one row eight times in a row: no answer, and no run.
                        Err(error) => assert_eq!(error.kind(), StoreErrorKind::Unavailable),
                    }
                }
                assert_eq!(grants, 1);
            }
        });
    }
}

/// Nobody has swept: the row is there, and whoever asks takes it for what it is.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f53_a_record_whose_time_has_passed_is_claimed_anew_in_the_same_step() {
    let builder = fresh();
    let (store, table) = (open(&builder), format!("{}.idem_record", schema_of(&builder)));
    for (state, batch) in
        ["open", "held", "done", "failed"].into_iter().flat_map(|state| [(state, false), (state, true)])
    {
        let key = format!("{state}, {batch}");
        // Of another payload, of a handler that would leave a lapse to a person, at its last try.
        let before = idem::machine::Claim {
            fingerprint: Some(Fingerprint::from_bytes([7; 16])),
            on_lapse: OnLapse::Park,
            max_tries: 1,
            ..claim(&key)
        };
        let old = granted(&store, &before);
        let end = ending(&before, old, b"old");
        run(async {
            match state {
                "open" => {
                    let released = store.release(&before.id, &before.token).await.expect("an answer");
                    assert!(matches!(released, Released::Released { .. }), "{released:?}");
                }
                "done" => assert_eq!(store.complete(&end).await.expect("an answer"), Recorded::Stored),
                "failed" => assert_eq!(store.fail(&end).await.expect("an answer"), Recorded::Stored),
                _ => {}
            }
        });
        let row = format!("k = '\\x{}'", hex(before.id.as_bytes()));
        execute(&url(), &format!("update {table} set drop_at = ({NOW}) where {row}"));
        let late = format!("select count(*) from {table} where {row} and drop_at <= ({NOW})");

        assert_eq!(run(async { store.inspect(&before.id).await }).expect("an answer"), None, "{key}");
        let renewal = Renewal { id: before.id, token: before.token, lease: Duration::from_secs(30) };
        let renewed = run(async { store.renew(&renewal).await }).expect("an answer");
        assert_eq!(renewed, Renewed::Lost(None), "{key}");
        assert_eq!(number(&url(), &late), 1, "{key}: it was there all the time");

        let new = if batch {
            let asked = [claim(&key), claim(&key)];
            match run(async { store.claim_many(&asked).await }).expect("verdicts")[..] {
                [Verdict::Claimed(grant), Verdict::InProgress { tries: 1, .. }] => grant,
                ref other => panic!("{key}: {other:?}"),
            }
        } else {
            granted(&store, &claim(&key))
        };
        assert_eq!((new.tries, new.prior, new.resumed), (1, Prior::None, false), "{key}");
        assert!(new.first_age.is_zero() && new.fence > old.fence, "{key}: {new:?}");
        assert_eq!(number(&url(), &late), 0, "{key}: it is the new one's");
        assert!(matches!(judged(&store, &claim(&key)), Verdict::InProgress { tries: 1, .. }), "{key}");
    }
    assert_eq!(number(&url(), &format!("select count(*) from {table}")), 8, "nothing was swept");
}
