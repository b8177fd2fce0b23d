//! One call of a handler: its record, its store, and what its body may ask for.

use std::sync::{Arc, OnceLock};

use crate::attempt::Attempt;
use crate::batch::Seat;
use crate::machine::{Claim, Grant, OnLapse, Verdict};
use crate::message::Payload;
use crate::observe::{Event, count};
use crate::store::{Reply, StoreClass, StoreHandle, StoreRef};
use crate::{
    Clock, Error, ErrorKind, Fingerprint, Handler, Key, KeyText, Mode, Namespace, RecordId, Timestamp, Token,
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
    pub(crate) fingerprint: Option<Fingerprint>,
    attempt: OnceLock<Attempt>,
    /// Whether the body asks for the attempt. If not, it is made for renewals alone, and most calls need none.
    asks_attempt: bool,
}

/// The record that a call is about.
#[derive(Debug)]
struct Target {
    id: RecordId,
    /// The records of the handler's former scopes; empty, and not allocated, unless it has any.
    former: Box<[RecordId]>,
}

/// A call that can go to its store.
#[derive(Debug)]
pub(crate) struct Ready<'c> {
    pub(crate) call: &'c Call<'c>,
    pub(crate) store: StoreRef<'c>,
    /// Its place in the batch, if it is part of one.
    pub(crate) seat: Option<Arc<Seat>>,
}

impl<'c> Ready<'c> {
    pub(crate) fn id(&self) -> RecordId {
        self.target().id
    }

    /// The records of the handler's former scopes.
    pub(crate) fn former(&self) -> &'c [RecordId] {
        &self.target().former
    }

    #[inline]
    fn target(&self) -> &'c Target {
        let Ok(target) = &self.call.target else { unreachable!("a call without a record is not ready") };
        target
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

    /// Asks the store, and writes down when.
    pub(crate) fn ask(&self, asked_at: &mut Timestamp) -> Reply<Verdict> {
        self.store.claim_at(&self.claim(), asked_at)
    }
}

impl<'h> Call<'h> {
    /// Renders the key and works out the record's identity. What goes wrong is kept, and comes out of `run`.
    #[inline]
    pub fn derive(handler: &'h Handler, keep_key: bool, render: impl FnOnce(&mut KeyText)) -> Self {
        let mut text = KeyText::new();
        render(&mut text);
        Self::of(handler, &mut text, keep_key, None)
    }

    /// As [`derive`](Self::derive), for a function that may belong to a generic impl block. Nothing in its tokens says so, but the
    /// name of its closure's type does; each set of type parameters needs a scope of its own.
    #[inline]
    pub fn derive_here<F: FnOnce(&mut KeyText)>(handler: &'h Handler, keep_key: bool, render: F) -> Self {
        let mut text = KeyText::new();
        render(&mut text);
        Self::of(handler, &mut text, keep_key, Some(std::any::type_name::<F>()))
    }

    fn of(handler: &'h Handler, text: &mut KeyText, keep_key: bool, identity: Option<&'static str>) -> Self {
        let key = if keep_key { text.to_key().ok() } else { None };
        let answers = identity.map_or(Ok(()), |identity| handler.answers_for(identity));
        let target = text.padded().and_then(|text| target(handler, |space| space.record_of_padded(&text)));
        Self::new(handler, target.and_then(|target| answers.map(|()| target)), key)
    }

    /// A call for a key that was made before.
    pub(crate) fn with_key(handler: &'h Handler, key: &Key, tenant: &str) -> Self {
        let target = if tenant.is_empty() {
            target(handler, |space| space.record(key.as_str()))
        } else {
            let space =
                |scope: &str| Namespace::new(install::application(), tenant, scope).record(key.as_str());
            Ok(Target { id: space(handler.scope()), former: handler.other_scopes().map(space).collect() })
        };
        Self::new(handler, target, Some(key.clone()))
    }

    #[inline]
    fn new(handler: &'h Handler, target: Result<Target, Error>, key: Option<Key>) -> Self {
        Self {
            handler,
            token: Token::fresh(),
            target,
            key,
            store: None,
            fingerprint: None,
            attempt: OnceLock::new(),
            asks_attempt: false,
        }
    }

