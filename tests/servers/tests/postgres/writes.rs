//! What operations write, and what they don't.

use std::time::Duration;

use idem::machine::{Claim, End, Ended, OnLapse, Recorded, Released, Renewal, Verdict};
use idem::{PostgresStore, Store, Token};
use idem_servers::PostgresServer;

use crate::asks::{again, claim, complete, ending, granted, judged};
use crate::database::{execute, migrated, number, open, run, wait_for};

/// Nothing but a test writes to its log.
fn quiet_server() -> PostgresServer {
    PostgresServer::start(&[
        "wal_level=minimal",
        "max_wal_senders=0",
        "autovacuum=off",
        "checkpoint_timeout=1h",
        "bgwriter_lru_maxpages=0",
    ])
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn duplicates_write_nothing_and_lock_nothing() {
    let server = quiet_server();
    let url = server.url("postgres");
    let builder = migrated(PostgresStore::builder(url.as_str()));
    let store = open(&builder);
    let (held, done, failed, lapsed) = (claim("held"), claim("done"), claim("failed"), claim("lapsed"));
    granted(&store, &held);
    let grant = granted(&store, &done);
    complete(&store, &ending(&done, grant, b"done"));
    let grant = granted(&store, &failed);
    run(async { store.fail(&ending(&failed, grant, b"no")).await }).expect("an answer");
    granted(&store, &Claim { lease: Duration::ZERO, ..lapsed.clone() });
    // The first look at a page after a write to it may set a hint.
    let look = |claim: &Claim, expected: fn(&Verdict) -> bool| {
        let parked = Claim { token: Token::fresh(), on_lapse: OnLapse::Park, ..claim.clone() };
        let verdict = judged(&store, &parked);
        assert!(expected(&verdict), "{verdict:?}");
        let verdicts = run(async { store.claim_many(&[again(&parked), again(&parked)]).await });
        assert!(verdicts.expect("verdicts").iter().all(expected));
    };
    let mut before = None;
    let written = || number(&url, "select (pg_current_wal_insert_lsn() - '0/0')::bigint");
    let transactions = || number(&url, "select txid_snapshot_xmax(txid_current_snapshot())");
    for _ in 0..100 {
        look(&held, |verdict| matches!(verdict, Verdict::InProgress { .. }));
        look(&done, |verdict| matches!(verdict, Verdict::Completed { body: Some(_), .. }));
        look(&failed, |verdict| matches!(verdict, Verdict::Refused { .. }));
        look(&lapsed, |verdict| matches!(verdict, Verdict::Lapsed { .. }));
        before.get_or_insert_with(|| (written(), transactions()));
    }
    assert_eq!(before, Some((written(), transactions())));
    // Where no duplicate has come yet, a claim asks in another way.
    for duplicate in [&held, &done, &failed, &lapsed] {
        let parked = Claim { token: Token::fresh(), on_lapse: OnLapse::Park, ..duplicate.clone() };
        let verdict = judged(&open(&builder), &parked);
        assert!(!matches!(verdict, Verdict::Claimed(_)), "{verdict:?}");
    }
    assert_eq!(before, Some((written(), transactions())));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn completions_renewals_releases_and_takeovers_touch_no_index() {
    let url = crate::database::database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())).without_sweeping());
    let count = 300;
    for n in 0..count {
        let first = claim(&format!("key {n}"));
        let grant = granted(&store, &first);
        let renewal = Renewal { id: first.id, token: first.token, lease: Duration::from_mins(1) };
        run(async { store.renew(&renewal).await }).expect("an answer");
        if n % 3 == 0 {
            run(async { store.release(&first.id, &first.token).await }).expect("an answer");
            granted(&store, &again(&first));
        } else {
            complete(&store, &ending(&first, grant, &[7; 100]));
        }
    }
    // Its sessions report what they did when they end.
    drop(store);
    let stats = "from pg_stat_user_tables where relname = 'idem_record'";
    let updates = count + count * 2 / 3 + count / 3 * 2;
    wait_for(&url, &format!("select n_tup_upd {stats}"), updates);
    assert_eq!(number(&url, &format!("select n_tup_hot_upd {stats}")), updates);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_sweep_walks_around_the_table_and_takes_what_has_ended() {
    let url = crate::database::database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())).without_sweeping());
    execute(
        &url,
        "insert into idem_record (k, st, token, fence, tries, made_at, drop_at)
         select sha256(n::text::bytea), 0, decode(md5(n::text), 'hex'), 1, 1, 1, case n % 10 when 0 then 9e17::bigint else 1 end
         from generate_series(1, 20000) as n",
    );
    let sweep = |limit| run(async { store.sweep(limit).await }).expect("a count");
    assert_eq!(sweep(100), 100);
    assert_eq!(sweep(5_000), 5_000);
    assert_eq!(sweep(usize::MAX), 18_000 - 5_100);
    assert_eq!(sweep(usize::MAX), 0);
    assert_eq!(number(&url, "select count(*) from idem_record"), 2_000);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn claims_sweep_in_pace_with_what_they_write() {
    let url = crate::database::database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())));
    let dead =
        |n: usize| Claim { lease: Duration::ZERO, keep: Duration::ZERO, ..claim(&format!("dead {n}")) };
    for batch in 0..12 {
        let claims: Vec<_> = (0..256).map(|n| dead(batch * 256 + n)).collect();
        run(async { store.claim_many(&claims).await }).expect("verdicts");
    }
    // The last looks come after the last answer.
    let left = "select (count(*) < 1500)::int::bigint from idem_record";
    wait_for(&url, left, 1);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn after_the_first_a_duplicate_of_a_running_message_costs_one_statement() {
    let url = crate::database::database(&[]);
    let _ = migrated(PostgresStore::builder(url.as_str()));
    // One session, which counts what it has run of each prepared statement.
    let pool = run(sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(&url)).expect("a pool");
    let store = open(&PostgresStore::builder(pool.clone()));
    let sent = || {
        let counted =
            "select coalesce(sum(generic_plans + custom_plans), 0)::bigint from pg_prepared_statements
                       where statement like '%\"idem_record\"%'";
        let counted = sqlx::query_scalar::<_, i64>(counted).persistent(false);
        run(counted.fetch_one(&pool)).expect("a count")
    };
    let first = claim("running");
    granted(&store, &first);
    let mut costs = [0; 20];
    for cost in &mut costs {
        let before = sent();
        assert!(matches!(judged(&store, &again(&first)), Verdict::InProgress { .. }));
        *cost = sent() - before;
    }
    assert_eq!((costs[0], &costs[1..]), (2, &[1; 19][..]));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn ends_of_all_kinds_are_one_statement() {
    let server = quiet_server();
    let url = server.url("postgres");
    let store = open(&migrated(PostgresStore::builder(url.as_str())));
    let claims: Vec<_> = (0..30).map(|n| claim(&format!("end {n}"))).collect();
    let verdicts = run(async { store.claim_many(&claims).await }).expect("verdicts");
    let ends: Vec<_> = claims
        .iter()
        .zip(&verdicts)
        .enumerate()
        .map(|(n, (claim, verdict))| match (verdict, n % 3) {
            (Verdict::Claimed(grant), 0) => End::Complete(ending(claim, *grant, b"done")),
            (Verdict::Claimed(grant), 1) => End::Fail(ending(claim, *grant, b"failed")),
            (Verdict::Claimed(_), _) => End::Release { id: claim.id, token: claim.token },
            (other, _) => panic!("{other:?}"),
        })
        .collect();
    let transactions = || number(&url, "select txid_snapshot_xmax(txid_current_snapshot())");
    let before = transactions();
    let ended = run(async { store.end_many(&ends).await }).expect("answers");
    assert_eq!(transactions() - before, 1);
    for (n, ended) in ended.into_iter().enumerate() {
        match n % 3 {
            2 => assert_eq!(ended, Ended::Released(Released::Released { tries: 1 })),
            _ => assert_eq!(ended, Ended::Recorded(Recorded::Stored)),
        }
    }
    let states: Vec<_> = claims.iter().map(|claim| judged(&store, &again(claim))).collect();
    for (n, verdict) in states.into_iter().enumerate() {
        let expected = match n % 3 {
            0 => matches!(verdict, Verdict::Completed { body: Some(_), .. }),
            1 => matches!(verdict, Verdict::Refused { body: Some(_), .. }),
            _ => matches!(verdict, Verdict::Claimed(grant) if grant.tries == 2),
        };
        assert!(expected, "{n}: {verdict:?}");
    }
}
