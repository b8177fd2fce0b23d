//! The keys that a file's index does not know yet.
//!
//! A file of idem's own has an index of keys that is behind: see `keys.sql`. The keys of the rows behind it, the *tail*, are in each process's memory. Rows
//! are numbered in the order in which they were committed, and no number is given twice; so whoever knows the tail up to some
//! row, and sees that there is none behind it, knows all of it. Who writes need not even look for one as long as SQLite counts no commit of others.
//!
//! That holds for one content of the file. Where another is put into it while processes have it open, as an online restore does, rows are given
//! again; but SQLite counts that, as each change of the schema, and then all is read anew.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::store::sqlite_record::Place;
use crate::{RecordId, StoreError};

/// How keys are kept in a file.
pub(super) enum Keys {
    /// By an index that the table has itself.
    Unique,
    /// By an index beside it, and the tail.
    Apart(Mutex<Tail>),
}

/// How far things have come in a file, as a transaction sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// Which [`content`](Tail::content) of the file this is about.
    pub(super) content: i64,
    /// The last row that there has ever been.
    pub(super) last: i64,
    /// The row up to which keys are in the index.
    pub(super) upto: i64,
    /// The row up to which they are being put there; 0 if they are not.
    pub(super) next: i64,
    /// The first byte of a key from which that is still to be done.
    pub(super) byte: i64,
}

/// What the tail says of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Its row, which may be gone.
    pub(super) row: Option<i64>,
    /// Where the tail begins: whatever came before it, the index knows.
    upto: i64,
}

const POSITION: &str =
    "select max(floor, coalesce((select max(id) from idem_record), 0)), upto, next, byte from idem_index";

impl Keys {
    /// Those of a file of idem's own.
    pub(super) fn load(connection: &Connection, place: &Place) -> Result<Self, StoreError> {
        let content = content(connection).map_err(|error| place.fault("read its keys", error))?;
        let keys = Self::Apart(Mutex::new(Tail { content, ..Tail::default() }));
        keys.catch_up(connection, place)?;
        Ok(keys)
    }

    pub(super) fn are_unique(&self) -> bool {
        matches!(self, Self::Unique)
    }

    /// What is known of a key.
    pub(super) fn known(&self, id: &RecordId) -> Known {
        self.tail()
            .map_or(Known::default(), |tail| Known { row: tail.rows.get(id).copied(), upto: tail.upto })
    }

    /// How many keys are in the tail.
    pub(super) fn len(&self) -> usize {
        self.tail().map_or(0, |tail| tail.rows.len())
    }

    /// Reads the keys of the rows that have come since, as the connection sees them, and says how far things are. `None` if the table has
    /// its own index.
    pub(super) fn catch_up(
        &self,
        connection: &Connection,
        place: &Place,
    ) -> Result<Option<Position>, StoreError> {
        let Self::Apart(tail) = self else { return Ok(None) };
        catch_up(tail, connection).map(Some).map_err(|error| place.fault("read its keys", error))
    }

    /// Adds rows that this process has committed to `content`.
    pub(super) fn add(&self, content: i64, rows: impl IntoIterator<Item = (RecordId, i64)>) {
        if let Some(mut tail) = self.tail().filter(|tail| tail.content == content) {
            rows.into_iter().for_each(|(id, row)| tail.add(id, row));
        }
    }

    /// Which content of the file it is that is known.
    pub(super) fn content(&self) -> i64 {
        self.tail().map_or(0, |tail| tail.content)
    }

    /// Forgets what it knows.
    pub(super) fn forget(&self) {
        if let Some(mut tail) = self.tail() {
            *tail = Tail::default();
        }
    }

    /// The keys in the tail up to a row whose first byte is one of `bytes`, in their order.
    pub(super) fn part(&self, upto: i64, bytes: &std::ops::Range<i64>) -> Vec<(RecordId, i64)> {
        let Some(tail) = self.tail() else { return Vec::new() };
        let is_in = |id: &RecordId| bytes.contains(&i64::from(id.as_bytes()[0]));
        let part = tail.rows.iter().filter(|(id, row)| **row <= upto && is_in(id));
        let mut part: Vec<_> = part.map(|(id, row)| (*id, *row)).collect();
        drop(tail);
        part.sort_unstable_by(|(one, _), (other, _)| one.as_bytes().cmp(other.as_bytes()));
        part
    }

    fn tail(&self) -> Option<MutexGuard<'_, Tail>> {
        match self {
            Self::Unique => None,
            Self::Apart(tail) => Some(lock(tail)),
        }
    }
}

/// What one process knows of the keys behind the index.
#[derive(Default)]
pub(super) struct Tail {
    /// Keys by which there was a row once. One that is gone may be among them.
    rows: HashMap<RecordId, i64>,
    /// The row up to which the index knows the keys.
    upto: i64,
    /// The last row that is known.
    last: i64,
    /// SQLite's count of changes to the schema, which grows when other content is put into the file, too.
    content: i64,
}

impl Tail {
    fn add(&mut self, id: RecordId, row: i64) {
        if row > self.upto {
            let known = self.rows.entry(id).or_insert(row);
            *known = row.max(*known);
        }
        self.last = self.last.max(row);
    }

    fn is_indexed_up_to(&mut self, upto: i64) {
        if upto > self.upto {
            self.rows.retain(|_, row| *row > upto);
            self.upto = upto;
            self.last = self.last.max(upto);
        }
    }
}

