//! A transaction of an async database that lives in memory: rows, and records as the protocol would have them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use idem::inbox::{AsyncTransaction, Entered, Rules};
use idem::machine::{Change, Entry, Record, Settlement, Verdict, enter, settle};
use idem::{Clock, RecordId, StoreError};

/// What any of these handlers may fail with.
#[derive(Debug)]
pub(crate) enum Error {
    Idem(#[expect(dead_code, reason = "for its message")] idem::Error),
    Other,
}

impl From<idem::Error> for Error {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(_: rusqlite::Error) -> Self {
        Self::Other
    }
}

/// What is committed.
#[derive(Clone, Default)]
pub(crate) struct Pages {
    pub(crate) rows: Vec<String>,
    pub(crate) records: BTreeMap<RecordId, Record>,
}

/// The database.
#[derive(Clone, Default)]
pub(crate) struct Shelf(pub(crate) Arc<Mutex<Pages>>);

/// A transaction of it, committed or dropped.
pub(crate) struct Book {
    shelf: Shelf,
    pub(crate) pages: Pages,
}

impl Shelf {
    pub(crate) fn begin(&self) -> Book {
        Book { shelf: self.clone(), pages: self.0.lock().unwrap().clone() }
    }

    pub(crate) fn rows(&self) -> Vec<String> {
        self.0.lock().unwrap().rows.clone()
    }
}

impl Book {
    pub(crate) async fn write(&mut self, row: impl Into<String>) -> Result<(), Error> {
        std::future::ready(()).await;
        self.pages.rows.push(row.into());
        Ok(())
    }

    pub(crate) fn commit(self) {
        *self.shelf.0.lock().unwrap() = self.pages;
    }
}

impl AsyncTransaction for Book {
    type Records = ();

    async fn enter(&mut self, (): &(), entry: &Entry, _: &Rules<'_>) -> Result<Entered, StoreError> {
        let before = self.pages.records.get(&entry.id).cloned().map(Box::new);
        Ok(match enter(before.as_deref(), entry, Clock::wall().now()) {
            (Verdict::Claimed(_), Change::Put(record)) => {
                self.pages.records.insert(entry.id, record);
                Entered::Run { before }
            }
            (verdict, _) => Entered::Judged(verdict),
        })
    }

    async fn settle(
        &mut self,
        (): &(),
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        let entered = &self.pages.records[&entry.id];
        match settle(entered, before, settlement, Clock::wall().now()) {
            Change::Put(record) => drop(self.pages.records.insert(entry.id, record)),
            Change::Remove => drop(self.pages.records.remove(&entry.id)),
            Change::None => {}
        }
        Ok(())
    }
}
