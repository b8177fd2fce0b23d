//! Connections that look, on the thread of whoever asks.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rusqlite::Connection;

use super::lookup::Looking;
use super::open;
use super::row::Glance;
use super::tail::Keys;
use crate::machine::Record;
use crate::store::sqlite_record::Place;
use crate::{RecordId, StoreError};

/// A few connections; the first that is free serves, so that one caller at a time finds one warm cache.
pub(super) struct Readers {
    place: Place,
    keys: Arc<Keys>,
    connections: Vec<Mutex<Connection>>,
}

impl Readers {
    pub(super) fn open(place: &Place, wait: Duration, keys: Arc<Keys>) -> Result<Self, StoreError> {
        let count = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4);
        let connections =
            (0..count).map(|_| open::reader(place, wait).map(Mutex::new)).collect::<Result<_, _>>()?;
        Ok(Self { place: place.clone(), keys, connections })
    }

    /// A connection for one look after the other, each at what the last commit before it left.
    pub(super) fn look(&self) -> Reader<'_> {
        Reader { connection: self.free(), readers: self }
    }

    /// A connection for many looks at one moment, that of the first. What begins and ends a look is most of its time.
    ///
    /// A record may be missing that was there at that moment, if its key went into the index meanwhile.
    pub(super) fn look_at_once(&self) -> Result<Moment<'_>, StoreError> {
        let reader = self.look();
        reader.run("begin").map_err(|error| self.place.fault("read records", error))?;
        Ok(Moment(reader))
    }

    fn free(&self) -> MutexGuard<'_, Connection> {
        for connection in &self.connections {
            match connection.try_lock() {
                Ok(free) => return free,
                // A look changes nothing, so a panic in one leaves the connection as good as before.
                Err(TryLockError::Poisoned(free)) => return free.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.connections[0].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection of somebody who looks.
pub(super) struct Reader<'r> {
    connection: MutexGuard<'r, Connection>,
    readers: &'r Readers,
}

impl Reader<'_> {
    /// The record, whether or not its end has passed.
    pub(super) fn find(&self, id: &RecordId) -> Result<Option<Record>, StoreError> {
        self.looking().find(id)
    }

    /// As much of the record as a replay needs.
    pub(super) fn glance(&self, id: &RecordId) -> Result<Option<Glance>, StoreError> {
        self.looking().glance(id)
    }

    fn looking(&self) -> Looking<'_> {
        let Readers { place, keys, .. } = self.readers;
        Looking { connection: &self.connection, place, keys }
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}

/// Looks at one moment, until it is dropped.
pub(super) struct Moment<'r>(Reader<'r>);

impl<'r> Deref for Moment<'r> {
    type Target = Reader<'r>;

    fn deref(&self) -> &Reader<'r> {
        &self.0
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        // A look that failed may have ended it; if it cannot be ended, the next to begin is told so.
        if !self.0.connection.is_autocommit() {
            let _ = self.0.run("commit");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Claim, OnLapse, Verdict};
    use crate::store::Store;
    use crate::{SqliteStore, Token};

    #[test]
    fn what_is_looked_at_together_is_of_one_moment_and_the_next_look_of_a_later_one() {
        let dir = std::env::temp_dir().join(format!("idem-readers-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let store = SqliteStore::open(dir.join("idem.db")).unwrap();
        let claim = |id: u8| Claim {
            id: RecordId::from_bytes([id; 32]),
            token: Token::from_bytes([id; 16]),
            fingerprint: None,
            lease: Duration::from_secs(30),
            keep: Duration::from_secs(60),
            on_lapse: OnLapse::Rerun,
            max_tries: 5,
            durable: false,
        };
        let readers = &store.0.readers;
        let moment = readers.look_at_once().unwrap();
        assert!(moment.find(&claim(1).id).unwrap().is_none());
        for id in [1, 2] {
            assert!(matches!(store.claim(&claim(id)).wait(), Ok(Verdict::Claimed(_))));
        }
        assert!(moment.find(&claim(2).id).unwrap().is_none());
        drop(moment);
        assert!(readers.look().find(&claim(2).id).unwrap().is_some());
        drop(store);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
