//! Faults of renewals, releases, completions and failures.

use idem::Timestamp;
use idem::machine::{Answer, Change, Operation, Prior, Record, Recorded, Released, State, StateKind, decide};

use super::{Judged, as_the_holder, held, written};
use crate::reference::Fault;

faults! {
    ReleaseWithoutToken {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match operation {
                Operation::Release(_) => as_the_holder(found, operation, now),
                _ => decide(found, operation, now),
            }
        }
    }

    ReleaseReopens {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, found) {
                (Operation::Release(token), Some(record)) if record.token == *token => {
                    let tries = record.tries;
                    let open = Record { state: State::Open, ..record.clone() };
                    (Answer::Release(Released::Released { tries }), Change::Put(open))
                }
                _ => decide(found, operation, now),
            }
        }
    }

    ReleaseDeletes {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, decide(found, operation, now)) {
                (Operation::Release(_), (answer, Change::Put(_))) => (answer, Change::Remove),
                (_, judged) => judged,
            }
        }
    }

    ReleaseResetsTries {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match operation {
                Operation::Release(_) => written(judged, |record| record.tries = 0),
                _ => judged,
            }
        }
    }

    CompleteWithoutToken {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match operation {
                Operation::Complete(_) => as_the_holder(found, operation, now),
                _ => decide(found, operation, now),
            }
        }
    }

    CompleteByLeaseClock {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, held(found, now)) {
                (Operation::Complete(_), Some((record, lease_at))) if lease_at <= now => {
                    let superseded = Recorded::Superseded { state: StateKind::Held, fence: record.fence };
                    (Answer::Record(superseded), Change::None)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    CompletesWhatHasEnded {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, found) {
                (Operation::Complete(_), Some(record)) => {
                    decide(Some(&Record { drop_at: Timestamp::MAX, ..record.clone() }), operation, now)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    CompleteNeverRecreates {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match decide(found, operation, now) {
                (Answer::Record(Recorded::Recreated), _) => (Answer::Record(Recorded::Gone), Change::None),
                judged => judged,
            }
        }
    }

    SecondCompletionOverwrites {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, found) {
                (Operation::Complete(completion), Some(record)) if record.token == completion.token => {
                    let lease_at = now;
                    let held = State::Held { lease_at, prior: Prior::None };
                    decide(Some(&Record { state: held, ..record.clone() }), operation, now)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    FailRecreates {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match operation {
                Operation::Fail(completion) if found.is_none() => {
                    let judged = decide(None, &Operation::Complete(completion.clone()), now);
                    written(judged, |record| {
                        if let State::Done(kept) = record.state.clone() {
                            record.state = State::Failed(kept);
                        }
                    })
                }
                _ => decide(found, operation, now),
            }
        }
    }

    FailOverwrites {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, found) {
                (Operation::Fail(ending), Some(record)) if record.token == ending.token => {
                    let held = State::Held { lease_at: now, prior: Prior::None };
                    decide(Some(&Record { state: held, ..record.clone() }), operation, now)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    RenewWithoutToken {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match operation {
                Operation::Renew(_) => as_the_holder(found, operation, now),
                _ => decide(found, operation, now),
            }
        }
    }

    RenewForgetsPrior {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match operation {
                Operation::Renew(_) => written(judged, |record| {
                    if let State::Held { prior, .. } = &mut record.state {
                        *prior = Prior::None;
                    }
                }),
                _ => judged,
            }
        }
    }

    RenewFromOldEnd {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match (operation, held(found, now)) {
                (Operation::Renew(renewal), Some((_, old))) => written(judged, |record| {
                    if let State::Held { lease_at, .. } = &mut record.state {
                        *lease_at = old.after(renewal.lease);
                    }
                }),
                _ => judged,
            }
        }
    }

    RenewNeverStretches {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match (operation, found) {
                (Operation::Renew(_), Some(before)) => written(judged, |record| record.drop_at = before.drop_at),
                _ => judged,
            }
        }
    }
}
