//! Connections that look, on the thread of whoever asks.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rusqlite::{Connection, Statement};

use super::open;
use super::row::{self, Glance, RowError};
use crate::machine::Record;
use crate::store::sqlite_record::{Place, statements};
use crate::{RecordId, StoreError};

/// A few connections; the first that is free serves, so that one caller at a time finds one warm cache.
pub(super) struct Readers {
    place: Place,
    connections: Vec<Mutex<Connection>>,
}

impl Readers {
    pub(super) fn open(place: &Place, wait: Duration) -> Result<Self, StoreError> {
        let count = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4);
        let connections =
            (0..count).map(|_| open::reader(place, wait).map(Mutex::new)).collect::<Result<_, _>>()?;
        Ok(Self { place: place.clone(), connections })
    }

    /// The record as the last commit left it, whether or not its end has passed.
    pub(super) fn find(&self, id: &RecordId) -> Result<Option<Record>, StoreError> {
        let found = self.read(statements::FIND, id, row::find)?;
        Ok(found.map(|found| found.record))
    }

    /// As much of the record as a replay needs.
    pub(super) fn glance(&self, id: &RecordId) -> Result<Glance, StoreError> {
        self.read(row::GLANCE, id, row::glance)
    }

    fn read<T>(
        &self,
        sql: &str,
        id: &RecordId,
        read: fn(&mut Statement<'_>, &RecordId) -> Result<T, RowError>,
    ) -> Result<T, StoreError> {
        let connection = self.free();
        let mut statement =
            connection.prepare_cached(sql).map_err(|error| self.place.fault("read a record", error))?;
        read(&mut statement, id).map_err(|error| self.place.unreadable(id, error))
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
