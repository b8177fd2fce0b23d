//! Many at once: clause 1, each operation is one atomic step on one record.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{DAY, again, ending, lapsing, message};
use super::super::race::{RECORDS, RUNNERS, race};
use super::super::subject::{About, Subject};
use crate::StoreError;
use crate::machine::{Claim, Completion, Grant, Prior, Recorded, Released, Renewal, StateKind, Verdict};

checks! {
    $ __conformance_core_races, "core", Fixture;


    /// I1: at most one token is current for a key at any instant. Of many first claims at once, exactly one is granted.
    fn of_many_first_claims_at_once_one_is_granted(store) {
        for _ in 0..3 {
            let records: Vec<_> = (0..RECORDS).map(|_| message()).collect();
            one_is_granted(&store, &records, 1, Prior::None);
        }
    }

    /// I1, for a lapsed message: of many takeovers at once, exactly one is granted.
    fn of_many_takeovers_at_once_one_is_granted(store) {
        for _ in 0..3 {
            let records: Vec<_> = (0..RECORDS).map(|_| lapsing()).collect();
            for first in &records {
                store.grant(first);
            }
            one_is_granted(&store, &records, 2, Prior::Lapsed);
        }
    }

    /// I1, for a released message: of many claims at once, exactly one is granted.
    fn of_many_claims_of_a_released_message_one_is_granted(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| message()).collect();
        for first in &records {
            store.grant(first);
            must_be!(store, store.release(first), Released::Released { .. });
        }
        one_is_granted(&store, &records, 2, Prior::Released);
    }

    /// I1, for a record that has ended and may still be there: of many claims at once, exactly one is granted.
    fn of_many_claims_of_an_ended_record_one_is_granted(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| Claim { keep: Duration::ZERO, ..lapsing() }).collect();
        for first in &records {
            store.grant(first);
        }
        let records: Vec<_> = records.iter().map(|first| Claim { keep: DAY, ..first.clone() }).collect();
        one_is_granted(&store, &records, 1, Prior::None);
    }

    /// Clause 2: one claim sent many times at once is one grant, which all but one of them resume.
    fn one_claim_sent_many_times_at_once_is_one_grant(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| message()).collect();
        let all = race(&records, RUNNERS, |claim, _| ask_claim(&store, claim));
        for (claim, answers) in records.iter().zip(all) {
            let grants: Vec<_> = answers
                .into_iter()
                .map(|answer| must_be!(store, answer, Ok(Verdict::Claimed(grant)) => grant))
                .collect();
            let fences: BTreeSet<_> = grants.iter().map(|grant| grant.fence).collect();
            store.holds("one fence", fences.len() == 1, &grants);
            let fresh = grants.iter().filter(|grant| !grant.resumed).count();
            store.holds("one grant that is not resumed", fresh == 1, &grants);
            store.equal("the record's tries", store.is(claim, StateKind::Held).tries, 1);
        }
    }

    /// Clause 4: fences grow in the order of the grants, so no two are equal, and every grant counts one try.
    fn grants_at_once_have_fences_and_tries_of_their_own(store) {
        let records: Vec<_> = (0..8).map(|_| Claim { max_tries: u32::MAX, ..lapsing() }).collect();
        // Every lease ends as it is granted, so every claim is granted.
        let all = race(&records, RUNNERS, |first, _| {
            ask_claim(&store, &Claim { lease: Duration::ZERO, ..again(first) })
        });
        for answers in all {
            let mut grants: Vec<Grant> = answers
                .into_iter()
                .map(|answer| must_be!(store, answer, Ok(Verdict::Claimed(grant)) => grant))
                .collect();
            grants.sort_unstable_by_key(|grant| grant.tries);
            for (pair, tries) in grants.windows(2).zip(1..) {
                store.holds(
                    "tries that count each grant",
                    pair[0].tries == tries && pair[1].tries == tries + 1,
                    &grants,
                );
                store.holds("fences in the order of the tries", pair[0].fence < pair[1].fence, &grants);
            }
        }
    }

    /// I2 and I3: a late completion and a takeover at once: one of the two comes first, and the other is told.
    fn a_completion_and_takeovers_at_once_have_one_winner(store) {
        let records: Vec<_> = (0..RECORDS)
            .map(|_| {
                let first = lapsing();
                let grant = store.grant(&first);
                (first, grant)
            })
            .collect();
        let all = race(&records, RUNNERS, |(first, grant), runner| {
            if runner == 0 {
                let ending = ending(first, grant.fence, b"the first");
                ask_complete(&store, &ending).map(Outcome::Completed)
            } else {
                ask_claim(&store, &again(first)).map(Outcome::Claimed)
            }
        });
        for ((first, _), answers) in records.iter().zip(all) {
            let mut stored = false;
            let mut granted = 0;
            for answer in &answers {
                match answer {
                    Ok(Outcome::Completed(Recorded::Stored)) => stored = true,
                    Ok(Outcome::Claimed(Verdict::Claimed(_))) => granted += 1,
                    Ok(
                        Outcome::Completed(Recorded::Superseded { .. })
                        | Outcome::Claimed(Verdict::Completed { .. } | Verdict::InProgress { .. }),
                    ) => {}
                    _ => store.broken("a completion and claims that are answered", &answers),
                }
            }
            store.holds(
                "one winner: the completion, or one takeover",
                granted == usize::from(!stored),
                &answers,
            );
            store.is(first, if stored { StateKind::Done } else { StateKind::Held });
        }
    }

    /// Clause 3: releases and renewals by one whose lease has gone never touch what a takeover was granted at the same instant.
    fn a_release_and_a_takeover_at_once_leave_one_holder(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| lapsing()).collect();
        for first in &records {
            store.grant(first);
        }
        let all = race(&records, RUNNERS, |first, runner| match runner % 4 {
            0 => {
                let answer =
                    store.try_ask(&"release, in a race", |store| store.release(&first.id, &first.token));
                answer.map(|_| None)
            }
            1 => {
                let renewal = Renewal { id: first.id, token: first.token, lease: Duration::ZERO };
                let answer = store.try_ask(&"renew, in a race", |store| store.renew(&renewal));
                answer.map(|_| None)
            }
            _ => ask_claim(&store, &again(first)).map(Some),
        });
        for (first, answers) in records.iter().zip(all) {
            let granted =
                answers.iter().filter(|answer| matches!(answer, Ok(Some(Verdict::Claimed(_))))).count();
            store.holds("one takeover", granted == 1, &answers);
            store.equal("the record's tries", store.is(first, StateKind::Held).tries, 2);
            must_be!(store, store.claim(&again(first)), Verdict::InProgress { tries: 2, .. });
        }
    }

    /// I9: of many completions of a missing record one makes it anew, and its bytes stay.
    fn of_many_completions_of_a_missing_record_one_makes_it_anew(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| message()).collect();
        let all = race(&records, RUNNERS, |lost, runner| {
            let mine = again(lost);
            ask_complete(
                &store,
                &ending(&mine, 1_000 + runner as u64, &[u8::try_from(runner).unwrap_or(0); 200]),
            )
        });
        for (lost, answers) in records.iter().zip(all) {
            let made: Vec<_> = (0_u8..)
                .zip(&answers)
                .filter(|(_, answer)| matches!(answer, Ok(Recorded::Recreated)))
                .collect();
            store.holds("one that made it anew", made.len() == 1, &answers);
            let late =
                answers.iter().filter(|answer| matches!(answer, Ok(Recorded::Superseded { .. }))).count();
            store.holds("all others Superseded", late == RUNNERS - 1, &answers);
            let winner = made[0].0;
            store.brings(store.is(lost, StateKind::Done).body.as_ref(), &[winner; 200]);
        }
    }

    /// Clause 2: one completion sent many times at once is Stored each time.
    fn one_completion_sent_many_times_at_once_is_stored(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| message()).collect();
        for first in &records {
            store.grant(first);
        }
        let all = race(&records, RUNNERS, |first, _| ask_complete(&store, &ending(first, 1, b"done")));
        for answers in all {
            let stored = answers.iter().all(|answer| matches!(answer, Ok(Recorded::Stored)));
            store.holds("Stored, each time", stored, &answers);
        }
    }

    /// Clause 7: live claims are never evicted; a sweep that runs while others claim and complete takes none of theirs.
    fn a_sweep_while_others_work_takes_nothing_of_theirs(store) {
        let records: Vec<_> = (0..RECORDS).map(|_| message()).collect();
        let all = race(&records, 8, |first, runner| match runner {
            0 => store.try_ask(&"sweep, in a race", |store| store.sweep(1_000)).map(|_| Outcome::Swept),
            1 => ask_claim(&store, first).map(Outcome::Claimed),
            2 => {
                let done = message();
                let claimed = ask_claim(&store, &done)?;
                let recorded = ask_complete(&store, &ending(&done, 1, b"done"))?;
                store.holds(
                    "a claim that is granted, and then stored",
                    matches!((&claimed, recorded), (Verdict::Claimed(_), Recorded::Stored)),
                    &(claimed, recorded),
                );
                let replayed = ask_claim(&store, &again(&done))?;
                store.holds(
                    "a replay",
                    matches!(&replayed, Verdict::Completed { body: Some(_), .. }),
                    &replayed,
                );
                Ok(Outcome::Swept)
            }
            // Something for the sweep to take.
            _ => ask_claim(&store, &Claim { keep: Duration::ZERO, ..lapsing() }).map(|_| Outcome::Swept),
        });
        for (first, answers) in records.iter().zip(all) {
            for answer in answers {
                must_be!(store, answer, Ok(Outcome::Swept | Outcome::Claimed(Verdict::Claimed(_))));
            }
            must_be!(store, store.claim(&again(first)), Verdict::InProgress { tries: 1, .. });
        }
    }
}

