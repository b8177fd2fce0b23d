//! The accounting: every grant ends in exactly one way, and nothing is written that no grant accounts for.

use idem_core::machine::StateKind;
use proptest::prelude::*;

use super::history::{Event, Send, Step, config, histories};
use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Stored,
    Recreated,
    Failed,
    /// An error whose record was gone: nothing was kept.
    Gone,
    Released,
    Superseded,
    /// Its owner died, was dropped, or never came back.
    NeverReported,
}

/// The books of one history.
#[derive(Default)]
struct Ledger {
    /// The end of each grant, by the order of grants.
    ends: Vec<Option<End>>,
    /// The grant under which each attempt works, if it has not reported its end.
    working: Vec<Option<usize>>,
    held: usize,
    done: usize,
    failed: usize,
    open: usize,
}

impl Ledger {
    fn write(&mut self, event: &Event<'_>) {
        let Some(at) = event.sender else { return };
        self.working.resize(self.working.len().max(at + 1), None);
        if let Change::Put(record) = event.change {
            let before = event.live().map(|record| (record.state.kind(), record.token));
            match record.state.kind() {
                // A renewal and a claim sent again write a record that the attempt holds already.
                StateKind::Held if before == Some((StateKind::Held, record.token)) => {}
                StateKind::Held => self.held += 1,
                StateKind::Done => self.done += 1,
                StateKind::Failed => self.failed += 1,
                StateKind::Open => self.open += 1,
            }
        }
        let end = match (event.operation, event.answer) {
            (_, Answer::Claim(Verdict::Claimed(grant))) => {
                if !grant.resumed {
                    self.close(at, End::NeverReported);
                    self.working[at] = Some(self.ends.len());
                    self.ends.push(None);
                }
                return;
            }
            (Operation::Complete(_), Answer::Record(Recorded::Stored)) => End::Stored,
            (_, Answer::Record(Recorded::Recreated)) => End::Recreated,
            (_, Answer::Record(Recorded::Stored)) => End::Failed,
            (_, Answer::Record(Recorded::Gone)) => End::Gone,
            (_, Answer::Release(Released::Released { .. })) => End::Released,
            (_, Answer::Record(Recorded::Superseded { .. }) | Answer::Release(Released::Superseded)) => {
                End::Superseded
            }
            _ => return,
        };
        self.close(at, end);
    }

    fn close(&mut self, at: usize, end: End) {
        if let Some(grant) = self.working[at].take() {
            assert_eq!(self.ends[grant].replace(end), None, "grant {grant} ended twice");
        }
    }

    fn count(&self, end: End) -> usize {
        self.ends.iter().filter(|ended| ended.unwrap_or(End::NeverReported) == end).count()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_books_balance(history in histories()) {
        // As a driver would: only an attempt that works under a grant reports an end, and it reports one.
        let mut history = history;
        let mut working = vec![false; history.attempts.len()];
        let mut place = Place::new();
        let mut fence = vec![0; history.attempts.len()];
        history.steps.retain(|step| {
            let Step::Attempt(at, send) = step else { return keep_clock(&mut place, step) };
            let ends = matches!(send, Send::Complete | Send::Fail | Send::Release);
            if (ends || *send == Send::Renew) && !working[*at] {
                return false;
            }
            if let Answer::Claim(Verdict::Claimed(grant)) = place.apply(&history.attempts[*at].operation(*send, fence[*at])).0 {
                working[*at] = true;
                fence[*at] = grant.fence;
            }
            working[*at] &= !ends;
            true
        });

        let mut ledger = Ledger::default();
        let mut granted = 0;
        history.play(|event| {
            if let Answer::Claim(Verdict::Claimed(grant)) = event.answer {
                granted += usize::from(!grant.resumed);
            }
            ledger.write(event);
            Ok(())
        })?;
        let every = [End::Stored, End::Recreated, End::Failed, End::Gone, End::Released, End::Superseded, End::NeverReported];
        prop_assert_eq!(every.iter().map(|end| ledger.count(*end)).sum::<usize>(), granted);
        prop_assert_eq!(ledger.held, granted, "records held");
        prop_assert_eq!(ledger.done, ledger.count(End::Stored) + ledger.count(End::Recreated), "records done");
        prop_assert_eq!(ledger.failed, ledger.count(End::Failed), "records failed");
        prop_assert_eq!(ledger.open, ledger.count(End::Released), "records released");
    }
}

/// Plays a step that no attempt takes.
fn keep_clock(place: &mut Place, step: &Step) -> bool {
    match step {
        Step::Forget { force } => {
            place.forget(*force);
        }
        Step::Sweep => place.sweep(),
        Step::Pass(micros) => place.pass(Duration::from_micros(*micros)),
        Step::GoTo(end, offset) => place.go_to(*end, *offset),
        Step::Inspect | Step::Attempt(..) => {}
    }
    true
}
