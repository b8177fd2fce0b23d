//! Operations that need no transaction of several statements, or one that waits for nobody.

use std::time::Duration;

use super::Engine;
use crate::machine::{Answer, Change, Claim, Operation, Record, Verdict, decide};
use crate::store::sqlite::row::Glance;
use crate::store::sqlite::work::{Said, Wait, Work};
use crate::{RecordId, StoreError};

impl Engine {
    /// The verdict on `claim`, unless that takes a wait for the disk or for another process: then it is `None`, and nothing has been
    /// done. A caller on whom the look would be wasted says that the message is `new`, as far as it can guess.
    pub(in crate::store::sqlite) fn claim_in_place(
        &mut self,
        claim: &Claim,
        new: bool,
    ) -> Result<Option<Verdict>, StoreError> {
        self.look_then_grant(claim, new, || ())
    }

    fn look_then_grant(
        &mut self,
        claim: &Claim,
        new: bool,
        between: impl FnOnce(),
    ) -> Result<Option<Verdict>, StoreError> {
        let may_grant = !claim.must_survive() && !self.house.is_due();
        let operation = Operation::Claim(claim.clone());
        if may_grant && new {
            // Where another process writes, this may be a duplicate still, which need not wait for that.
            if let Some(verdict) = self.grant(&claim.id, &operation) {
                return Ok(Some(verdict));
            }
        }
        self.let_go();
        let found = self.glance(&claim.id)?;
        // Read after the look, so that no record that it could see is younger.
        let now = self.clock.now();
        if self.check_file(now).is_err() {
            // The writer meets this again, and reports it.
            return Ok(None);
        }
        if let Some(record) = found
            && let (Answer::Claim(verdict), Change::None) = decide(Some(&record), &operation, now)
        {
            return Ok(Some(verdict));
        }
        between();
        Ok(if may_grant && !new { self.grant(&claim.id, &operation) } else { None })
    }

    /// As much of the record as it takes to judge a claim.
    fn glance(&self, id: &RecordId) -> Result<Option<Record>, StoreError> {
        let looking = self.looking();
        match looking.glance(id)? {
            None => Ok(None),
            Some(Glance::Ended(record)) => Ok(Some(record)),
            Some(Glance::Unsettled) => looking.find(id),
        }
    }

    /// Judges a claim in a transaction of its own, if no other process writes. What goes wrong has been taken back: the writer waits
    /// for its turn, or meets it again and reports it.
    fn grant(&mut self, id: &RecordId, operation: &Operation) -> Option<Verdict> {
        let verdict = self.try_grant(id, operation);
        if verdict.is_err() {
            self.roll_back();
        }
        verdict.ok()
    }

    fn try_grant(&mut self, id: &RecordId, operation: &Operation) -> Result<Verdict, StoreError> {
        self.be_patient(Duration::ZERO)?;
        let begun = self.begin(Wait::Commit);
        self.be_patient(self.patience)?;
        let now = begun?;
        let Answer::Claim(verdict) = self.operate(id, operation, now)? else {
            unreachable!("a claim has a verdict")
        };
        self.commit()?;
        Ok(verdict)
    }

