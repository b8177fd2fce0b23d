//! The moment of the file that the last transaction left is kept for the next.
//!
//! SQLite reads a file as it was at one moment, and marks that by locks. A transaction takes and gives back four for its moment, each by a
//! call of the system, and two to write. But a statement that is not read to its end keeps the moment of its connection: so the next
//! transaction begins from there, and pays the last two only. If somebody else has committed since, SQLite refuses to write from an old
//! moment, and a new one is taken. (<https://www.sqlite.org/isolation.html>, <https://www.sqlite.org/rescode.html#busy_snapshot>)
//!
//! What is looked at with the connection outside of a transaction is as old as its moment, and as long as that is kept nobody can begin the
//! log anew. So it is let go of before each look, before the log is copied back, after some transactions, and once nothing has come for a
//! while; and it is not kept where others write too. None of this decides what is true: who begins to write asks SQLite whether
//! others have.

use std::error::Error;

use rusqlite::Error as SqliteError;

use super::Engine;
use crate::StoreError;
use crate::store::sqlite_record::code;

/// A number that is another once somebody else has committed, whatever that was: rows, or all content of an earlier file.
const COMMITS_OF_OTHERS: &str = "pragma data_version";

impl Engine {
    /// Transactions for which a moment is kept at most. The locks of one are nothing among so many.
    const TIMES: u32 = 64;

    /// Takes the lock to write.
    pub(super) fn lock(&mut self) -> Result<(), StoreError> {
        let lock = |engine: &Self| engine.run("begin immediate", "begin a transaction");
        if self.moment >= Self::TIMES {
            self.let_go();
        }
        // From an old moment there is no waiting for others, and nothing to be had from it.
        if self.moment > 0 && lock(self).is_ok() {
            return Ok(());
        }
        self.let_go();
        lock(self)
    }

    /// Whether somebody else has committed since this was last asked, in a transaction that writes. If nobody has, its moment is kept.
    pub(super) fn others_have_written(&mut self) -> Result<bool, StoreError> {
        let count = self.commits_of_others();
        let count = count.map_err(|error| self.place.fault("ask whether others have written", error))?;
        self.moment += 1;
        let changed = self.others.replace(count) != Some(count);
        if changed {
            self.let_go();
        }
        Ok(changed)
    }

    /// The count, by a statement that is left in its midst.
    pub(super) fn commits_of_others(&self) -> rusqlite::Result<i64> {
        let mut statement = self.connection.prepare_cached(COMMITS_OF_OTHERS)?;
        drop(statement.raw_query());
        let mut rows = statement.raw_query();
        let count = rows.next()?.ok_or(SqliteError::QueryReturnedNoRows)?.get(0)?;
        // Dropped, it would be at its beginning again. So it goes back among the statements that are kept ready.
        std::mem::forget(rows);
        Ok(count)
    }

    /// Whether a moment is kept.
    pub(super) fn keeps_a_moment(&self) -> bool {
        self.moment > 0
    }

    /// Lets go of the moment that is kept.
    pub(in crate::store::sqlite) fn let_go(&mut self) {
        if std::mem::take(&mut self.moment) == 0 {
            return;
        }
        if let Ok(mut statement) = self.connection.prepare_cached(COMMITS_OF_OTHERS) {
            // Which puts it back to its beginning.
            drop(statement.raw_query());
        }
    }

    /// Does `work`, which is a transaction of one statement, and does it once more if the moment that is kept was in its way.
    pub(super) fn retry_from_now<T>(
        &mut self,
        work: impl Fn(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = work(self);
        if !self.keeps_a_moment() || !done.as_ref().is_err_and(is_busy) {
            return done;
        }
        self.let_go();
        work(self)
    }
}

fn is_busy(error: &StoreError) -> bool {
    error.source().and_then(|source| source.downcast_ref::<SqliteError>()).is_some_and(code::is_busy)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::machine::{Answer, Claim, Completion, Operation, Recorded, Verdict};
    use crate::store::sqlite::engine::in_place::tests::{claim, engines};
    use crate::store::sqlite::work::{Said, Wait, Work};
    use crate::{Body, RecordId};

    fn of(id: u8) -> Claim {
        Claim { id: RecordId::from_bytes([id; 32]), ..claim(id) }
    }

    fn grant(engine: &mut Engine, id: u8) {
        let verdict = engine.claim_in_place(&of(id), true);
        assert!(matches!(verdict, Ok(Some(Verdict::Claimed(_)))), "{verdict:?}");
    }

    fn end(id: u8) -> Work {
        let Claim { id, token, keep, .. } = of(id);
        let body = Body::copy_from(b"receipt");
        let completion = Completion { id, token, fence: 0, fingerprint: None, body, ttl: keep, keep };
        Work::One(id, Operation::Complete(completion))
    }

    fn complete(engine: &mut Engine, id: u8) {
        let said = engine.end_alone(&end(id));
        assert!(matches!(said, Ok(Some(Said::One(Answer::Record(Recorded::Stored))))));
    }

    #[test]
    fn a_moment_is_kept_while_nobody_else_writes() {
        let (mut one, mut other, dir) = engines("alone");
        for id in 1..=3 {
            grant(&mut one, id);
            complete(&mut one, id);
            assert_eq!((one.keeps_a_moment(), one.connection.is_busy()), (id > 1, id > 1), "{id}");
        }
        grant(&mut other, 4);
        // From the old moment there is nothing to be written.
        grant(&mut one, 5);
        assert_eq!((one.keeps_a_moment(), one.connection.is_busy()), (false, false));
        grant(&mut one, 6);
        assert!(one.keeps_a_moment());
        grant(&mut other, 7);
        let verdict = one.claim_in_place(&Claim { token: claim(8).token, ..of(7) }, true);
        assert!(matches!(verdict, Ok(Some(Verdict::InProgress { .. }))), "{verdict:?}");
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn an_end_alone_is_written_though_others_have_written_since_the_moment() {
        let (mut one, mut other, dir) = engines("end");
        grant(&mut one, 1);
        grant(&mut one, 2);
        grant(&mut other, 3);
        assert!(one.keeps_a_moment());
        complete(&mut one, 1);
        complete(&mut other, 3);
        complete(&mut one, 2);
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_look_is_of_now() {
        let (mut one, mut other, dir) = engines("look");
        grant(&mut one, 1);
        grant(&mut one, 2);
        other.transact(Wait::Disk, [end(1)].iter(), &mut Vec::new()).unwrap();
        assert!(one.keeps_a_moment());
        let again = Claim { token: claim(9).token, ..of(1) };
        let verdict = one.claim_in_place(&again, false);
        assert!(matches!(verdict, Ok(Some(Verdict::Completed { .. }))), "{verdict:?}");
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn who_writes_without_a_pause_lets_others_copy_the_log_back() {
        let (mut one, other, dir) = engines("log");
        other.connection.busy_timeout(Duration::ZERO).unwrap();
        let copy_back = |mode| {
            let copied: rusqlite::Result<(i64, i64, i64)> =
                other.connection.query_row(&format!("pragma wal_checkpoint({mode})"), [], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                });
            copied.unwrap()
        };
        grant(&mut one, 1);
        grant(&mut one, 2);
        let (_, long, copied) = copy_back("passive");
        assert!(copied < long, "the moment is kept");
        for id in 3..=u8::try_from(Engine::TIMES + 3).unwrap() {
            grant(&mut one, id);
        }
        assert!(copy_back("passive").2 > long);
        assert_eq!(copy_back("truncate").0, 1, "the moment is in the way");
        one.tidy();
        assert_eq!(copy_back("truncate"), (0, 0, 0));
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
