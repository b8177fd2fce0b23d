//! What nearly all operations come to, without a look before.

use super::Engine;
use crate::machine::{Answer, Change, Operation, Prior, Record, State, decide};
use crate::store::sqlite::row;
use crate::store::sqlite_record::statements;
use crate::{RecordId, StoreError, Timestamp, Token};

impl Engine {
    /// Answers `operation` by one statement if it finds what it usually does: a claim no record, the end of an attempt the record
    /// that it holds. The statement has that as its condition and changes nothing otherwise; then there is no answer yet.
    pub(super) fn usual(
        &mut self,
        id: &RecordId,
        operation: &Operation,
        now: Timestamp,
    ) -> Result<Option<Answer>, StoreError> {
        let (answer, written) = match operation {
            Operation::Claim(_) => {
                let (answer, Change::Put(record)) = decide(None, operation, now) else { return Ok(None) };
                let mut insert = self.prepare(statements::INSERT)?;
                (answer, row::write(&mut insert, id.as_bytes().as_slice(), &record))
            }
            Operation::Complete(completion) | Operation::Fail(completion) => {
                let held = held(completion.token, now);
                let (answer, Change::Put(record)) = decide(Some(&held), operation, now) else {
                    return Ok(None);
                };
                let mut settle = self.prepare(include_str!("../settle.sql"))?;
                (answer, row::settle(&mut settle, id, &record, now))
            }
            _ => return Ok(None),
        };
        if !written.map_err(|error| self.place.fault("write a record", error))? {
            return Ok(None);
        }
        self.wrote(operation);
        Ok(Some(answer))
    }
}

/// A record that this attempt holds. The rest of it is neither looked at nor changed by the end of the attempt.
fn held(token: Token, now: Timestamp) -> Record {
    Record {
        state: State::Held { lease_at: now, prior: Prior::None },
        token,
        fence: 0,
        tries: 0,
        fingerprint: None,
        made_at: now,
        drop_at: Timestamp::MAX,
    }
}