    /// Sets how long to wait for another process that writes.
    fn be_patient(&self, wait: Duration) -> Result<(), StoreError> {
        self.connection.busy_timeout(wait).map_err(|error| self.place.fault("set how it waits", error))
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
        // An end makes no fence, so it may be judged by an instant before the lock is held.
        let now = self.clock.now();
        self.check_file(now)?;
        self.wait_for(work.wait())?;
        let answer = self.retry_from_now(|engine| engine.usual(id, operation, now))?;
        if answer.is_some() {
            self.committed();
        }
        Ok(answer.map(Said::One))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::machine::OnLapse;
    use crate::store::sqlite::open;
    use crate::store::sqlite::tail::Keys;
    use crate::{Clock, Token};

    pub(in crate::store::sqlite::engine) fn claim(token: u8) -> Claim {
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

    /// Two that write to one file, as two processes do, and its directory.
    pub(in crate::store::sqlite::engine) fn engines(name: &str) -> (Engine, Engine, PathBuf) {
        let dir = std::env::temp_dir().join(format!("idem-in-place-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let place = open::locate(&dir.join("idem.db")).unwrap();
        let engine = || {
            let wait = Duration::from_secs(60);
            let connection = open::writer(&place, wait, None, false).unwrap();
            let keys = Arc::new(Keys::load(&connection, &place).unwrap());
            Engine::new(connection, place.clone(), Clock::wall(), wait, keys, 10)
        };
        (engine(), engine(), dir)
    }

    #[test]
    fn a_grant_gives_way_to_one_that_was_given_between_its_look_and_its_write() {
        let (mut one, mut other, dir) = engines("between");
        let between =
            || assert!(matches!(other.claim_in_place(&claim(2), false), Ok(Some(Verdict::Claimed(_)))));
        let verdict = one.look_then_grant(&claim(1), false, between);
        assert!(matches!(verdict, Ok(Some(Verdict::InProgress { .. }))), "{verdict:?}");
        assert!(one.connection.is_autocommit(), "the transaction is over");
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_message_that_was_taken_for_new_is_a_duplicate_all_the_same() {
        let (mut one, mut other, dir) = engines("new");
        assert!(matches!(other.claim_in_place(&claim(2), true), Ok(Some(Verdict::Claimed(_)))));
        let verdict = one.claim_in_place(&claim(1), true);
        assert!(matches!(verdict, Ok(Some(Verdict::InProgress { .. }))), "{verdict:?}");
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    /// Nothing else would show it: who does not know its own rows reads them, and is slower.
    #[test]
    fn a_row_that_was_committed_is_known_without_being_read() {
        let (mut one, other, dir) = engines("known");
        assert!(matches!(one.claim_in_place(&claim(1), true), Ok(Some(Verdict::Claimed(_)))));
        let last = |engine: &Engine| engine.position.map(|position| position.last);
        assert_eq!((one.row(&claim(1).id), last(&one)), (Some(1), Some(1)));
        let next = Claim { id: RecordId::from_bytes([2; 32]), ..claim(1) };
        one.transact(Wait::Commit, [Work::Claims(vec![next.clone()])].iter(), &mut Vec::new()).unwrap();
        assert_eq!((one.row(&next.id), last(&one)), (Some(2), Some(2)));
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn it_is_asked_how_far_things_are_once_another_process_has_written_and_not_before() {
        let (mut one, mut other, dir) = engines("asked");
        let of = |id: u8| Claim { id: RecordId::from_bytes([id; 32]), ..claim(id) };
        let grants = |engine: &mut Engine, id| {
            assert!(matches!(engine.claim_in_place(&of(id), true), Ok(Some(Verdict::Claimed(_)))));
        };
        grants(&mut one, 1);
        let before = one.others;
        grants(&mut one, 2);
        one.index_steps(usize::MAX).unwrap();
        one.tidy();
        grants(&mut one, 3);
        assert_eq!(one.others, before, "nobody else has written");
        grants(&mut other, 4);
        // A reader that has come upon it leaves the writer no wiser.
        one.keys.catch_up(&one.connection, &one.place).unwrap();
        let verdict = one.claim_in_place(&Claim { id: of(4).id, ..of(5) }, true);
        assert!(matches!(verdict, Ok(Some(Verdict::InProgress { .. }))), "{verdict:?}");
        assert_ne!(one.others, before);
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_grant_without_a_look_takes_no_number_of_a_row_that_came_and_went() {
        let (mut one, mut other, dir) = engines("number");
        let of = |id: u8| Claim { id: RecordId::from_bytes([id; 32]), ..claim(id) };
        assert!(matches!(one.claim_in_place(&of(1), true), Ok(Some(Verdict::Claimed(_)))));
        other.transact(Wait::Commit, [Work::Claims(vec![of(2)])].iter(), &mut Vec::new()).unwrap();
        assert_eq!(other.connection.execute("delete from idem_record where id = 2", []), Ok(1));
        assert!(matches!(one.claim_in_place(&of(3), true), Ok(Some(Verdict::Claimed(_)))));
        // Who has seen row 2 looks behind it only.
        let verdict = other.claim_in_place(&Claim { id: of(3).id, ..of(4) }, true);
        assert!(matches!(verdict, Ok(Some(Verdict::InProgress { .. }))), "{verdict:?}");
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn while_another_process_writes_a_duplicate_is_answered_and_a_new_message_left_to_the_writer() {
        let (mut one, other, dir) = engines("busy");
        assert!(matches!(one.claim_in_place(&claim(1), true), Ok(Some(Verdict::Claimed(_)))));
        other.run("begin immediate", "begin a transaction").unwrap();
        for new in [true, false] {
            assert!(matches!(one.claim_in_place(&claim(2), new), Ok(Some(Verdict::InProgress { .. }))));
            let id = RecordId::from_bytes([2; 32]);
            assert!(matches!(one.claim_in_place(&Claim { id, ..claim(1) }, new), Ok(None)));
            assert!(one.connection.is_autocommit(), "the transaction is over");
        }
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
