//! One transaction for many operations.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{CachedStatement, Connection};

use self::housekeeping::Housekeeping;
use self::room::Room;
use super::lookup::Looking;
use super::queue::Needs;
use super::row;
use super::tail::{Keys, Position};
use super::work::{Said, Wait, Work};
use crate::clock::Clock;
use crate::machine::{Answer, Change, Ended, Operation, Record, State, decide};
use crate::store::sqlite_record::file::{Identity, identity};
use crate::store::sqlite_record::{Place, statements};
use crate::{RecordId, StoreError, StoreErrorKind, Timestamp};

mod appending;
mod housekeeping;
mod in_place;
mod indexing;
mod moment;
mod room;
mod usual;

/// The connection that writes.
pub(super) struct Engine {
    connection: Connection,
    place: Place,
    clock: Clock,
    /// How long the connection waits for another process that writes.
    patience: Duration,
    file: Identity,
    /// When the file was last looked for, and how often it was taken for granted since.
    checked: (Timestamp, u32),
    /// What the connection waits for at its next commit.
    level: Wait,
    commits: u64,
    house: Housekeeping,
    /// Pages in the log, as far as they can be guessed.
    logged: usize,
    /// Records written since the last commit.
    written: usize,
    keys: Arc<Keys>,
    /// Rows that this transaction has made.
    made: HashMap<RecordId, i64>,
    /// How far things are in the file, if that is known: it is as long as nobody else commits.
    position: Option<Position>,
    /// SQLite's count of the commits of others, when it was last asked for.
    others: Option<i64>,
    /// Transactions since the [moment] that is kept was taken; 0 if none is.
    moment: u32,
    /// How many keys are in the tail before they are put into the index.
    tail: usize,
    /// Whether they are being put there.
    indexing: bool,
    /// Rows that the last transaction has made, if none were put there since.
    batch: usize,
    /// What a claim keeps for its result.
    room: Room,
}

/// What an operation answered; the error concerns it alone.
pub(super) type Answers = Vec<Result<Said, StoreError>>;

impl Engine {
    /// Rows that a sweep looks at in one transaction.
    const WINDOW: usize = 4_096;
    /// How long it may take to notice that the file is gone, and how many operations if the clock stands still.
    const CHECK: (Duration, u32) =
        if cfg!(test) { (Duration::ZERO, 0) } else { (Duration::from_millis(100), 1_000) };

    pub(super) fn new(
        connection: Connection,
        place: Place,
        clock: Clock,
        patience: Duration,
        keys: Arc<Keys>,
        tail: usize,
    ) -> Self {
        let file = identity(place.path());
        Self {
            connection,
            place,
            clock,
            patience,
            file,
            checked: (Timestamp::ZERO, 0),
            level: Wait::Disk,
            commits: 0,
            house: Housekeeping::default(),
            logged: 0,
            written: 0,
            keys,
            made: HashMap::new(),
            position: None,
            others: None,
            moment: 0,
            tail,
            indexing: false,
            batch: 0,
            room: Room::default(),
        }
    }

    /// Transactions committed so far.
    pub(super) fn commits(&self) -> u64 {
        self.commits
    }

    /// What it needs, besides what it is asked for.
    pub(super) fn needs(&self) -> Needs {
        Needs { logged: self.logged, index: self.has_keys_to_index(), let_go: self.keeps_a_moment() }
    }

