//! The transactional inbox: a handler's record commits together with the handler's own rows.
//!
//! [`Inbox`] runs one without the attribute; the rest is what transactions and stores implement so that
//! `#[idempotent(…, tx = tx)]` can write in them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::{CarriesError, codec};
use crate::call::Call;
use crate::private::caught;
use crate::run::{enter, enter_blocking};
use crate::{Error, Fingerprint, Handler, Key, Outcome};

pub use crate::run::{Entering, Inside};
#[cfg(feature = "postgres")]
pub use crate::store::postgres::PostgresRecords;
#[cfg(any(feature = "sqlite", feature = "sqlx-sqlite"))]
pub use crate::store::sqlite_record::SqliteRecords;
pub use crate::transaction::{AsyncTransaction, BlockingTransaction, Entered, HoldsRecords, Rules};

/// Runs pieces of work whose record commits together with their own rows, as `#[idempotent(…, tx = tx)]` does, for code that cannot carry
/// the attribute.
///
/// The transaction is the caller's: it is begun before and committed after. Only then is the work done, and only if the work returned
/// `Ok`, or an error that is worth remembering, should it be committed. The guide of `#[idempotent]` says what else holds.
///
#[cfg_attr(feature = "sqlite", doc = "```")]
#[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
/// # extern crate idem_core as idem;
/// use idem::{Error, Handler, Inbox, Key, SqliteStore};
/// use rusqlite::Connection;
///
/// let mut connection = Connection::open_in_memory()?;
/// connection.execute_batch("create table balance (account text primary key, cents integer not null)")?;
/// SqliteStore::ensure_schema(&connection)?;
///
/// let payments = Inbox::new(Handler::new("billing.pay"));
/// let key = Key::trusted("msg:8f14", "the publisher's own id")?;
/// for _delivery in 0..2 {
///     let tx = connection.transaction()?;
///     let paid = payments.run_blocking(&tx, &key, || {
///         tx.execute("insert into balance values ('alice', 1200)", [])?;
///         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(1200)
///     })?;
///     assert_eq!(paid.into_value(), 1200);
///     tx.commit()?;
/// }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct Inbox<Place = DefaultTable> {
    handler: Handler,
    tenant: String,
    fingerprint: Option<Result<Fingerprint, Error>>,
    place: Place,
}

/// The table that idem makes if it is not told otherwise, in whichever database a transaction is of.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTable;

/// Records that a store has named.
#[derive(Clone, Debug)]
pub struct TableOf<Records>(Records);

/// Where an [`Inbox`] has its records.
pub trait InboxPlace<Records> {
    /// Where that is, in a transaction whose places are `Records`; `None` for the default.
    fn records(&self) -> Option<Records>;
}

impl<Records> InboxPlace<Records> for DefaultTable {
    fn records(&self) -> Option<Records> {
        None
    }
}

impl<Records: Clone> InboxPlace<Records> for TableOf<Records> {
    fn records(&self) -> Option<Records> {
        Some(self.0.clone())
    }
}

impl Inbox {
    /// Work of `handler` whose records are in the table that idem makes by default, in whichever database a transaction is of.
    pub fn new(handler: Handler) -> Self {
        Self { handler, tenant: String::new(), fingerprint: None, place: DefaultTable }
    }

    /// Work of `handler` whose records are where `store` has them: a table or a schema of another name, another clock.
    pub fn within<Records>(
        store: &(impl HoldsRecords<Records> + ?Sized),
        handler: Handler,
    ) -> Inbox<TableOf<Records>> {
        let Self { handler, tenant, fingerprint, place: DefaultTable } = Self::new(handler);
        Inbox { handler, tenant, fingerprint, place: TableOf(store.records()) }
    }
}

impl<Place> Inbox<Place> {
    /// Work for one tenant: two tenants with one key have two records.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// What must be equal under one key; another payload is refused as [`Mismatch`](crate::ErrorKind::Mismatch).
    #[must_use]
    pub fn payload(mut self, payload: &(impl Serialize + ?Sized)) -> Self {
        self.fingerprint = Some(Fingerprint::of(payload));
        self
    }