#[derive(Debug)]
enum Outcome {
    Claimed(Verdict),
    Completed(Recorded),
    Swept,
}

fn ask_claim(store: &Subject<'_>, claim: &Claim) -> Result<Verdict, StoreError> {
    store.try_ask(&"claim, in a race", |store| store.claim(claim))
}

fn ask_complete(store: &Subject<'_>, completion: &Completion) -> Result<Recorded, StoreError> {
    store.try_ask(&"complete, in a race", |store| store.complete(completion))
}

/// All runners claim each record at once, each by an attempt of its own. One is granted, and the others are told so.
fn one_is_granted(store: &Subject<'_>, records: &[Claim], tries: u32, prior: Prior) {
    let all = race(records, RUNNERS, |first, _| ask_claim(store, &again(first)));
    for (first, answers) in records.iter().zip(all) {
        let grants: Vec<_> = answers
            .iter()
            .filter_map(|answer| match answer {
                Ok(Verdict::Claimed(grant)) => Some(*grant),
                _ => None,
            })
            .collect();
        store.holds("exactly one grant", grants.len() == 1, &answers);
        let refused =
            answers.iter().filter(|answer| matches!(answer, Ok(Verdict::InProgress { .. }))).count();
        store.holds("InProgress for all others", refused == RUNNERS - 1, &answers);
        store.equal(
            "the grant",
            (grants[0].tries, grants[0].prior, grants[0].resumed),
            (tries, prior, false),
        );
        store.equal("the record's fence", store.is(first, StateKind::Held).fence, grants[0].fence);
    }
}
