//! The invariants of the protocol, over random histories. I10 is not the machine's: an answer does not carry a key or a token,
//! so whoever sends pairs them. That a store does, for several keys and attempts in any order, is a property of the conformance
//! suite's model; that no handler or tenant finds the record of another, one of `tests/key/identity.rs`. Of I8 and I11 the machine
//! has only its own part.

use idem_core::machine::{Grant, State, StateKind};
use proptest::prelude::*;

use super::history::{Event, Step, config, histories};
use super::*;

fn longest(times: &[Duration]) -> Duration {
    times.iter().copied().max().unwrap_or_default()
}

/// Whether one answer is the other, but for what tells a first from a repeated sending.
fn same(first: &Answer, second: &Answer) -> bool {
    match (first, second) {
        (Answer::Claim(Verdict::Claimed(first)), Answer::Claim(Verdict::Claimed(second))) => {
            second.resumed && *second == Grant { resumed: true, ..*first }
        }
        (Answer::Record(Recorded::Recreated), second) => *second == Answer::Record(Recorded::Stored),
        (Answer::Forget(Forgotten::Forgotten(_)), second) => *second == Answer::Forget(Forgotten::Absent),
        _ => first == second,
    }
}

proptest! {
    #![proptest_config(config())]

    // I1
    #[test]
    fn at_most_one_attempt_believes_that_it_holds_the_record(history in histories()) {
        let mut until = vec![Timestamp::ZERO; history.attempts.len()];
        history.play(|event| {
            let own = event.sender.map(|at| &history.attempts[at]);
            match (event.answer, event.sender, own) {
                (Answer::Claim(Verdict::Claimed(_)), Some(at), Some(own)) => {
                    until[at] = event.now.after(own.claim.lease);
                }
                (Answer::Renew(Renewed::Renewed { remaining }), Some(at), _) => {
                    until[at] = event.now.after(*remaining);
                }
                (Answer::Renew(Renewed::Lost(_)) | Answer::Record(_) | Answer::Release(_), Some(at), _) => {
                    until[at] = Timestamp::ZERO;
                }
                // An operator's force ends every lease.
                (Answer::Forget(Forgotten::Forgotten(_)), ..) => until.fill(Timestamp::ZERO),
                _ => {}
            }
            let holders = until.iter().filter(|end| event.now < **end).count();
            prop_assert!(holders <= 1, "{holders} holders after {:?}", event.operation);
            Ok(())
        })?;
    }

    // I2
    #[test]
    fn no_claim_is_granted_after_a_success_while_its_record_lives(history in histories()) {
        let mut done_until = Timestamp::ZERO;
        history.play(|event| {
            match (event.operation, event.answer) {
                (Operation::Complete(sent), Answer::Record(Recorded::Stored | Recorded::Recreated))
                    if done_until <= event.now =>
                {
                    done_until = event.now.after(sent.keep.max(sent.ttl));
                }
                (_, Answer::Forget(Forgotten::Forgotten(_))) => done_until = Timestamp::ZERO,
                (_, Answer::Claim(verdict)) if event.now < done_until => {
                    let answered = matches!(verdict, Verdict::Completed { .. } | Verdict::Mismatch { state: StateKind::Done });
                    prop_assert!(answered, "{verdict:?} though done until {done_until:?}, at {:?}", event.now);
                }
                _ => {}
            }
            Ok(())
        })?;
    }

    // I3
    #[test]
    fn nothing_changes_on_the_word_of_an_attempt_that_does_not_hold_the_record(history in histories()) {
        history.play(|event| {
            let (Some(at), false) = (event.sender, matches!(event.operation, Operation::Claim(_))) else {
                return Ok(());
            };
            let token = history.attempts[at].claim.token;
            let holds = event.live().is_some_and(|record| record.token == token && record.state.kind() == StateKind::Held);
            let makes_anew = matches!(event.operation, Operation::Complete(_)) && event.live().is_none();
            prop_assert_eq!(*event.change != Change::None, holds || makes_anew);
            Ok(())
        })?;
    }

    // I4
    #[test]
    fn an_operation_sent_again_gets_the_same_answer_and_changes_nothing_further(history in histories()) {
        history.play(|event| {
            let mut again = event.after.clone();
            let (answer, _) = again.apply(event.operation);
            prop_assert!(same(event.answer, &answer), "{:?}, then {answer:?}", event.answer);
            prop_assert_eq!(&again.record, &event.after.record);
            Ok(())
        })?;
    }

    // I4, some time later
    #[test]
    fn a_claim_sent_again_while_its_record_lives_is_the_same_grant(history in histories(), micros in 0..200_u64) {
        history.play(|event| {
            let Answer::Claim(Verdict::Claimed(first)) = event.answer else { return Ok(()) };
            let mut later = event.after.clone();
            later.pass(Duration::from_micros(micros));
            let ended = later.record.as_ref().is_none_or(|record| record.drop_at <= later.now);
            if let Answer::Claim(Verdict::Claimed(second)) = later.apply(event.operation).0 {
                let Grant { fence, tries, prior, resumed, .. } = second;
                if !ended {
                    prop_assert_eq!((fence, tries, prior, resumed), (first.fence, first.tries, first.prior, true));
                }
            } else {
                prop_assert!(false, "an attempt was refused its own record");
            }
            Ok(())
        })?;
    }

    // I5
    #[test]
    fn fences_grow_with_each_grant_across_deletion(history in histories()) {
        let mut last = None;
        history.play(|event| {
            let Answer::Claim(Verdict::Claimed(grant)) = event.answer else { return Ok(()) };
            if grant.resumed {
                return Ok(());
            }
            // A record that is gone cannot lift the fence, nor can one that a late completion made anew with the fence of its
            // own, older grant; then the clock must have moved on from the last one.
            let knows = |fence| event.before.as_ref().is_some_and(|record| record.fence >= fence);
            let can_grow = last.is_none_or(|fence| knows(fence) || fence < event.now.as_micros());
            prop_assert!(!can_grow || Some(grant.fence) > last, "{} after {last:?}", grant.fence);
            last = Some(grant.fence);
            Ok(())
        })?;
    }

    // I6
    #[test]
    fn if_the_holder_stops_the_next_claim_at_its_leases_end_is_not_told_to_wait(history in histories()) {
        let mut place = history.play(|event| {
            if let Answer::Claim(Verdict::InProgress { remaining, .. }) = event.answer {
                let State::Held { lease_at, .. } = event.live().unwrap().state else { unreachable!() };
                prop_assert_eq!(*remaining, lease_at.since(event.now));
                prop_assert!(!remaining.is_zero());
                let leases: Vec<_> = history.attempts.iter().flat_map(|attempt| [attempt.claim.lease, attempt.renewal.lease]).collect();
                prop_assert!(*remaining <= longest(&leases));
            }
            Ok(())
        })?;
        let Some(Record { state: State::Held { lease_at, .. }, fingerprint, .. }) = place.record.clone() else {
            return Ok(());
        };
        place.now = place.now.max(lease_at);
        let stranger = Claim { fingerprint, max_tries: u32::MAX, ..claim(Token::from_bytes([0xee; 16])) };
        let verdict = place.claim(&stranger);
        prop_assert!(matches!(verdict, Verdict::Claimed(_)), "{verdict:?}");
    }

    // I7
    #[test]
    fn all_replays_of_one_incarnation_are_the_accepted_completion(history in histories()) {
        let mut accepted: Option<(Body, Timestamp)> = None;
        history.play(|event| {
            if let (Operation::Complete(sent), Change::Put(_)) = (event.operation, event.change) {
                accepted = Some((sent.body.clone(), event.now.after(sent.ttl)));
            }
            if let Answer::Claim(Verdict::Completed { body, .. }) = event.answer {
                let (expected, until) = accepted.as_ref().unwrap();
                prop_assert_eq!(body.as_ref(), (event.now < *until).then_some(expected));
            }
            Ok(())
        })?;
    }

    // I8
    #[test]
    fn replies_that_were_lost_and_asked_for_again_make_no_difference(
        history in histories(),
        lost in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut twice = history.clone();
        twice.steps = history.steps.iter().zip(&lost).flat_map(|(step, lost)| {
            let again = *lost && matches!(step, Step::Attempt(..));
            std::iter::repeat_n(step.clone(), if again { 2 } else { 1 })
        }).collect();
        let once = history.play(|_| Ok(()))?;
        let twice = twice.play(|_| Ok(()))?;
        prop_assert_eq!(once.record, twice.record);
    }

    // I9
    #[test]
    fn success_is_stored_where_nothing_is_and_never_over_another_attempts_record(history in histories()) {
        history.play(|event| {
            let Operation::Complete(sent) = event.operation else { return Ok(()) };
            match event.live() {
                None => {
                    prop_assert_eq!(event.answer, &Answer::Record(Recorded::Recreated));
                    prop_assert_eq!(event.state_after(), Some(StateKind::Done));
                    prop_assert_eq!(event.after.record.as_ref().map(|record| record.token), Some(sent.token));
                }
                Some(other) if other.token != sent.token => {
                    let (state, fence) = (other.state.kind(), other.fence);
                    prop_assert_eq!(event.answer, &Answer::Record(Recorded::Superseded { state, fence }));
                    prop_assert_eq!(event.after.record.as_ref(), Some(other));
                }
                Some(_) => {}
            }
            Ok(())
        })?;
    }

    // I11
    #[test]
    fn every_claim_that_is_not_granted_says_since_when_or_for_how_long(history in histories()) {
        history.play(|event| {
            let Answer::Claim(verdict) = event.answer else { return Ok(()) };
            let Some(record) = event.live() else { return Ok(()) };
            let first = event.now.since(record.made_at);
            match (verdict, &record.state) {
                (Verdict::Completed { age, valid_for, skipped, body }, State::Done(kept)) => {
                    prop_assert_eq!((*age, *skipped), (event.now.since(kept.done_at), false));
                    let mut end = event.after.clone();
                    end.pass(*valid_for);
                    let Operation::Claim(claim) = event.operation else { unreachable!() };
                    let changed = !matches!(end.claim(claim), Verdict::Completed { body: then, .. } if then == *body);
                    prop_assert!(changed, "still the same after {valid_for:?}");
                    let mut just_before = event.after.clone();
                    just_before.pass(valid_for.saturating_sub(Duration::from_micros(1)));
                    let same = matches!(just_before.claim(claim), Verdict::Completed { body: then, .. } if then == *body);
                    prop_assert!(same, "not the same up to {valid_for:?}");
                }
                (Verdict::Refused { age, .. }, State::Failed(kept)) => {
                    prop_assert_eq!(*age, event.now.since(kept.done_at));
                }
                (Verdict::InProgress { tries, .. }, State::Held { .. }) => prop_assert_eq!(*tries, record.tries),
                (Verdict::Lapsed { tries, first_age }, State::Held { .. })
                | (Verdict::Spent { tries, first_age }, State::Held { .. } | State::Open) => {
                    prop_assert_eq!((*tries, *first_age), (record.tries, first));
                }
                (Verdict::Mismatch { state }, _) => prop_assert_eq!(*state, record.state.kind()),
                (Verdict::Claimed(grant), _) => prop_assert_eq!(grant.first_age, first),
                other => prop_assert!(false, "{other:?}"),
            }
            Ok(())
        })?;
    }

    // I12
    #[test]
    fn every_record_ends_and_no_message_is_granted_more_often_than_it_may(history in histories()) {
        let windows: Vec<_> = history.attempts.iter().flat_map(|attempt| {
            let Completion { ttl, keep, .. } = attempt.completion;
            [attempt.claim.lease, attempt.claim.keep, attempt.renewal.lease, ttl, keep]
        }).collect();
        history.play(|event| {
            if let Some(record) = &event.after.record {
                prop_assert!(record.drop_at <= event.now.after(longest(&windows)));
                if let State::Held { lease_at, .. } = record.state {
                    prop_assert!(lease_at <= record.drop_at);
                }
            }
            if let (Operation::Claim(sent), Answer::Claim(Verdict::Claimed(grant))) = (event.operation, event.answer) {
                prop_assert!(grant.resumed || grant.tries <= sent.max_tries.max(1));
            }
            Ok(())
        })?;
    }

    // A look is a look.
    #[test]
    fn inspect_changes_nothing_and_shows_what_forget_would_delete(history in histories()) {
        let inspect = |event: &Event<'_>| {
            let mut place = event.after.clone();
            let (answer, change) = place.apply(&Operation::Inspect);
            prop_assert_eq!(change, Change::None);
            let Answer::Inspect(seen) = answer else { unreachable!() };
            prop_assert_eq!(seen.is_some(), place.record.as_ref().is_some_and(|record| event.now < record.drop_at));
            if let Some(seen) = seen {
                prop_assert_eq!(place.forget(true), Forgotten::Forgotten(seen));
            }
            Ok(())
        };
        history.play(inspect)?;
    }
}