    /// Runs `body` in `transaction` and writes there that it is done, or hands back what a former run under this key came to.
    ///
    /// # Errors
    /// The body's own, or one made from an [`Error`] if the body did not run, or what it came to could not be written.
    /// After an error of the body nothing is remembered, even if the transaction commits.
    ///
    /// # Panics
    /// If `body` does. Nothing is remembered then either.
    ///
    /// # Cancellation
    /// Dropped at any await, the transaction has to be rolled back: the record may be in it, and the work not. A transaction that is
    /// dropped with the future is.
    ///
    /// # Spawning
    /// The compiler does not yet see that this future is `Send`, whatever `body` is: in `tokio::spawn`, take the two steps of
    /// [`call`](Self::call).
    pub async fn run<T, E, X, F>(&self, transaction: &mut X, key: &Key, body: F) -> Result<Outcome<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: CarriesError,
        X: AsyncTransaction,
        Place: InboxPlace<X::Records>,
        F: AsyncFnOnce(&mut X) -> Result<T, E>,
    {
        let call = self.call(key);
        match call.enter(transaction).await {
            Entering::Answered(answer) => answer,
            Entering::Inside(inside) => {
                let ended = caught(pin!(body(transaction))).await;
                inside.settle_ended(transaction, ended.map(|result| result.map(Outcome::from))).await
            }
        }
    }

    /// Runs `body` in `transaction` and writes there that it is done, or hands back what a former run under this key came to.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If `body` does. Nothing is remembered then, even if the transaction commits.
    pub fn run_blocking<T, E, X>(
        &self,
        transaction: &X,
        key: &Key,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<Outcome<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: CarriesError,
        X: BlockingTransaction,
        Place: InboxPlace<X::Records>,
    {
        let call = self.call(key);
        match enter_blocking(&call.call, codec(), transaction, self.place.records()) {
            Entering::Answered(answer) => answer,
            Entering::Inside(inside) => {
                let ended = catch_unwind(AssertUnwindSafe(|| body().map(Outcome::from)));
                inside.settle_blocking(transaction, ended)
            }
        }
    }

    /// One message, in two steps around its work, for what is [spawned](Self::run).
    ///
    #[cfg_attr(feature = "postgres", doc = "```no_run")]
    #[cfg_attr(not(feature = "postgres"), doc = "```ignore")]
    /// # extern crate idem_core as idem;
    /// use idem::inbox::Entering;
    /// use idem::{Error, Inbox, Key, Outcome};
    /// use sqlx::{Postgres, Transaction};
    ///
    /// type Tx<'t> = &'t mut Transaction<'static, Postgres>;
    ///
    /// async fn pay(inbox: &Inbox, key: &Key, tx: Tx<'_>) -> Result<Outcome<u32>, Error> {
    ///     let call = inbox.call(key);
    ///     match call.enter(tx).await {
    ///         Entering::Answered(answer) => answer,
    ///         Entering::Inside(inside) => {
    ///             let result = work(tx).await.map(Outcome::from);
    ///             inside.settle(tx, result).await
    ///         }
    ///     }
    /// }
    /// # async fn work(_: Tx<'_>) -> Result<u32, Error> { Ok(7) }
    /// ```
    pub fn call(&self, key: &Key) -> InboxCall<'_, Place> {
        let mut call = Call::with_key(&self.handler, key, &self.tenant);
        if let Some(fingerprint) = &self.fingerprint {
            call.check_fingerprint(fingerprint.clone());
        }
        InboxCall { call, place: &self.place }
    }
}

/// One message of an [`Inbox`]; see [`Inbox::call`].
#[derive(Debug)]
#[must_use = "nothing happens until it is entered"]
pub struct InboxCall<'i, Place> {
    call: Call<'i>,
    place: &'i Place,
}

impl<Place> InboxCall<'_, Place> {
    /// Writes in `transaction` that the message is done, unless there is a record that answers for it. Told that it is
    /// [inside](Entering::Inside), the caller does the work, and [settles](Inside::settle) what it came to.
    ///
    /// # Cancellation
    /// As for [`run`](Inbox::run). So it is if the caller stops before it settles.
    pub async fn enter<T, E, X>(&self, transaction: &mut X) -> Entering<'_, Result<Outcome<T>, E>, X::Records>
    where
        T: Serialize + DeserializeOwned,
        E: CarriesError,
        X: AsyncTransaction,
        Place: InboxPlace<X::Records>,
    {
        enter(&self.call, codec(), transaction, self.place.records()).await
    }
}
