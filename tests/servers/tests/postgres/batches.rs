//! Many records in one statement.

use idem::machine::{Claim, End, Ended, Recorded, Verdict};
use idem::{Store, Token};

use crate::asks::{again, claim, ending};
use crate::database::{database, migrated, number, open, run};

const STORED: Ended = Ended::Recorded(Recorded::Stored);

/// A number that looks random and is the same each time.
fn spread(n: usize) -> usize {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f47_batches_in_any_order_with_repeats_neither_deadlock_nor_grant_twice() {
    let url = database(&[]);
    let store = open(&migrated(idem::PostgresStore::builder(url.as_str()).max_connections(8)));
    run(async {
        for round in 0..12 {
            let clients: Vec<_> = (0..8)
                .map(|client| {
                    let store = store.clone();
                    // Forty of thirty keys, each client in an order of its own.
                    let claims: Vec<Claim> =
                        (0..40).map(|n| claim(&format!("{round} {}", spread(n * 8 + client) % 30))).collect();
                    tokio::spawn(async move {
                        let verdicts = store.claim_many(&claims).await.expect("verdicts");
                        let ends: Vec<_> = claims
                            .iter()
                            .zip(&verdicts)
                            .filter_map(|(claim, verdict)| match verdict {
                                Verdict::Claimed(grant) => {
                                    Some(End::Complete(ending(claim, *grant, b"done")))
                                }
                                Verdict::InProgress { .. } | Verdict::Completed { .. } => None,
                                other => panic!("{other:?}"),
                            })
                            .collect();
                        let ended = store.end_many(&ends).await.expect("answers");
                        assert!(ended.iter().all(|ended| *ended == STORED), "{ended:?}");
                        ends.iter().map(|end| *end.id()).collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut granted = Vec::new();
            for client in clients {
                granted.extend(client.await.expect("no panic"));
            }
            let all = granted.len();
            granted.sort_unstable();
            granted.dedup();
            assert_eq!((all, granted.len()), (granted.len(), 30));
        }
    });
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(number(&url, deadlocks), 0);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_repeated_key_gets_one_grant_and_then_what_that_left() {
    let store = open(&crate::database::fresh());
    let first = claim("twice");
    let claims = [first.clone(), again(&first), claim("once"), first.clone(), again(&first)];
    let verdicts = run(async { store.claim_many(&claims).await }).expect("verdicts");
    assert!(matches!(verdicts[0], Verdict::Claimed(grant) if !grant.resumed), "{verdicts:?}");
    assert!(matches!(verdicts[1], Verdict::InProgress { tries: 1, .. }), "{verdicts:?}");
    assert!(matches!(verdicts[2], Verdict::Claimed(_)), "{verdicts:?}");
    assert!(matches!(verdicts[3], Verdict::Claimed(grant) if grant.resumed), "{verdicts:?}");
    assert!(matches!(verdicts[4], Verdict::InProgress { tries: 1, .. }), "{verdicts:?}");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_batch_greater_than_one_statement_takes_is_answered_in_order() {
    let store = open(&crate::database::fresh());
    let claims: Vec<_> = (0..2_500).map(|n| claim(&format!("key {n}"))).collect();
    let verdicts = run(async { store.claim_many(&claims).await }).expect("verdicts");
    assert_eq!(verdicts.len(), claims.len());
    let ends: Vec<_> = claims
        .iter()
        .zip(&verdicts)
        .enumerate()
        .map(|(n, (claim, verdict))| match verdict {
            Verdict::Claimed(grant) => End::Complete(ending(claim, *grant, &n.to_le_bytes())),
            other => panic!("{other:?}"),
        })
        .collect();
    let ended = run(async { store.end_many(&ends).await }).expect("answers");
    assert_eq!(ended, vec![STORED; claims.len()]);
    let later: Vec<_> = claims.iter().map(|claim| Claim { token: Token::fresh(), ..claim.clone() }).collect();
    let verdicts = run(async { store.claim_many(&later).await }).expect("verdicts");
    for (n, verdict) in verdicts.iter().enumerate() {
        let Verdict::Completed { body: Some(body), .. } = verdict else { panic!("{verdict:?}") };
        assert_eq!(body[..], n.to_le_bytes()[..]);
    }
}
