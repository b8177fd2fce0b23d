//! Without the attribute: the same as function calls.

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::{CarriesError, codec};
use crate::batch::{BatchEntry, batch};
use crate::call::Call;
use crate::run::{run, run_blocking};
use crate::store::{Store, StoreHandle};
use crate::{Error, Fingerprint, Handler, Key, Outcome};

/// Runs pieces of work under keys, as `#[idempotent]` does, for code that cannot carry the attribute.
///
/// ```
/// # extern crate idem_core as idem;
/// use idem::{Error, Handler, Idempotent, Key, MemoryStore, Outcome};
///
/// let store = MemoryStore::new();
/// let report = Idempotent::new(&store, Handler::new("reports.daily"));
/// let key = Key::trusted("report:2026-11-30", "the nominal date of the run")?;
///
/// let first = report.run_blocking(&key, || Ok::<_, Error>(17))?;
/// let again = report.run_blocking(&key, || Ok::<_, Error>(18))?;
/// assert_eq!(first, Outcome::Executed { value: 17, recorded: true });
/// assert_eq!(again.into_value(), 17);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Idempotent {
    store: StoreHandle,
    handler: Handler,
    tenant: String,
    fingerprint: Option<Result<Fingerprint, Error>>,
}

impl Idempotent {
    /// Work of `handler` whose records live in `store`.
    pub fn new(store: &(impl Store + ?Sized), handler: Handler) -> Self {
        Self { store: StoreHandle::shared(store.handle()), handler, tenant: String::new(), fingerprint: None }
    }

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

    /// Runs the future that `body` makes, or hands back what a former run under this key came to.
    ///
    /// # Errors
    /// The body's own, or one made from an [`Error`](crate::Error) if the body did not run or its result cannot be handed back.
    ///
    /// # Cancellation
    /// Dropped while the claim is under way, the claim is given back. Dropped while the body runs, the claim stays until its
    /// lease ends. Dropped after that, the result is recorded all the same.
    pub async fn run<T, E, F, B>(&self, key: &Key, body: F) -> Result<Outcome<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: CarriesError,
        F: FnOnce() -> B,
        B: Future<Output = Result<T, E>>,
    {
        let call = self.call(key);
        run(&call, codec(), async move { body().await.map(Outcome::from) }).await
    }

    /// Runs a batch of messages: `body` for each that is not done, at most `limit` at once (0 counts as 1). One round trip claims
    /// them, one records what quick bodies came to, be it a result or an error. Results come in the order of the entries; see [`batch`](crate::batch()) for what
    /// gathers and what does not, and for panics.
    ///
    /// ```
    /// # extern crate idem_core as idem;
    /// # use idem::{Error, Handler, Idempotent, Key, MemoryStore, Outcome};
    /// # let consume = async {
    /// let charges = Idempotent::new(&MemoryStore::new(), Handler::new("billing.charge"));
    /// let deliveries = [("m1", 1200), ("m2", 700), ("m1", 1200)];
    /// let entries = deliveries.map(|(id, amount)| (Key::trusted(format!("msg:{id}"), "the publisher's id"), amount));
    ///
    /// let results = charges.run_batch(entries, 16, |amount| async move { Ok::<_, Error>(amount / 100) }).await;
    /// for (delivery, result) in deliveries.iter().zip(results) {
    ///     match result {
    ///         Ok(outcome) => println!("{}: {}", delivery.0, outcome.value()), // acknowledge
    ///         Err(error) => println!("{}: {:?}", delivery.0, error.disposition()),
    ///     }
    /// }
    /// # };
    /// # let mut consume = std::pin::pin!(consume);
    /// # while consume.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending() {}
    /// ```
    ///
    /// # Errors
    /// Each result is that of its message: the body's error, or one made from an [`Error`](crate::Error) as by [`run`](Self::run). A
    /// key that could not be made is its own message's error.
    ///
    /// # Cancellation
    /// As [`run`](Self::run), for each message; a claim whose body has not begun is given back.
    pub async fn run_batch<T, E, M, F, B>(
        &self,
        entries: impl IntoIterator<Item = impl Into<BatchEntry<M>>>,
        limit: usize,
        body: B,
    ) -> Vec<Result<Outcome<T>, E>>
    where
        T: Serialize + DeserializeOwned,
        E: CarriesError,
        F: Future<Output = Result<T, E>>,
        B: Fn(M) -> F,
    {
        let body = &body;
        let one = |BatchEntry { key, fingerprint, message }| async move {
            let key = key.map_err(|error| E::carry(error.within(self.handler.scope())))?;
            let mut call = self.call(&key);
            if let Some(fingerprint) = fingerprint {
                call.check_fingerprint(fingerprint);
            }
            run(&call, codec(), async move { body(message).await.map(Outcome::from) }).await
        };
        batch(entries.into_iter().map(|entry| one(entry.into())), limit).await
    }

    /// Runs `body`, or hands back what a former run under this key came to. Blocks the thread while the store answers.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_blocking<T, E>(&self, key: &Key, body: impl FnOnce() -> Result<T, E>) -> Result<Outcome<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: CarriesError,
    {
        let call = self.call(key);
        run_blocking(&call, codec(), || body().map(Outcome::from))
    }

    fn call(&self, key: &Key) -> Call<'_> {
        let mut call = Call::with_key(&self.handler, key, &self.tenant);
        call.use_store(self.store.clone());
        if let Some(fingerprint) = &self.fingerprint {
            call.check_fingerprint(fingerprint.clone());
        }
        call
    }
}
