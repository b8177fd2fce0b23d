//! Operations that need no transaction of several statements, or one that waits for nobody.

use rusqlite::Connection;

use super::Engine;
use crate::StoreError;
use crate::machine::{Answer, Change, Claim, Operation, Record, Verdict, decide};
use crate::store::sqlite::row::{self, Glance};
use crate::store::sqlite::work::{Said, Wait, Work};
use crate::store::sqlite_record::statements;

impl Engine {
    /// The verdict on `claim`, unless that takes a wait for the disk or for another process, or changes a record that is there:
    /// then it is `None`, and nothing has been done.
    ///
    /// Look and grant are one transaction. It starts as a look, so a duplicate costs one statement and no lock. SQLite lets it go
    /// on to a write only if nobody else has written since, and says so at once where a writer from the start would wait.
    pub(in crate::store::sqlite) fn claim_in_place(
        &mut self,
        claim: &Claim,
    ) -> Result<Option<Verdict>, StoreError> {
        self.look_then_grant(claim, || ())
    }

    fn look_then_grant(
        &mut self,
        claim: &Claim,
        between: impl FnOnce(),
    ) -> Result<Option<Verdict>, StoreError> {
        let may_grant = !claim.must_survive() && !self.house.is_due();
        if may_grant {
            self.wait_for(Wait::Commit)?;
        }
        if self.check_file().is_err() {
            // The writer meets this again, and reports it.
            return Ok(None);
        }
        let operation = Operation::Claim(claim.clone());
        let unreadable = |error| self.place.unreadable(&claim.id, error);
        let mut peek = self.prepare(include_str!("../peek.sql"))?;
        let mut rows =
            peek.query([claim.id.as_bytes().as_slice()]).map_err(|error| unreadable(error.into()))?;
        let found = match row::peek(&mut rows).map_err(unreadable)? {
            Glance::Absent if may_grant => None,
            Glance::Absent => return Ok(None),
            Glance::Ended(record) => Some(record),
            Glance::Unsettled => row::find(&mut *self.prepare(statements::FIND)?, &claim.id)
                .map_err(unreadable)?
                .map(|found| found.record),
        };
        let transaction = Open(&self.connection);
        if found.is_none() {
            // While the look lasts, so that the transaction goes on from what it saw.
            self.run("begin", "begin a transaction")?;
        }
        drop(rows);
        between();
        // Read after the look, so that no record that it could see is younger.
        let now = self.clock.now();
        let verdict = match decide(found.as_ref(), &operation, now) {
            (Answer::Claim(verdict), Change::None) => return Ok(Some(verdict)),
            (Answer::Claim(verdict), Change::Put(record)) if found.is_none() => {
                match self.insert(claim, &record) {
                    Ok(()) => verdict,
                    // The writer waits for its turn, or meets this again and reports it.
                    Err(_) => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        drop(transaction);
        drop(peek);
        self.wrote(&operation);
        self.committed();
        Ok(Some(verdict))
    }

    fn insert(&self, claim: &Claim, record: &Record) -> Result<(), StoreError> {
        let mut insert = self.prepare(statements::INSERT)?;
        row::write(&mut insert, claim.id.as_bytes().as_slice(), record)
            .map_err(|error| self.place.fault("write a record", error))?;
        self.run("commit", "commit")
    }

    /// The end of an attempt that holds its record, by a statement that is its own transaction. `None` if there is more to do, and
    /// nothing has been done.
    pub(in crate::store::sqlite) fn end_alone(&mut self, work: &Work) -> Result<Option<Said>, StoreError> {
        let Work::One(id, operation @ (Operation::Complete(_) | Operation::Fail(_))) = work else {
            return Ok(None);
        };
        if self.house.is_due() {
            return Ok(None);
        }
        self.check_file()?;
        self.wait_for(work.wait())?;
        // An end makes no fence, so it may be judged by an instant before the lock is held.
        let answer = self.usual(id, operation, self.clock.now())?;
        if answer.is_some() {
            self.committed();
        }
        Ok(answer.map(Said::One))
    }
}

/// A transaction that is taken back unless it was committed.
struct Open<'c>(&'c Connection);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // If even this fails, every later transaction fails to begin and says so.
            let _ = self.0.execute_batch("rollback");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::machine::OnLapse;
    use crate::store::sqlite::open;
    use crate::{Clock, RecordId, Token};

    fn claim(token: u8) -> Claim {
        Claim {
            id: RecordId::from_bytes([1; 32]),
            token: Token::from_bytes([token; 16]),
            fingerprint: None,
            lease: Duration::from_secs(30),
            keep: Duration::from_secs(60),
            on_lapse: OnLapse::Rerun,
            max_tries: 5,
            durable: false,
        }
    }

    #[test]
    fn a_grant_gives_way_to_one_that_was_given_between_its_look_and_its_write() {
        let dir = std::env::temp_dir().join(format!("idem-in-place-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let place = open::locate(&dir.join("idem.db")).unwrap();
        let engine = || {
            let connection = open::writer(&place, Duration::from_secs(60), None, false).unwrap();
            Engine::new(connection, place.clone(), Clock::wall())
        };
        let (mut one, mut other) = (engine(), engine());
        let between = || assert!(matches!(other.claim_in_place(&claim(2)), Ok(Some(Verdict::Claimed(_)))));
        assert!(matches!(one.look_then_grant(&claim(1), between), Ok(None)));
        assert!(one.connection.is_autocommit(), "the transaction is over");
        assert!(matches!(one.claim_in_place(&claim(1)), Ok(Some(Verdict::InProgress { .. }))));

        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let id = RecordId::from_bytes([2; 32]);
            one.look_then_grant(&Claim { id, ..claim(1) }, || panic!("a panic amid a grant, on purpose"))
        }));
        assert!(panics.is_err());
        assert!(one.connection.is_autocommit(), "and so it is after a panic");
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
