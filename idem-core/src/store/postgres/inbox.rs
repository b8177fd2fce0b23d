//! Records in a transaction of the handler's own, beside its rows in their database.
//!
//! A statement that fails takes the caller's transaction with it, so none does in the course of things: not for a duplicate, and not for
//! one that meets another transaction. Only a caller that chose to wait, and waited in vain, loses its transaction.

use std::sync::{Arc, LazyLock};

use sqlx::postgres::{PgArguments, PgDatabaseError, PgRow};
use sqlx::query::Query;
use sqlx::{Connection as _, Postgres, Row, SqlStr, Transaction};

use self::identity::Identity;
use self::statements::Statements;
use super::PostgresStore;
use super::names::Table;
use super::place::Place;
use super::row::{Said, fence, instant, span};
use crate::codec;
use crate::handler::OnDuplicate;
use crate::machine::{Change, Entry, Prior, Record, Settlement, State, Verdict, enter};
use crate::transaction::{AsyncTransaction, Entered, HoldsRecords, Rules};
use crate::{RecordId, StoreError, StoreErrorKind};

pub(super) mod identity;
mod statements;

/// Where the records of a transaction of sqlx are: the table `idem_record` as the transaction finds it, or that of a store.
#[derive(Clone)]
pub struct PostgresRecords(Arc<Shared>);

struct Shared {
    statements: Statements,
    place: Place,
    /// The database of the store, if one was named: the transaction has to be one of it.
    identity: Option<Identity>,
}

impl PostgresRecords {
    pub(super) fn of(table: &Table, place: Place, identity: Option<Identity>) -> Self {
        let statements = Statements::of(table, identity.as_ref());
        Self(Arc::new(Shared { statements, place, identity }))
    }
}

impl Default for PostgresRecords {
    fn default() -> Self {
        static DEFAULT: LazyLock<PostgresRecords> = LazyLock::new(|| {
            let table = Table::plain();
            let place = Place::of_transaction(table.quoted());
            PostgresRecords::of(&table, place, None)
        });
        DEFAULT.clone()
    }
}

impl std::fmt::Debug for PostgresRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresRecords")
            .field("place", &format_args!("{}", self.0.place))
            .finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
impl HoldsRecords<PostgresRecords> for PostgresStore {
    fn records(&self) -> PostgresRecords {
        self.0.inbox.clone()
    }
}

/// Writes the record beside the handler's rows, in one database. In a transaction within a transaction (a savepoint), it goes with the
/// rows if that is rolled back, and commits with the outer one.
#[diagnostic::do_not_recommend]
impl AsyncTransaction for Transaction<'_, Postgres> {
    type Records = PostgresRecords;

    async fn enter(
        &mut self,
        records: &PostgresRecords,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        Inbox { transaction: self, shared: &records.0 }.enter(entry, rules).await
    }

    async fn settle(
        &mut self,
        records: &PostgresRecords,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        Inbox { transaction: self, shared: &records.0 }.settle(entry, before, settlement).await
    }
}

type Ask = Query<'static, Postgres, PgArguments>;

/// How often a record is asked for that others change meanwhile.
const TRIES: u32 = 8;

struct Inbox<'i, 't> {
    transaction: &'i mut Transaction<'t, Postgres>,
    shared: &'i Shared,
}

/// What one round came to.
enum Round {
    Over(Entered),
    /// Another session was faster than the statement's snapshot.
    Again,
}

impl Inbox<'_, '_> {
    async fn enter(&mut self, entry: &Entry, rules: &Rules<'_>) -> Result<Entered, StoreError> {
        let entered = self.write(entry, rules.on_duplicate).await?;
        let Entered::Run { before } = &entered else { return Ok(entered) };
        for former in rules.former {
            let said = self.find(former).await?;
            match enter(said.record.as_ref(), entry, said.now).0 {
                Verdict::Claimed(_) => {}
                verdict => {
                    self.settle(entry, before.as_deref(), &Settlement::Withdrawn).await?;
                    return Ok(Entered::Judged(verdict));
                }
            }
        }
        Ok(entered)
    }

    async fn write(&mut self, entry: &Entry, on_duplicate: OnDuplicate) -> Result<Entered, StoreError> {
        // One that is to wait has its time set and set back, which the longer statement does.
        if on_duplicate == OnDuplicate::Error && self.first(entry).await? {
            return Ok(Entered::Run { before: None });
        }
        for _ in 0..TRIES {
            if let Round::Over(entered) = self.round(entry, on_duplicate).await? {
                return Ok(entered);
            }
        }
        let what = format_args!("cannot write a record: other sessions were faster each of {TRIES} times");
        Err(self.shared.place.error(StoreErrorKind::Unavailable, what))
    }

