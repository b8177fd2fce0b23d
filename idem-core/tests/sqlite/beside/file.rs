//! The file, as another program sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use idem_core::Timestamp;
use idem_core::machine::{Record, State, StateKind};
use rusqlite::Connection;
use rusqlite::backup::Progress;

use super::Wrong;
use super::model::{Model, id, key};
use super::steps::Which;

/// A connection that is none of a store's.
pub(super) struct Outside(Connection);

impl Outside {
    pub(super) fn open(file: &Path) -> Self {
        let connection = Connection::open(file).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        Self(connection)
    }

    /// Deletes what an operator might.
    pub(super) fn delete(&self, which: &Which, keys: u16, now: Timestamp) {
        let now = i64::try_from(now.as_micros()).unwrap();
        match which {
            Which::Dead => self.0.execute("delete from idem_record where drop_at <= ?1", [now]),
            Which::LastDead(rows) => self.0.execute(
                "delete from idem_record where drop_at <= ?1 and id > (select max(id) from idem_record) - ?2",
                (now, rows),
            ),
            Which::One(one) => {
                self.0.execute("delete from idem_record where k = ?1", [id(one % keys).as_bytes().as_slice()])
            }
            Which::All => self.0.execute("delete from idem_record", []),
        }
        .unwrap();
    }

    /// An online backup.
    pub(super) fn copy(&self, to: &Path) {
        self.0.backup("main", to, None).unwrap();
    }

    pub(super) fn restore(&mut self, from: &Path) {
        self.0.restore("main", from, None::<fn(Progress)>).unwrap();
    }

    /// Takes back every transaction that makes a row of `refused`, while `work` is done.
    pub(super) fn refusing<T>(&self, refused: u16, work: impl FnOnce() -> T) -> T {
        // The end of a name is its key.
        let refusing = format!(
            "create trigger refusing before insert on idem_record when substr(new.k, 31) = x'{refused:04x}' \
             begin select raise(rollback, 'refused'); end"
        );
        self.0.execute_batch(&refusing).unwrap();
        let done = work();
        self.0.execute_batch("drop trigger refusing").unwrap();
        done
    }

    /// Takes from the model what is not in the file.
    pub(super) fn teach(&self, model: &mut Model) {
        let seen = Seen::by(&self.0);
        model.records.retain(|key, _| seen.rows.values().any(|row| row.key() == *key));
    }

    /// Whether the file holds the records of the model, but for dead ones that a store has deleted, and finds all that its index says it
    /// finds.
    pub(super) fn agrees_with(&self, model: &mut Model, now: Timestamp) -> Result<(), Wrong> {
        let seen = Seen::by(&self.0);
        seen.is_whole()?;
        let mut there = BTreeSet::new();
        for row in seen.rows.values() {
            let key = row.key();
            if !there.insert(key) {
                return Err(format!("key {key} has two rows"));
            }
            match model.records.get(&key).map(|record| Row::of(key, record)) {
                None => return Err(format!("key {key} has a row, and nobody has made it")),
                Some(expected) if expected != *row => {
                    return Err(format!("{expected:?} expected in the file, and {row:?} found"));
                }
                Some(_) => {}
            }
        }
        for key in model.removable(now).collect::<Vec<_>>() {
            if !there.contains(&key) {
                model.records.remove(&key);
            }
        }
        match model.records.keys().find(|key| !there.contains(key)) {
            Some(key) => Err(format!("key {key} has no row, and nobody may have deleted it")),
            None => Ok(()),
        }
    }
}

/// A record, as far as it takes to tell it from what it was before.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: Vec<u8>,
    state: i64,
    token: Vec<u8>,
    fence: i64,
    tries: i64,
    drop_at: i64,
    lease_at: Option<i64>,
}

impl Row {
    const READ: &str = "select id, k, st, token, fence, tries, drop_at, lease_at from idem_record";

    fn of(key: u16, record: &Record) -> Self {
        let whole = |number: u64| i64::try_from(number).unwrap();
        let lease_at = match record.state {
            State::Held { lease_at, .. } => Some(whole(lease_at.as_micros())),
            _ => None,
        };
        Self {
            name: id(key).as_bytes().to_vec(),
            state: match record.state.kind() {
                StateKind::Open => 0,
                StateKind::Held => 1,
                StateKind::Done => 2,
                StateKind::Failed => 3,
            },
            token: record.token.as_bytes().to_vec(),
            fence: whole(record.fence),
            tries: record.tries.into(),
            drop_at: whole(record.drop_at.as_micros()),
            lease_at,
        }
    }

    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, Self)> {
        Ok((
            row.get(0)?,
            Self {
                name: row.get(1)?,
                state: row.get(2)?,
                token: row.get(3)?,
                fence: row.get(4)?,
                tries: row.get(5)?,
                drop_at: row.get(6)?,
                lease_at: row.get(7)?,
            },
        ))
    }

    fn key(&self) -> u16 {
        key(&self.name)
    }
}

/// All that is in the file at one moment.
struct Seen {
    rows: BTreeMap<i64, Row>,
    index: BTreeSet<(Vec<u8>, i64)>,
    upto: i64,
    next: i64,
    byte: i64,
    floor: i64,
}

impl Seen {
    fn by(connection: &Connection) -> Self {
        connection.execute_batch("begin").unwrap();
        let (upto, next, byte, floor) = connection
            .query_row("select upto, next, byte, floor from idem_index", [], |row| row.try_into())
            .unwrap();
        let seen = Self {
            rows: all(connection, Row::READ, Row::read),
            index: all(connection, "select start, record from idem_key", |row| row.try_into()),
            upto,
            next,
            byte,
            floor,
        };
        connection.execute_batch("commit").unwrap();
        seen
    }

    fn is_whole(&self) -> Result<(), Wrong> {
        let Self { upto, next, byte, floor, .. } = *self;
        for (start, row) in &self.index {
            if self.rows.get(row).is_none_or(|row| !row.name.starts_with(start)) {
                return Err(format!("the index names row {row}, which is not there with a key of {start:?}"));
            }
        }
        let last = self.rows.keys().next_back().map_or(floor, |last| floor.max(*last));
        if upto.max(next) > last {
            return Err(format!("the index knows row {}, and there was none behind {last}", upto.max(next)));
        }
        for (at, row) in &self.rows {
            let due = *at <= upto || *at <= next && i64::from(row.name[0]) < byte;
            if due && !self.index.contains(&(row.name[..8].to_vec(), *at)) {
                return Err(format!("row {at} of key {} is not in the index", row.key()));
            }
        }
        Ok(())
    }
}

fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> C {
    connection.prepare_cached(sql).unwrap().query_map([], read).unwrap().collect::<Result<_, _>>().unwrap()
}
