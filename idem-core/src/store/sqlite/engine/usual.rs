//! What nearly all operations come to, without a look before.

use super::Engine;
use crate::machine::{Answer, Change, Operation, Prior, Record, State, decide};
use crate::store::sqlite::lookup::ByKey;
use crate::store::sqlite::row;
use crate::{RecordId, StoreError, Timestamp, Token};

/// Writes the end of an attempt that holds its record.
const SETTLE: ByKey = ByKey {
    unique: concat!("update or fail idem_record set ", include_str!("settle.sql"), "k = ?1"),
    at: concat!(
        "update or fail idem_record set room = null, ",
        include_str!("settle.sql"),
        "id = ?9 and k = ?1"
    ),
    indexed: concat!(
        "update or fail idem_record set room = null, ",
        include_str!("settle.sql"),
        "id in (select record from idem_key where start = substr(?1, 1, 8)) and k = ?1"
    ),
};

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
                (answer, self.insert_new(id, &record)?)
            }
            Operation::Complete(completion) | Operation::Fail(completion) => {
                self.room.learn(completion);
                let held = held(completion.token, now);
                let (answer, Change::Put(record)) = decide(Some(&held), operation, now) else {
                    return Ok(None);
                };
                let row = self.row(id);
                let settle = SETTLE.text(&self.keys, row);
                let settled = row::settle(&mut *self.prepare(settle)?, id, &record, now, row);
                (answer, settled.map_err(|error| self.unwritten(error))?)
            }
            _ => return Ok(None),
        };
        if !written {
            return Ok(None);
        }
        self.wrote(operation);
        Ok(Some(answer))
    }

    /// The row of a key, if this transaction has made it or it is known to be in the tail.
    pub(super) fn row(&self, id: &RecordId) -> Option<i64> {
        self.made.get(id).copied().or_else(|| self.keys.known(id).row)
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
