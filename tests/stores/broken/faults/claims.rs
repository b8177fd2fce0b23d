//! Faults of claims: who runs, when, and by which fence.

use idem::machine::{Answer, Change, Claim, Operation, Record, State, StateKind, Verdict, decide};
use idem::{Fingerprint, OnLapse, Timestamp};

use super::{Judged, held, just_before, written};
use crate::reference::Fault;

faults! {
    LookThenWrite {
        fn is_atomic(&self) -> bool {
            false
        }
    }

    CountsFromLater {
        fn asked_at(&self, now: Timestamp) -> Timestamp {
            Timestamp::from_micros(now.as_micros() + 1)
        }
    }

    BatchLooksFirst {
        fn batch_sees_itself(&self) -> bool {
            false
        }
    }

    FenceResetByDeletion {
        fn fence(&self, fence: u64, _: u64) -> u64 {
            fence
        }

        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match found {
                None => written(judged, |record| record.fence = 1),
                Some(_) => judged,
            }
        }
    }

    FenceStays {
        fn fence(&self, fence: u64, last: u64) -> u64 {
            if last == 0 { fence } else { last }
        }
    }

    TtlOnTheClaim {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            written(decide(found, operation, now), |record| {
                if let State::Held { lease_at, .. } = record.state {
                    record.drop_at = lease_at;
                }
            })
        }
    }

    ResentCountsATry {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match decide(found, operation, now) {
                (Answer::Claim(Verdict::Claimed(mut grant)), Change::Put(mut record)) if grant.resumed => {
                    grant.tries += 1;
                    record.tries += 1;
                    (Answer::Claim(Verdict::Claimed(grant)), Change::Put(record))
                }
                judged => judged,
            }
        }
    }

    ResentIsNotExtended {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match decide(found, operation, now) {
                (answer @ Answer::Claim(Verdict::Claimed(grant)), _) if grant.resumed => (answer, Change::None),
                judged => judged,
            }
        }
    }

    NeverParks {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match operation {
                Operation::Claim(claim) => {
                    let rerun = Claim { on_lapse: OnLapse::Rerun, ..claim.clone() };
                    decide(found, &Operation::Claim(rerun), now)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    SpentBeforeCompleted {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, decide(found, operation, now)) {
                (Operation::Claim(claim), (Answer::Claim(Verdict::Completed { .. }), _))
                    if found.is_some_and(|record| record.tries >= claim.max_tries) =>
                {
                    let first_age = std::time::Duration::ZERO;
                    (Answer::Claim(Verdict::Spent { tries: claim.max_tries, first_age }), Change::None)
                }
                (_, judged) => judged,
            }
        }
    }

    NoLeaseIsForEver {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            written(decide(found, operation, now), |record| {
                if let State::Held { lease_at, .. } = &mut record.state
                    && *lease_at == now
                {
                    *lease_at = Timestamp::MAX;
                }
            })
        }
    }

    LongLeasesWrap {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            written(decide(found, operation, now), |record| {
                if let State::Held { lease_at, .. } = &mut record.state
                    && *lease_at == Timestamp::MAX
                {
                    *lease_at = Timestamp::ZERO;
                }
            })
        }
    }

    InProgressBeforeMismatch {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, held(found, now)) {
                (Operation::Claim(claim), Some((record, lease_at))) if now < lease_at && claim.token != record.token => {
                    let same = Claim { fingerprint: record.fingerprint, ..claim.clone() };
                    decide(found, &Operation::Claim(same), now)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    OpenRefusesPayload {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match (operation, found) {
                (Operation::Claim(claim), Some(record @ Record { state: State::Open, .. }))
                    if claim.fingerprint != record.fingerprint =>
                {
                    (Answer::Claim(Verdict::Mismatch { state: StateKind::Open }), Change::None)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    OpenKeepsPayload {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match (operation, found) {
                (Operation::Claim(_), Some(before @ Record { state: State::Open, .. })) => {
                    written(judged, |record| record.fingerprint = before.fingerprint)
                }
                _ => judged,
            }
        }
    }

    ZerosAreNone {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match operation {
                Operation::Claim(claim) if claim.fingerprint == Some(Fingerprint::from_bytes([0; 16])) => {
                    let none = Claim { fingerprint: None, ..claim.clone() };
                    decide(found, &Operation::Claim(none), now)
                }
                _ => decide(found, operation, now),
            }
        }
    }

    LeaseInclusive {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match held(found, now) {
                Some((_, lease_at)) if lease_at == now => decide(found, operation, just_before(now)),
                _ => decide(found, operation, now),
            }
        }
    }
}