    /// Enters a message that is new; whether it was.
    async fn first(&mut self, entry: &Entry) -> Result<bool, StoreError> {
        let ask = self.asked(&self.shared.statements.enter_first, entry);
        if self.shared.identity.is_none() {
            let done = ask.execute(&mut **self.transaction).await;
            return done
                .map(|done| done.rows_affected() == 1)
                .map_err(|error| self.fault("write a record", error));
        }
        let row = ask.fetch_optional(&mut **self.transaction).await;
        let row = row.map_err(|error| self.fault("write a record", error))?;
        let Some(row) = row else { return Ok(false) };
        if let Err(error) = self.check_database(&row, 0) {
            // It is in the wrong place, but in the caller's own transaction.
            self.settle(entry, None, &Settlement::Withdrawn).await?;
            return Err(error);
        }
        Ok(true)
    }

    async fn round(&mut self, entry: &Entry, on_duplicate: OnDuplicate) -> Result<Round, StoreError> {
        let (statement, wait) = match on_duplicate {
            OnDuplicate::Error => (&self.shared.statements.enter, None),
            OnDuplicate::Wait(limit) => {
                let millis = limit.as_millis().clamp(1, i32::MAX as u128);
                (&self.shared.statements.enter_or_wait, Some(format!("{millis}ms")))
            }
        };
        let ask = self.asked(statement, entry);
        let row = match wait {
            None => ask.fetch_one(&mut **self.transaction).await,
            Some(limit) => match ask.bind(limit).fetch_one(&mut **self.transaction).await {
                Err(error) if code(&error) == Some("55P03") => return Ok(Round::Over(Entered::Racing)),
                row => row,
            },
        };
        let row = row.map_err(|error| self.fault("write a record", error))?;
        self.check_database(&row, 15)?;
        let said = self.read(&row, &entry.id)?;
        match said.wrote {
            1 => return Ok(Round::Over(Entered::Run { before: None })),
            2 => return Ok(Round::Over(Entered::Racing)),
            _ => {}
        }
        let Some(found) = said.record else { return Ok(Round::Again) };
        match enter(Some(&found), entry, said.now) {
            (Verdict::Claimed(_), Change::Put(record)) => {
                Ok(if self.put(&entry.id, &found, &record).await? {
                    Round::Over(Entered::Run { before: Some(Box::new(found)) })
                } else {
                    Round::Again
                })
            }
            (verdict, _) => Ok(Round::Over(Entered::Judged(verdict))),
        }
    }

    async fn settle(
        &mut self,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        let texts = &self.shared.statements;
        let ask = |text: &SqlStr| -> Ask {
            self.query(text).bind(entry.id.as_bytes().to_vec()).bind(entry.token.as_bytes().to_vec())
        };
        let (ask, doing) = match settlement {
            // The record says so already. But after a statement that failed, which the body need not have said, a commit is a rollback, and
            // sqlx calls it a success.
            Settlement::Done(body) if *body == entry.body => {
                (ask(&texts.stands), "see the record still there")
            }
            Settlement::Done(body) => (ask(&texts.keep).bind(body.to_vec()), "write a result"),
            Settlement::Failed { body, ttl } => {
                (ask(&texts.fail).bind(body.to_vec()).bind(span(*ttl)), "write an error")
            }
            Settlement::Withdrawn => return self.withdraw(entry, before).await,
        };
        let done = ask.execute(&mut **self.transaction).await;
        let done = done.map_err(|error| self.fault(doing, error))?;
        if done.rows_affected() == 1 {
            return Ok(());
        }
        Err(self.lose().await)
    }

    /// Leaves nothing of the record, even if the transaction commits. But where the body has committed a part of its work itself, and then
    /// failed, the next delivery would do that part again: there the record stays, and says that its body never ended.
    async fn withdraw(&mut self, entry: &Entry, before: Option<&Record>) -> Result<(), StoreError> {
        let texts = &self.shared.statements;
        let ask = self
            .query(if before.is_some() { &texts.park } else { &texts.withdraw })
            .bind(entry.id.as_bytes().to_vec())
            .bind(entry.token.as_bytes().to_vec())
            .bind(codec::pending().to_vec());
        let done = ask.execute(&mut **self.transaction).await;
        let done = done.map_err(|error| self.fault("withdraw a record", error))?.rows_affected() == 1;
        let withdrawn = match before {
            Some(before) if !done => self.put_back(entry, before).await?,
            _ => done,
        };
        if withdrawn { Ok(()) } else { Err(self.lose().await) }
    }

    /// Puts the record back that was taken over; whether it still was this attempt's.
    async fn put_back(&mut self, entry: &Entry, before: &Record) -> Result<bool, StoreError> {
        let said = self.find(&entry.id).await?;
        match said.record {
            Some(own) if own.token == entry.token => self.put(&entry.id, &own, before).await,
            _ => Ok(false),
        }
    }

    /// The record is not where it was written: rolled back or deleted, or the body has had this name mean another table. Nothing of the
    /// transaction may commit then, and what fails takes it with it.
    async fn lose(&mut self) -> StoreError {
        let _ = sqlx::query("select 1 / 0").persistent(false).execute(&mut **self.transaction).await;
        let what = "the record was rolled back or deleted while the body ran, or the `search_path` no longer leads to it, so it cannot commit \
                    with the handler's rows";
        self.shared.place.error(StoreErrorKind::Misconfigured, what)
    }