    /// Does all `work` in one transaction and adds one answer for each. On an error nothing of it has been done, unless it was
    /// the commit itself that failed: then that is unknown.
    pub(super) fn transact<'w>(
        &mut self,
        wait: Wait,
        work: impl Iterator<Item = &'w Work>,
        answers: &mut Answers,
    ) -> Result<(), StoreError> {
        let now = self.begin(wait)?;
        if std::mem::take(&mut self.house.full) {
            // Nothing is written while there is no room, so no write would ever come to clean up after.
            self.keep_house(Self::WINDOW, now)?;
        }
        for work in work {
            let answer = self.work(work, now);
            self.house.full |= matches!(&answer, Err(error) if error.kind() == StoreErrorKind::Full);
            // Some errors (no room, no memory) make SQLite roll back everything; others concern one record alone.
            match answer {
                Err(error) if self.connection.is_autocommit() => return Err(error),
                answer => answers.push(answer),
            }
        }
        if self.house.is_due() {
            let window = self.house.window();
            self.keep_house(window, now)?;
        }
        let committed = self.commit();
        self.house.full |= matches!(&committed, Err(error) if error.kind() == StoreErrorKind::Full);
        committed
    }

    /// Begins a transaction that writes, and says when.
    fn begin(&mut self, wait: Wait) -> Result<Timestamp, StoreError> {
        self.wait_for(wait)?;
        self.lock()?;
        // Read once the lock is held: no record in the file is younger, and nobody changes one until the commit.
        let now = self.clock.now();
        self.check_file(now)?;
        self.learn_position()?;
        Ok(now)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.run("commit", "commit")?;
        self.batch = self.made.len();
        if let Some(position) = self.position {
            self.keys.add(position.content, self.made.drain());
        }
        self.committed();
        Ok(())
    }

    /// Ends a transaction that failed midway.
    pub(super) fn roll_back(&mut self) {
        self.let_go();
        self.made.clear();
        // Rows of its own may be counted in it.
        self.position = None;
        if !self.connection.is_autocommit() {
            // If even this fails, every later transaction fails to begin and says so.
            let _ = self.connection.execute_batch("rollback");
        }
    }

    /// Copies the log back into the file.
    pub(super) fn tidy(&mut self) {
        self.let_go();
        self.logged = 0;
        // What goes wrong here is noticed by the next commit; until then the log only grows.
        let _ = self.connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()));
    }

    fn work(&mut self, work: &Work, now: Timestamp) -> Result<Said, StoreError> {
        match work {
            Work::One(id, operation) => self.operate(id, operation, now).map(Said::One),
            Work::Claims(claims) => {
                let mut verdicts = Vec::with_capacity(claims.len());
                for claim in claims {
                    let answer = self.operate(&claim.id, &Operation::Claim(claim.clone()), now)?;
                    if let Answer::Claim(verdict) = answer {
                        verdicts.push(verdict);
                    }
                }
                Ok(Said::Claims(verdicts))
            }
            Work::Ends(ends) => {
                let mut ended = Vec::with_capacity(ends.len());
                for end in ends {
                    ended.extend(Ended::of(self.operate(end.id(), &end.operation(), now)?));
                }
                Ok(Said::Ended(ended))
            }
            Work::Sweep { after, left, swept } => {
                let (gone, next) = self.sweep(*after, Self::WINDOW, *left, now)?;
                let left = left.saturating_sub(gone);
                let swept = swept + gone as u64;
                Ok(match next {
                    Some(after) if left > 0 => Said::More(Work::Sweep { after, left, swept }),
                    _ => Said::Swept(swept),
                })
            }
            #[cfg(test)]
            Work::Panic => panic!("a panic in the writer, on purpose"),
        }
    }

    fn operate(
        &mut self,
        id: &RecordId,
        operation: &Operation,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        if let Some(answer) = self.usual(id, operation, now)? {
            return Ok(answer);
        }
        let found = self.looking().find_known(id, self.made.get(id).copied())?;
        let (answer, change) = decide(found.as_ref().map(|found| &found.record), operation, now);
        match (change, found) {
            (Change::None, _) | (Change::Remove, None) => return Ok(answer),
            (Change::Put(record), Some(found)) => self.overwrite(found.row, &record)?,
            (Change::Put(record), None) => self.insert_absent(id, &record)?,
            // If the clock was set back, the next grant's fence would not be greater without this one's. A sweep takes it in time.
            (Change::Remove, Some(found)) if found.record.fence >= now.as_micros() => {
                let dead = Record { state: State::Open, drop_at: Timestamp::ZERO, ..found.record };
                self.overwrite(found.row, &dead)?;
            }
            (Change::Remove, Some(found)) => {
                let removed = self.prepare(statements::REMOVE)?.execute([found.row]);
                removed.map_err(|error| self.unwritten(error))?;
            }
        }
        self.wrote(operation);
        Ok(answer)
    }

    fn overwrite(&self, row: i64, record: &Record) -> Result<(), StoreError> {
        let written = row::write(&mut *self.prepare(statements::UPDATE)?, row, record);
        written.map(drop).map_err(|error| self.unwritten(error))
    }

    fn unwritten(&self, error: rusqlite::Error) -> StoreError {
        self.place.fault("write a record", error)
    }

    /// Counts a write.
    fn wrote(&mut self, operation: &Operation) {
        self.house.wrote();
        self.written += 1;
        self.logged += match operation {
            // Those that a large body fills.
            Operation::Complete(completion) | Operation::Fail(completion) => completion.body.len() / 4_096,
            // Of the table's own index.
            _ => usize::from(self.keys.are_unique()),
        };
    }

    /// Counts a commit.
    fn committed(&mut self) {
        self.commits += 1;
        // The records' own pages: rows that are written together lie side by side.
        self.logged += 1 + std::mem::take(&mut self.written) / 8;
    }

    fn looking(&self) -> Looking<'_> {
        Looking { connection: &self.connection, place: &self.place, keys: &self.keys }
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        self.connection.prepare_cached(sql).map_err(|error| self.place.fault("prepare a statement", error))
    }

    fn run(&self, sql: &str, doing: &str) -> Result<(), StoreError> {
        self.prepare(sql)?.execute([]).map(drop).map_err(|error| self.place.fault(doing, error))
    }

    /// A file or a log that was deleted or replaced takes writes that nobody will ever see, and without the `-shm` of the others
    /// their locks are not seen.
    fn check_file(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let (at, times) = self.checked;
        // Either way, because a clock may be set back.
        if now.since(at).max(at.since(now)) < Self::CHECK.0 && times < Self::CHECK.1 {
            self.checked.1 = times + 1;
            return Ok(());
        }
        if identity(self.place.path()) == self.file {
            self.checked = (now, 0);
            return Ok(());
        }
        Err(self.place.error(
            StoreErrorKind::Misconfigured,
            "the file, its `-wal` or its `-shm` was deleted or replaced while it was open; open the store again",
        ))
    }

    /// Tells SQLite what the next commit waits for. In write-ahead mode `normal` leaves out the sync and nothing else.
    fn wait_for(&mut self, wait: Wait) -> Result<(), StoreError> {
        if self.level == wait {
            return Ok(());
        }
        // In a number, because this one cannot be kept ready: it takes effect as it is prepared.
        let level = match wait {
            Wait::Commit => "pragma synchronous=1",
            Wait::Disk => "pragma synchronous=2",
        };
        self.connection.prepare(level).map_err(|error| self.place.fault("set how it syncs", error))?;
        self.level = wait;
        Ok(())
    }
}