fn catch_up(tail: &Mutex<Tail>, connection: &Connection) -> rusqlite::Result<Position> {
    loop {
        let Tail { content, last, .. } = *lock(tail);
        let mut position = connection.prepare_cached(POSITION)?.query_row([], |row| {
            Ok(Position {
                content,
                last: row.get(0)?,
                upto: row.get(1)?,
                next: row.get(2)?,
                byte: row.get(3)?,
            })
        })?;
        let from = last.max(position.upto);
        let rows = if position.last > from { rows_behind(from, connection)? } else { Vec::new() };
        // Asked at the end: if it is what it was before the beginning, all that was read is of it.
        position.content = self::content(connection)?;

        let mut known = lock(tail);
        if position.content > known.content {
            *known = Tail { content: position.content, ..Tail::default() };
        } else if position.content == content && content == known.content {
            known.is_indexed_up_to(position.upto);
            for (id, row) in rows {
                known.add(id, row);
            }
            known.last = known.last.max(position.last);
            return Ok(position);
        } else if position.content < known.content
            && (!connection.is_autocommit() || content == known.content)
        {
            // It sees the file as it was earlier, or somebody has set the count back.
            return Ok(position);
        }
    }
}

/// Which content the file has: other content that is put into it raises this.
fn content(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("pragma schema_version")?.query_row([], |row| row.get(0))
}

fn rows_behind(row: i64, connection: &Connection) -> rusqlite::Result<Vec<(RecordId, i64)>> {
    let mut behind = connection.prepare_cached("select id, k from idem_record where id > ?1")?;
    let rows = behind.query_map([row], |row| Ok((RecordId::from_bytes(row.get(1)?), row.get(0)?)))?;
    rows.collect()
}

fn lock(tail: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    // Whatever panicked, no more is in it than was read.
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use rusqlite::backup::Progress;

    use super::*;
    use crate::store::sqlite::open;

    /// A file, who writes to it, and its directory.
    fn file(name: &str) -> (Place, Connection, PathBuf) {
        let dir = std::env::temp_dir().join(format!("idem-tail-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let place = open::locate(&dir.join("idem.db")).unwrap();
        let connection = open::writer(&place, Duration::from_secs(1), None, false).unwrap();
        (place, connection, dir)
    }

    fn id(key: u8) -> RecordId {
        RecordId::from_bytes([key; 32])
    }

    fn put(connection: &Connection, rows: std::ops::RangeInclusive<u8>) {
        let put = "insert into idem_record (id, k, st, token, fence, tries, made_at, drop_at) \
                   values (?1, ?2, 0, zeroblob(16), 0, 1, 0, 0)";
        for row in rows {
            connection.execute(put, (row, id(row).as_bytes().as_slice())).unwrap();
        }
    }

    fn restore(connection: &mut Connection, copy: &Path) {
        connection.restore("main", copy, None::<fn(Progress)>).unwrap();
    }

    #[test]
    fn what_a_moment_before_a_restore_shows_is_not_taken_for_what_there_is_since() {
        let (place, mut writer, dir) = file("moment");
        let copy = dir.join("copy.db");
        put(&writer, 1..=3);
        writer.backup("main", &copy, None).unwrap();
        put(&writer, 4..=9);
        let keys = Keys::load(&writer, &place).unwrap();
        let moment = open::reader(&place, Duration::from_secs(1)).unwrap();
        moment.execute_batch("begin; select count(*) from idem_record").unwrap();
        let seen = |connection: &Connection| keys.catch_up(connection, &place).unwrap().unwrap();

        restore(&mut writer, &copy);
        let before = seen(&moment);
        assert_eq!((before.last, keys.known(&id(7)).row), (9, Some(7)), "nobody has looked");
        let since = seen(&writer);
        assert_eq!(since.last, 3);
        assert!(since.content > before.content);
        assert_eq!(seen(&moment), before);
        assert_eq!((keys.len(), keys.known(&id(2)).row, keys.known(&id(7)).row), (3, Some(2), None));
        // Nor are rows of ones own that were committed before.
        keys.add(before.content, [(id(10), 10)]);
        assert_eq!(keys.known(&id(10)).row, None);
        drop((writer, moment));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn rows_are_given_behind_the_last_that_there_has_ever_been() {
        let (place, writer, dir) = file("gone");
        put(&writer, 1..=4);
        let keys = Keys::load(&writer, &place).unwrap();
        writer.execute_batch("delete from idem_record where id > 2").unwrap();
        assert_eq!(keys.catch_up(&writer, &place).unwrap().unwrap().last, 4);
        // A vacuum counts as other content, and is none.
        writer.execute_batch("vacuum").unwrap();
        assert_eq!(keys.catch_up(&writer, &place).unwrap().unwrap().last, 4);
        assert_eq!((keys.len(), keys.known(&id(2)).row), (2, Some(2)));
        drop(writer);
        std::fs::remove_dir_all(dir).unwrap();
    }

    /// A reader that waited for a greater one would wait for ever.
    #[test]
    fn a_count_that_was_set_back_by_hand_stops_nobody() {
        let (place, writer, dir) = file("back");
        put(&writer, 1..=4);
        let keys = Keys::load(&writer, &place).unwrap();
        writer.execute_batch("pragma schema_version = 1; insert into idem_record select 5, zeroblob(32), st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body, room from idem_record where id = 4").unwrap();
        let position = keys.catch_up(&writer, &place).unwrap().unwrap();
        assert_eq!((position.content, position.last), (1, 5));
        assert!(keys.content() > 1);
        keys.forget();
        keys.catch_up(&writer, &place).unwrap();
        assert_eq!((keys.content(), keys.len()), (1, 5));
        drop(writer);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