    async fn find(&mut self, id: &RecordId) -> Result<Said, StoreError> {
        let ask = self.query(&self.shared.statements.find).bind(id.as_bytes().to_vec());
        let row = ask.fetch_one(&mut **self.transaction).await;
        let row = row.map_err(|error| self.fault("read a record", error))?;
        self.read(&row, id)
    }

    /// Writes `record` over `found`; whether that still was there.
    async fn put(&mut self, id: &RecordId, found: &Record, record: &Record) -> Result<bool, StoreError> {
        let lease = |record: &Record| match record.state {
            State::Held { lease_at, .. } => Some(instant(lease_at)),
            _ => None,
        };
        let (number, prior, kept) = match &record.state {
            State::Open => (0_i16, None, None),
            State::Held { prior, .. } => (1, Some(prior_number(*prior)), None),
            State::Done(kept) => (2, None, Some(kept)),
            State::Failed(kept) => (3, None, Some(kept)),
        };
        let ask = self
            .query(&self.shared.statements.put)
            .bind(id.as_bytes().to_vec())
            .bind(fence(found.fence))
            .bind(lease(found))
            .bind(number)
            .bind(record.token.as_bytes().to_vec())
            .bind(fence(record.fence))
            .bind(i32::try_from(record.tries).unwrap_or(i32::MAX))
            .bind(record.fingerprint.as_ref().map(|print| print.as_bytes().to_vec()))
            .bind(instant(record.made_at))
            .bind(instant(record.drop_at))
            .bind(lease(record))
            .bind(prior)
            .bind(kept.map(|kept| instant(kept.done_at)))
            .bind(kept.map(|kept| instant(kept.body_until)))
            .bind(kept.map(|kept| kept.body.to_vec()));
        let done = ask.execute(&mut **self.transaction).await;
        done.map(|done| done.rows_affected() == 1).map_err(|error| self.fault("write a record", error))
    }

    /// A statement, kept in the connection if that keeps any. One that was opened with `statement_cache_capacity(0)`, as is right behind a
    /// proxy, keeps none, and cannot be asked for its options: sqlx would give each a name there, and leave it to whoever gets the server's
    /// connection next. So the first on a new connection is not kept; those of the handler are, by then.
    fn query(&self, statement: &SqlStr) -> Ask {
        sqlx::query(statement.clone()).persistent(self.transaction.cached_statements_size() > 0)
    }

    /// With the arguments that all statements for entering have in common.
    fn asked(&self, statement: &SqlStr, entry: &Entry) -> Ask {
        self.query(statement)
            .bind(entry.id.as_bytes().to_vec())
            .bind(entry.token.as_bytes().to_vec())
            .bind(entry.fingerprint.as_ref().map(|print| print.as_bytes().to_vec()))
            .bind(span(entry.ttl))
            .bind(span(entry.keep.max(entry.ttl)))
            .bind(entry.body.to_vec())
            .bind(turn(&entry.id))
    }

    fn read(&self, row: &PgRow, id: &RecordId) -> Result<Said, StoreError> {
        Said::read(row).map_err(|damaged| self.shared.place.unreadable(Some(id), damaged))
    }

    /// A record in another database than the rows could not commit with them.
    fn check_database(&self, row: &PgRow, column: usize) -> Result<(), StoreError> {
        let Some(store) = &self.shared.identity else { return Ok(()) };
        let fault = |error| self.shared.place.fault("tell the transaction's database", error);
        let own = Identity {
            database: row.try_get(column).map_err(fault)?,
            system: row.try_get(column + 1).map_err(fault)?,
        };
        if own == *store {
            return Ok(());
        }
        let what = "the transaction is one of another database, where a record of this store could not commit with the handler's rows; \
                    open the store on that database, or leave `store` out";
        Err(self.shared.place.error(StoreErrorKind::Misconfigured, what))
    }

    fn fault(&self, doing: &str, error: sqlx::Error) -> StoreError {
        let place = &self.shared.place;
        let unavailable = |what: &str| {
            place.error(StoreErrorKind::Unavailable, format_args!("cannot {doing}: {what} ({error})"))
        };
        match code(&error) {
            Some("40001" | "40P01") => unavailable(
                "another transaction committed what this one, by its isolation level, may not see, or the two waited for each other; roll \
                 back, and run the whole transaction again",
            ),
            Some("25P02") => unavailable(
                "a statement of the transaction had failed before, so nothing of it can commit; roll back, and run it again",
            ),
            _ => place.fault(doing, error),
        }
    }
}

fn code(error: &sqlx::Error) -> Option<&str> {
    match error {
        sqlx::Error::Database(error) => Some(error.downcast_ref::<PgDatabaseError>().code()),
        _ => None,
    }
}

/// The number that stands for a record among the database's advisory locks. It is a digest's, so it meets no other by chance.
fn turn(id: &RecordId) -> i64 {
    let (number, _) = id.as_bytes().split_first_chunk().expect("32 bytes are more than 8");
    i64::from_be_bytes(*number)
}

const fn prior_number(prior: Prior) -> i16 {
    match prior {
        Prior::None => 0,
        Prior::Released => 1,
        Prior::Lapsed => 2,
    }
}
