//! One call of a handler: its record, its store, and what its body may ask for.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::attempt::Attempt;
use crate::batch::Seat;
use crate::machine::{Claim, Completion, Grant, OnLapse};
use crate::message::Payload;
use crate::store::StoreHandle;
use crate::{
    Body, Clock, Error, ErrorKind, Fingerprint, Handler, Key, KeyText, Mode, RecordId, Timestamp, Token,
    install,
};

/// One call of a handler. It lives in the caller's frame, and the body borrows from it.
#[derive(Debug)]
pub struct Call<'h> {
    pub(crate) handler: &'h Handler,
    pub(crate) token: Token,
    target: Result<Target, Error>,
    key: Option<Key>,
    store: Option<StoreHandle>,
    fingerprint: Option<Fingerprint>,
    attempt: OnceLock<Attempt>,
    /// Whether the body asks for the attempt. If not, it is made for renewals alone, and most calls need none.
    asks_attempt: bool,
}

/// The record that a call is about.
#[derive(Debug)]
struct Target {
    id: RecordId,
    /// The records of the handler's former scopes; empty, and not allocated, unless it has any.
    former: Vec<RecordId>,
}

/// A call that can go to its store.
#[derive(Debug)]
pub(crate) struct Ready<'c> {
    pub(crate) call: &'c Call<'c>,
    pub(crate) store: StoreHandle,
    /// Its place in the batch, if it is part of one.
    pub(crate) seat: Option<Arc<Seat>>,
    target: &'c Target,
}

impl<'c> Ready<'c> {
    pub(crate) fn id(&self) -> RecordId {
        self.target.id
    }

    /// The records of the handler's former scopes.
    pub(crate) fn former(&self) -> &'c [RecordId] {
        &self.target.former
    }

    /// The claim of this attempt; sent again, it is the same claim.
    #[inline]
    pub(crate) fn claim(&self) -> Claim {
        let handler = self.call.handler;
        let at_most_once = handler.mode == Mode::AtMostOnce;
        Claim {
            id: self.id(),
            token: self.call.token,
            fingerprint: self.call.fingerprint,
            lease: handler.lease,
            keep: handler.keep,
            on_lapse: if at_most_once { OnLapse::Park } else { handler.on_lapse },
            durable: at_most_once || handler.on_lapse == OnLapse::Park,
            // At most once has one try by itself, and its end is called a loss.
            max_tries: if at_most_once { u32::MAX } else { handler.max_tries },
        }
    }

    /// The record of this attempt's end.
    pub(crate) fn completion(&self, fence: u64, body: Body, ttl: Duration, keep: Duration) -> Completion {
        Completion {
            id: self.id(),
            token: self.call.token,
            fence,
            fingerprint: self.call.fingerprint,
            body,
            ttl,
            keep,
        }
    }
}

impl<'h> Call<'h> {
    /// Renders the key and works out the record's identity. What goes wrong is kept, and comes out of `run`.
    ///
    /// In debug builds the key is read twice. A user's `Index` or `Deref`, a `Cell` that a getter changes and a method that somebody
    /// vouched for are read without a proof: a counter or a random source in one of them shows itself here, in the first test.
    pub fn derive(handler: &'h Handler, keep_key: bool, mut render: impl FnMut(&mut KeyText)) -> Self {
        let mut text = KeyText::new();
        render(&mut text);
        let same = !cfg!(debug_assertions) || {
            let mut again = KeyText::new();
            render(&mut again);
            text.reads_as(&again)
        };
        let target = if same { text.finished() } else { Err(Error::key_not_stable()) };
        let target = target.and_then(|text| target_of(handler, text));
        let key = if keep_key && target.is_ok() { text.to_key().ok() } else { None };
        Self::new(handler, target, key)
    }

    /// As [`derive`](Self::derive), for a function that may belong to a generic impl block. Nothing in its tokens says so, but the
    /// name of its closure's type does; each set of type parameters needs a scope of its own.
    pub fn derive_here<F: FnMut(&mut KeyText)>(handler: &'h Handler, keep_key: bool, render: F) -> Self {
        Self::derive(handler, keep_key, render).with_identity(std::any::type_name::<F>())
    }

    /// A call for a key that was made before.
    pub(crate) fn with_key(handler: &'h Handler, key: &Key, tenant: &str) -> Self {
        let target = if tenant.is_empty() {
            target_of(handler, key.as_str().as_bytes())
        } else {
            let space = |scope: &&str| {
                crate::Namespace::new(install::application(), tenant, scope).record(key.as_str())
            };
            Ok(Target {
                id: space(&handler.scope()),
                former: handler.former_scopes().iter().map(space).collect(),
            })
        };
        Self::new(handler, target, Some(key.clone()))
    }

    #[inline]
    fn new(handler: &'h Handler, target: Result<Target, Error>, key: Option<Key>) -> Self {
        let token = Token::fresh();
        Self {
            handler,
            token,
            target,
            key,
            store: None,
            fingerprint: None,
            attempt: OnceLock::new(),
            asks_attempt: false,
        }
    }

