//! What a holder does with its claim, and what an operator does with a record.

use sqlx::postgres::PgRow;

use super::Inner;
use super::ask::{Ask, Sending};
use super::row::{Damaged, Said, span};
use crate::machine::{Answer, Change, Forgotten, Operation, Released, Renewal, Renewed, Snapshot, decide};
use crate::{RecordId, StoreError, StoreErrorKind, Token};

/// How often a lease that came late is asked for again.
const LATE: u32 = 2;

impl Inner {
    pub(super) async fn renew(&self, renewal: &Renewal) -> Result<Renewed, StoreError> {
        let bind = |ask: Ask| {
            ask.bind(renewal.id.as_bytes().as_slice())
                .bind(renewal.token.as_bytes().as_slice())
                .bind(span(renewal.lease))
        };
        let operation = Operation::Renew(renewal.clone());
        let read = |rows: &[PgRow]| {
            let said = one(rows)?;
            Ok(said.and_then(|said| match said.wrote {
                1 => Some((Renewed::Renewed { remaining: renewal.lease }, said.waited(renewal.lease))),
                _ => match decide(said.record.as_ref(), &operation, said.now) {
                    (Answer::Renew(renewed), Change::None) => Some((renewed, false)),
                    _ => None,
                },
            }))
        };
        let mut late = 0;
        loop {
            let (renewed, waited) = self.ask("renew a lease", &self.statements.renew, bind, read).await?;
            if !waited || late == LATE {
                return Ok(renewed);
            }
            late += 1;
        }
    }

    pub(super) async fn release(&self, id: &RecordId, token: &Token) -> Result<Released, StoreError> {
        let bind = |ask: Ask| ask.bind(id.as_bytes().as_slice()).bind(token.as_bytes().as_slice());
        let operation = Operation::Release(*token);
        let read = |rows: &[PgRow]| Ok(one(rows)?.and_then(|said| said.released(&operation)));
        self.ask("release a claim", &self.statements.release, bind, read).await
    }

    pub(super) async fn forget(&self, id: &RecordId, force: bool) -> Result<Forgotten, StoreError> {
        let bind = |ask: Ask| ask.bind(id.as_bytes().as_slice()).bind(force);
        let read = |rows: &Vec<PgRow>| {
            let said = match one(rows) {
                // What it was cannot be said. It is gone, as was asked for, and that is what a second try would hear.
                Err(_) if Said::has_written(rows) => return Ok(Some(Forgotten::Absent)),
                said => said?,
            };
            Ok(said.and_then(|said| {
                let (answer, change) = decide(said.record.as_ref(), &Operation::Forget { force }, said.now);
                match answer {
                    Answer::Forget(forgotten) if (said.wrote == 1) == (change == Change::Remove) => {
                        Some(forgotten)
                    }
                    _ => None,
                }
            }))
        };
        // Done twice, it would delete what another caller has claimed in between.
        self.send(Sending::Once, "forget a record", &self.statements.forget, bind, read).await
    }

    pub(super) async fn inspect(&self, id: &RecordId) -> Result<Option<Snapshot>, StoreError> {
        let bind = |ask: Ask| ask.bind(id.as_bytes().as_slice());
        let said = self.ask("look at a record", &self.statements.inspect, bind, one).await?;
        if said.wrote != 0 {
            let what =
                "cannot look at a record: the server is in recovery, as a replica is; connect to the primary";
            return Err(self.place.error(StoreErrorKind::Unavailable, what));
        }
        match decide(said.record.as_ref(), &Operation::Inspect, said.now) {
            (Answer::Inspect(snapshot), _) => Ok(snapshot),
            _ => Ok(None),
        }
    }
}

impl Said {
    /// The answer to a release; `None` if the record was seen as it was before another session changed it.
    pub(super) fn released(&self, operation: &Operation) -> Option<Released> {
        match (&self.record, self.wrote) {
            (Some(record), 1) => Some(Released::Released { tries: record.tries }),
            _ => match decide(self.record.as_ref(), operation, self.now) {
                (Answer::Release(released), Change::None) => Some(released),
                _ => None,
            },
        }
    }
}

fn one(rows: &[PgRow]) -> Result<Option<Said>, Damaged> {
    rows.first().map(Said::read).transpose()
}
