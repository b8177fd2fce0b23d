//! The keys that a file's index does not know yet.
//!
//! A file of idem's own has an index of keys that is behind: see `keys.sql`. The keys of the rows behind it, the *tail*, are in each process's memory. Rows
//! are numbered in the order in which they were committed, and no number is given twice; so whoever knows the tail up to some
//! row, and sees that there is none behind it, knows all of it.
//!
//! That holds for one file. If older content is put into it while processes have it open (an online restore), rows are given again; so who looks how far things
//! are also looks whether they went back, and whether the last row that it knows is still that of the same key. If not, it begins anew.

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
    /// The last row that there is.
    pub(super) end: i64,
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

/// With the key that a row has.
const POSITION: &str = "select coalesce((select max(id) from idem_record), 0), floor, upto, next, byte, \
                        (select k from idem_record where id = ?1) from idem_index";

impl Keys {
    /// Those of a file of idem's own.
    pub(super) fn load(connection: &Connection, place: &Place) -> Result<Self, StoreError> {
        let keys = Self::Apart(Mutex::default());
        keys.catch_up(connection, place, None)?;
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

    /// The row behind the last that is known, and the key of that last one, for a key that is in none of them. All is of one moment: a
    /// reader may find more rows at any time, and this key in one of them.
    pub(super) fn next_row(&self, id: &RecordId) -> Option<(i64, RecordId)> {
        let tail = self.tail()?;
        let (row, key) = tail.anchor.filter(|(row, _)| *row == tail.last)?;
        (!tail.rows.contains_key(id)).then_some((row + 1, key))
    }

    /// How often what was known has turned out to be of other content.
    pub(super) fn era(&self) -> u64 {
        self.tail().map_or(0, |tail| tail.era)
    }

    /// How many keys are in the tail.
    pub(super) fn len(&self) -> usize {
        self.tail().map_or(0, |tail| tail.rows.len())
    }

    /// Reads the keys of the rows that have come since, as the connection sees them, and says how far things are. `None` if the table has
    /// its own index. Who sees the file as it was earlier says what [`era`](Self::era) that was of, if not before this call.
    pub(super) fn catch_up(
        &self,
        connection: &Connection,
        place: &Place,
        era: Option<u64>,
    ) -> Result<Option<Position>, StoreError> {
        let Self::Apart(tail) = self else { return Ok(None) };
        catch_up(tail, connection, era).map(Some).map_err(|error| place.fault("read its keys", error))
    }

    /// Adds rows that this process has committed behind row `last`. If that one is not known, they are read with it.
    pub(super) fn add(&self, last: i64, rows: impl IntoIterator<Item = (RecordId, i64)>) {
        if let Some(mut tail) = self.tail().filter(|tail| tail.last >= last) {
            rows.into_iter().for_each(|(id, row)| tail.add(id, row));
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
    /// The last one of which the key is known too.
    anchor: Option<(i64, RecordId)>,
    /// How often all of this was forgotten.
    era: u64,
}

impl Tail {
    fn add(&mut self, id: RecordId, row: i64) {
        if row > self.upto {
            let known = self.rows.entry(id).or_insert(row);
            *known = row.max(*known);
        }
        if self.anchor.is_none_or(|(last, _)| row > last) {
            self.anchor = Some((row, id));
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

fn catch_up(tail: &Mutex<Tail>, connection: &Connection, seen: Option<u64>) -> rusqlite::Result<Position> {
    loop {
        let Tail { upto, last, anchor, era, .. } = *lock(tail);
        let (position, key) =
            connection.prepare_cached(POSITION)?.query_row([anchor.map(|(row, _)| row)], |row| {
                let (end, floor): (i64, i64) = (row.get(0)?, row.get(1)?);
                let (upto, next, byte) = (row.get(2)?, row.get(3)?, row.get(4)?);
                Ok((Position { end, last: end.max(floor), upto, next, byte }, row.get::<_, Option<_>>(5)?))
            })?;
        if seen.is_some_and(|seen| seen != era) {
            return Ok(position);
        }
        // What is known was so before the file was looked at, unless that is seen as it was earlier.
        let is_other = key.zip(anchor).is_some_and(|(key, (_, known))| RecordId::from_bytes(key) != known);
        let is_older = seen.is_none() && (position.last < last || position.upto < upto);

        let mut known = lock(tail);
        if known.era == era && (is_other || is_older) {
            *known = Tail { era: era + 1, ..Tail::default() };
        }
        if known.era != era {
            // Another thread may have found that out, and what was read is of no use.
            drop(known);
            continue;
        }
        known.is_indexed_up_to(position.upto);
        let from = known.last;
        drop(known);
        if position.last <= from {
            return Ok(position);
        }
        let mut behind =
            connection.prepare_cached("select id, k from idem_record where id > ?1 order by id")?;
        let rows = behind.query_map([from], |row| Ok((RecordId::from_bytes(row.get(1)?), row.get(0)?)))?;
        let rows: Vec<(RecordId, i64)> = rows.collect::<Result<_, _>>()?;
        let mut known = lock(tail);
        if known.era == era {
            for (id, row) in rows {
                known.add(id, row);
            }
            known.last = known.last.max(position.last);
            return Ok(position);
        }
    }
}

fn lock(tail: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    // Whatever panicked, no more is in it than was read.
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::store::sqlite::open;

    /// A file with so many rows, who writes to it, and its directory.
    fn file(name: &str, rows: u8) -> (Place, Connection, PathBuf) {
        let dir = std::env::temp_dir().join(format!("idem-tail-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let place = open::locate(&dir.join("idem.db")).unwrap();
        let connection = open::writer(&place, Duration::from_secs(1), None, false).unwrap();
        (1..=rows).for_each(|row| put(&connection, row, row));
        (place, connection, dir)
    }

    fn id(key: u8) -> RecordId {
        RecordId::from_bytes([key; 32])
    }

    fn put(connection: &Connection, row: u8, key: u8) {
        let put = "insert into idem_record (id, k, st, token, fence, tries, made_at, drop_at) values (?1, ?2, 0, zeroblob(16), 0, 1, 0, 0)";
        connection.execute(put, (row, id(key).as_bytes().as_slice())).unwrap();
    }

    #[test]
    fn what_a_moment_before_a_restore_shows_is_not_taken_for_what_there_is_since() {
        let (place, writer, dir) = file("moment", 9);
        writer.execute_batch("update idem_index set upto = 5").unwrap();
        let keys = Keys::load(&writer, &place).unwrap();
        let moment = open::reader(&place, Duration::from_secs(1)).unwrap();
        let era = keys.era();
        moment.execute_batch("begin; select count(*) from idem_record").unwrap();

        writer
            .execute_batch("delete from idem_record where id > 3; update idem_index set upto = 0, floor = 0")
            .unwrap();
        let position = keys.catch_up(&writer, &place, None).unwrap().unwrap();
        assert_eq!((position.last, position.upto), (3, 0));
        let position = keys.catch_up(&moment, &place, Some(era)).unwrap().unwrap();
        assert_eq!((position.last, position.upto), (9, 5));
        assert_eq!((keys.len(), keys.known(&id(2)).row, keys.known(&id(7)).row), (3, Some(2), None));
        drop((writer, moment));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_row_whose_key_is_another_than_was_known_shows_that_there_is_other_content() {
        let (place, writer, dir) = file("other", 4);
        let keys = Keys::load(&writer, &place).unwrap();
        writer
            .execute_batch("delete from idem_record where id > 2; update idem_index set floor = 0")
            .unwrap();
        put(&writer, 3, 13);
        put(&writer, 4, 14);
        assert_eq!(keys.next_row(&id(13)), Some((5, id(4))), "nobody has looked");
        keys.catch_up(&writer, &place, None).unwrap();
        assert_eq!((keys.known(&id(3)).row, keys.known(&id(13)).row), (None, Some(3)));
        drop(writer);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn rows_of_ones_own_behind_others_that_are_not_known_are_read_with_them() {
        let (place, writer, dir) = file("own", 1);
        let keys = Keys::load(&writer, &place).unwrap();
        put(&writer, 2, 2);
        put(&writer, 3, 3);
        keys.add(2, [(id(3), 3)]);
        assert_eq!(keys.known(&id(3)).row, None);
        keys.catch_up(&writer, &place, None).unwrap();
        assert_eq!((keys.known(&id(2)).row, keys.known(&id(3)).row), (Some(2), Some(3)));
        drop(writer);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_last_row_may_be_gone_without_the_rest_being_in_doubt() {
        let (place, writer, dir) = file("gone", 4);
        let keys = Keys::load(&writer, &place).unwrap();
        let era = keys.era();
        writer.execute_batch("delete from idem_record where id > 2").unwrap();
        put(&writer, 5, 5);
        let position = keys.catch_up(&writer, &place, None).unwrap().unwrap();
        assert_eq!((position.end, position.last, keys.era()), (5, 5, era));
        assert_eq!(keys.next_row(&id(6)), Some((6, id(5))));
        drop(writer);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
