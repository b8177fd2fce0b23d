//! Faults of records: how long they stay, what they are found by, and what is kept of them.

use idem::machine::{Answer, Forgotten, Operation, Record, State, decide};
use idem::{Body, RecordId, Timestamp};

use super::{Judged, id_of, just_before, text, up_to_nil, written};
use crate::reference::Fault;

faults! {
    KeepBeforeLease {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let judged = decide(found, operation, now);
            match operation {
                Operation::Claim(claim) => written(judged, |record| record.drop_at = now.after(claim.keep)),
                _ => judged,
            }
        }
    }

    RecordInclusive {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match found {
                Some(record) if record.drop_at == now => decide(found, operation, just_before(now)),
                _ => decide(found, operation, now),
            }
        }
    }

    BodyInclusive {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match found.map(|record| &record.state) {
                Some(State::Done(kept) | State::Failed(kept)) if kept.body_until == now => {
                    decide(found, operation, just_before(now))
                }
                _ => decide(found, operation, now),
            }
        }
    }

    NoTombstone {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            written(decide(found, operation, now), |record| {
                if let State::Done(kept) | State::Failed(kept) = &record.state {
                    record.drop_at = kept.body_until;
                }
            })
        }
    }

    /// No check asks for years but the random one.
    KeepIsCut {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            let year = std::time::Duration::from_secs(365 * 86_400);
            let judged = decide(found, operation, now);
            match operation {
                Operation::Complete(_) => {
                    written(judged, |record| record.drop_at = record.drop_at.min(now.after(year)))
                }
                _ => judged,
            }
        }
    }

    ForgetsLiveClaims {
        fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
            match decide(found, operation, now) {
                (Answer::Forget(Forgotten::StillHeld { .. }), _) => {
                    decide(found, &Operation::Forget { force: true }, now)
                }
                judged => judged,
            }
        }
    }

    SweepsLiveClaims {
        fn sweeps(&self, record: &Record, now: Timestamp) -> bool {
            record.drop_at <= now || matches!(record.state, State::Held { .. })
        }
    }

    SweepsAll {
        fn sweep_limit(&self, _: usize) -> usize {
            usize::MAX
        }
    }

    EvictsLiveClaims {
        fn evicts(&self) -> bool {
            true
        }
    }

    KeysIgnoreCase {
        fn key(&self, id: RecordId) -> RecordId {
            id_of(&id.as_bytes().to_ascii_lowercase())
        }
    }

    KeysEndAtNil {
        fn key(&self, id: RecordId) -> RecordId {
            id_of(up_to_nil(id.as_bytes()))
        }
    }

    KeysAreCut {
        fn key(&self, id: RecordId) -> RecordId {
            id_of(&id.as_bytes()[..31])
        }
    }

    BodiesAreText {
        fn body(&self, body: &Body) -> Body {
            text(body).into()
        }
    }

    BodiesEndAtNil {
        fn body(&self, body: &Body) -> Body {
            up_to_nil(body).to_vec().into()
        }
    }

    CompletesInTwoSteps {
        fn is_whole(&self) -> bool {
            false
        }
    }

    RecordsAreLocal {
        fn shares_with_others(&self) -> bool {
            false
        }
    }

    HandlesAreCopies {
        fn shares_with_handles(&self) -> bool {
            false
        }
    }

    ClaimsDoNotSurvive {
        fn survives(&self, record: &Record) -> bool {
            !matches!(record.state, State::Held { .. })
        }
    }

    OpenDoesNotSurvive {
        fn survives(&self, record: &Record) -> bool {
            !matches!(record.state, State::Open)
        }
    }
}