    /// The call, once it has been told what `tell` tells it. (An expansion tells it where it stays: a call is large to move.)
    #[must_use]
    pub fn with(mut self, tell: impl FnOnce(&mut Self)) -> Self {
        tell(&mut self);
        self
    }

    /// Has the attempt ready before the body begins.
    pub fn ask_attempt(&mut self) {
        self.asks_attempt = true;
    }

    /// Whether the body asks for the attempt.
    pub(crate) fn asks_attempt(&self) -> bool {
        self.asks_attempt
    }

    /// Uses this store instead of the installed one.
    pub fn use_store(&mut self, store: StoreHandle) {
        self.store = Some(store);
    }

    /// Checks the payload.
    pub fn check_fingerprint(&mut self, fingerprint: Result<Fingerprint, Error>) {
        match fingerprint {
            Ok(fingerprint) => self.fingerprint = Some(fingerprint),
            Err(error) => self.refuse(error),
        }
    }

    /// Checks the payload of the arguments that are messages, if any is.
    #[inline]
    pub fn check_payload(&mut self, payload: Payload) {
        if let Some(fingerprint) = payload.finish() {
            self.check_fingerprint(fingerprint);
        }
    }

    /// Makes sure that the scope answers for one `Self` and one set of type parameters.
    #[inline]
    pub fn answers_for(&mut self, identity: &'static str) {
        if let Err(error) = self.handler.answers_for(identity) {
            self.refuse(error);
        }
    }

    /// Keeps what the call fails with, unless something was wrong before.
    #[cold]
    fn refuse(&mut self, error: Error) {
        if self.target.is_ok() {
            self.target = Err(error);
        }
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
    /// Outside of the body of a call that was told to [`ask_attempt`](Call::ask_attempt). `#[idempotent]` never does that.
    pub fn attempt<'c>(call: &'c Call<'_>) -> &'c Attempt {
        call.attempt.get().expect("the attempt is there while the body runs")
    }

    /// Checks that the call can go to its store.
    #[inline]
    pub(crate) fn ready(&'h self) -> Result<Ready<'h>, Error> {
        if self.target.is_err() {
            return Err(self.why_not());
        }
        let store = match &self.store {
            Some(handle) => StoreRef::Given(handle),
            None => match install::installed() {
                Some(store) => StoreRef::Installed(store),
                None => return Err(self.why_not()),
            },
        };
        match self.handler.require {
            Some(required) if store.class() < required => Err(self.too_weak(required, store.class())),
            _ => Ok(Ready { call: self, store, seat: None }),
        }
    }

    #[cold]
    fn why_not(&self) -> Error {
        let error = self.target.as_ref().err().map_or_else(no_store, keyless);
        error.within(self.handler.scope())
    }

    #[cold]
    fn too_weak(&self, required: StoreClass, class: StoreClass) -> Error {
        let message = format!("this handler requires a {required:?} store, and the store is {class:?}");
        Error::new(ErrorKind::Misconfigured, message).within(self.handler.scope())
    }

    /// The record that the call is about.
    pub(crate) fn record(&self) -> Result<RecordId, Error> {
        match &self.target {
            Ok(target) => Ok(target.id),
            Err(error) => Err(keyless(error)),
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
        self.attempt.get_or_init(|| {
            // The store may have granted it after its clock was set back.
            let until = asked_at.min(clock.now()).after(self.handler.lease);
            Attempt::new(grant, clock, until)
        })
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
fn target(handler: &Handler, record: impl Fn(&Namespace) -> RecordId) -> Result<Target, Error> {
    let namespaces = handler.namespaces()?;
    Ok(Target {
        id: record(&namespaces.own),
        former: match &namespaces.former[..] {
            [] => Box::default(),
            former => former.iter().map(record).collect(),
        },
    })
}

/// What a call without a record fails with, counted if that is its message's fault.
#[cold]
fn keyless(error: &Error) -> Error {
    use ErrorKind::{InvalidKey, InvalidPayload, MissingKeyPart};
    if matches!(error.kind(), MissingKeyPart | InvalidKey | InvalidPayload) {
        count(Event::Keyless);
    }
    error.clone()
}

fn no_store() -> Error {
    Error::new(
        ErrorKind::NoStore,
        "no store is installed; at start-up, call `idem::install(store)`, for example \
         `idem::install(idem::SqliteStore::open(\"idem.db\")?)`, or give the handler `store = …`",
    )
}