    /// Has the attempt ready before the body begins.
    #[must_use]
    pub fn with_attempt(mut self) -> Self {
        self.asks_attempt = true;
        self
    }

    /// Whether the body asks for the attempt.
    pub(crate) fn asks_attempt(&self) -> bool {
        self.asks_attempt
    }

    /// Uses this store instead of the installed one.
    #[must_use]
    pub fn with_store(mut self, store: StoreHandle) -> Self {
        self.store = Some(store);
        self
    }

    /// Checks the payload.
    #[must_use]
    pub fn with_fingerprint(mut self, fingerprint: Result<Fingerprint, Error>) -> Self {
        match fingerprint {
            Ok(fingerprint) => self.fingerprint = Some(fingerprint),
            Err(error) => self.target = self.target.and(Err(error)),
        }
        self
    }

    /// Checks the payload of the arguments that are messages, if any is.
    #[must_use]
    #[inline]
    pub fn with_payload(self, payload: Payload) -> Self {
        match payload.finish() {
            Some(fingerprint) => self.with_fingerprint(fingerprint),
            None => self,
        }
    }

    /// Makes sure that the scope answers for one `Self` and one set of type parameters.
    #[must_use]
    #[inline]
    pub fn with_identity(mut self, identity: &'static str) -> Self {
        if let Err(error) = self.handler.answers_for(identity) {
            self.target = self.target.and(Err(error));
        }
        self
    }

    /// The key, for a `#[key]` argument.
    ///
    /// # Panics
    /// Outside of the body of a call that was derived with its key. `#[idempotent]` never does that.
    pub fn key<'c>(call: &'c Call<'_>) -> &'c Key {
        call.key.as_ref().expect("the key is there while the body runs")
    }

    /// The attempt, for an `#[attempt]` argument.
    ///
    /// # Panics
    /// Outside of the body of a call made [`with_attempt`](Call::with_attempt). `#[idempotent]` never does that.
    pub fn attempt<'c>(call: &'c Call<'_>) -> &'c Attempt {
        call.attempt.get().expect("the attempt is there while the body runs")
    }

    /// Checks that the call can go to its store.
    #[inline]
    pub(crate) fn ready(&'h self) -> Result<Ready<'h>, Error> {
        let scope = self.handler.scope();
        let target = self.target.as_ref().map_err(|error| error.clone().within(scope))?;
        let store = match &self.store {
            Some(store) => store.clone(),
            None => StoreHandle::installed(install::installed().ok_or_else(|| no_store().within(scope))?),
        };
        if let Some(required) = self.handler.require {
            let class = store.class();
            if class < required {
                let message =
                    format!("this handler requires a {required:?} store, and the store is {class:?}");
                return Err(Error::new(ErrorKind::Misconfigured, message).within(scope));
            }
        }
        Ok(Ready { call: self, store, seat: None, target })
    }

    /// The record that the call is about.
    pub(crate) fn record(&self) -> Result<RecordId, Error> {
        match &self.target {
            Ok(target) => Ok(target.id),
            Err(error) => Err(error.clone()),
        }
    }

    /// The records of the handler's former scopes.
    pub(crate) fn former(&self) -> &[RecordId] {
        self.target.as_ref().map_or(&[], |target| &target.former)
    }

    /// What must be equal under the key, if that is checked.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// Makes the attempt known to the body.
    pub(crate) fn granted(&self, clock: Clock, grant: Grant, asked_at: Timestamp) -> &Attempt {
        self.attempt.get_or_init(|| Attempt::new(grant, clock, asked_at.after(self.handler.lease)))
    }

    /// When the lease ends that was asked for at `asked_at`, or that renewals have made of it.
    pub(crate) fn leased_until(&self, asked_at: Timestamp) -> Timestamp {
        self.attempt.get().map_or_else(|| asked_at.after(self.handler.lease), Attempt::leased_until)
    }

    /// Adds to an error which handler and which record it is about.
    pub(crate) fn name(&self, error: Error) -> Error {
        let error = error.within(self.handler.scope());
        match &self.target {
            Ok(target) => error.about(target.id),
            Err(_) => error,
        }
    }

    /// Whether a claim whose body did not succeed is given back, so that the next delivery runs at once.
    pub(crate) fn releases(&self) -> bool {
        self.handler.mode == Mode::LeaseAndReplay && self.handler.on_lapse == OnLapse::Rerun
    }
}

#[inline]
fn target_of(handler: &Handler, key: &[u8]) -> Result<Target, Error> {
    let namespaces = handler.namespaces()?;
    Ok(Target {
        id: namespaces.own.record_of(key),
        former: match &namespaces.former[..] {
            [] => Vec::new(),
            former => former.iter().map(|space| space.record_of(key)).collect(),
        },
    })
}

fn no_store() -> Error {
    Error::new(
        ErrorKind::NoStore,
        "no store is installed; at start-up, call `idem::install(store)`, for example \
         `idem::install(idem::SqliteStore::open(\"idem.db\")?)`, or give the handler `store = …`",
    )
}
