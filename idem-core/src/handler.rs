//! What a handler asks of the driver: its scope, its windows, its rules.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::install;
use crate::machine::OnLapse;
use crate::store::StoreClass;
use crate::{Error, ErrorKind, Namespace};

/// The settings of one handler. `#[idempotent]` makes one from its options; without the attribute, make it by hand.
///
/// ```
/// # extern crate idem_core as idem;
/// use std::time::Duration;
/// use idem::Handler;
///
/// static CHARGE: Handler = Handler::new("billing.charge")
///     .ttl(Duration::from_secs(7 * 86_400))
///     .lease(Duration::from_secs(30));
/// assert_eq!(CHARGE.scope(), "billing.charge");
/// ```
#[derive(Debug)]
pub struct Handler {
    scope: &'static str,
    scope_was: &'static [&'static str],
    place: (&'static str, u32),
    pub(crate) ttl: Duration,
    pub(crate) keep: Duration,
    pub(crate) error_ttl: Duration,
    pub(crate) lease: Duration,
    pub(crate) max_hold: Duration,
    pub(crate) max_tries: u32,
    pub(crate) on_lapse: OnLapse,
    pub(crate) on_duplicate: OnDuplicate,
    pub(crate) mode: Mode,
    pub(crate) require: Option<StoreClass>,
    namespaces: OnceLock<Namespaces>,
    identity: OnceLock<&'static str>,
}

/// The spaces of a handler's keys: its own, and those of its former names.
#[derive(Debug)]
pub(crate) struct Namespaces {
    pub(crate) own: Namespace,
    pub(crate) former: Vec<Namespace>,
    /// The handler that its records would be shared with.
    taken: Option<Taken>,
}

/// A file and a line.
type Place = (&'static str, u32);

/// Why a scope is not a handler's alone.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// The handler there has the same.
    Same(Place),
    /// This former scope is that of the handler there.
    Former(&'static str, Place),
    /// The handler there names it among its former scopes.
    FormerOf(Place),
}

/// The scopes of this process' handlers, each with the place of its handler.
struct Scopes {
    own: BTreeMap<&'static str, Place>,
    former: BTreeMap<&'static str, Place>,
}

static SCOPES: Mutex<Scopes> = Mutex::new(Scopes { own: BTreeMap::new(), former: BTreeMap::new() });

impl Scopes {
    /// Lets a handler have its scopes, if no handler that came before has one of them.
    fn take(&mut self, handler: &Handler) -> Option<Taken> {
        let place = handler.place;
        let other = |first: Place| (first != place).then_some(first);
        let first = *self.own.entry(handler.scope).or_insert(place);
        // The table knows another one before it is called.
        #[cfg(feature = "registry")]
        let first = crate::registry::other_of_scope(handler.scope, place).unwrap_or(first);
        if let Some(first) = other(first) {
            return Some(Taken::Same(first));
        }
        for former in handler.other_scopes() {
            let living = self.own.get(former).copied();
            #[cfg(feature = "registry")]
            let living = crate::registry::other_of_scope(former, place).or(living);
            if let Some(living) = living.and_then(other) {
                return Some(Taken::Former(former, living));
            }
        }
        let heir = self.former.get(handler.scope).copied();
        #[cfg(feature = "registry")]
        let heir = crate::registry::heir_of_scope(handler.scope, place).or(heir);
        if let Some(heir) = heir.and_then(other) {
            return Some(Taken::FormerOf(heir));
        }
        for former in handler.other_scopes() {
            self.former.entry(former).or_insert(place);
        }
        None
    }
}

/// What the driver does while another attempt runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Returns [`InProgress`](crate::ErrorKind::InProgress) with the time to wait.
    #[default]
    Error,
    /// Waits up to this long for the other attempt's result, then returns the error.
    Wait(Duration),
}

/// What the handler promises when a worker dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// At least once until success is recorded; after that never again while the record lives.
    #[default]
    LeaseAndReplay,
    /// The `SET NX EX` recipe by its true name: a crash after the claim loses the message, and the loss is counted. So does
    /// an error of the body, which may have come after its effect: while the lease lasts, a redelivery is told to come back,
    /// and after that the message counts as lost.
    AtMostOnce,
}

impl Handler {
    /// A handler with all defaults, whose records belong to `scope`.
    pub const fn new(scope: &'static str) -> Self {
        Self {
            scope,
            scope_was: &[],
            place: ("", 0),
            ttl: Duration::from_secs(7 * 86_400),
            keep: Duration::from_secs(45 * 86_400),
            error_ttl: Duration::from_secs(3_600),
            lease: Duration::from_secs(30),
            max_hold: Duration::from_secs(15 * 60),
            max_tries: 5,
            on_lapse: OnLapse::Rerun,
            on_duplicate: OnDuplicate::Error,
            mode: Mode::LeaseAndReplay,
            require: None,
            namespaces: OnceLock::new(),
            identity: OnceLock::new(),
        }
    }

    /// As [`new`](Self::new), and remembers that it was written where this is called.
    #[must_use]
    #[track_caller]
    pub const fn here(scope: &'static str) -> Self {
        let here = std::panic::Location::caller();
        Self::new(scope).at(here.file(), here.line())
    }

    /// Former scopes, whose records still count. No other handler of the program may have one of them: what that one has done, this one
    /// would take for its own.
    #[must_use]
    pub const fn scope_was(mut self, scopes: &'static [&'static str]) -> Self {
        self.scope_was = scopes;
        self
    }

    /// The source file and line, so that two handlers with one scope can be told apart.
    #[must_use]
    pub const fn at(mut self, file: &'static str, line: u32) -> Self {
        self.place = (file, line);
        self
    }

    /// How long a result is replayed; 7 days if not said.
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long the record says that the work is done, with or without the result; 45 days if not said.
    #[must_use]
    pub const fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// How long an error worth remembering is replayed; one hour if not said, so that mistakes heal.
    #[must_use]
    pub const fn error_ttl(mut self, ttl: Duration) -> Self {
        self.error_ttl = ttl;
        self
    }

    /// How long one attempt owns the record without a renewal; 30 s if not said. Renewed at a third of it, in the background, from the start;
    /// on a store that ends with the process ([`Volatile`](StoreClass::Volatile)) from where the body of a future first waits. A body that blocks
    /// the only thread of the runtime on which its store lives has a single lease to do it in.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long renewals go on, so that a body that hangs does not hold for ever; 15 minutes if not said.
    #[must_use]
    pub const fn max_hold(mut self, hold: Duration) -> Self {
        self.max_hold = hold;
        self
    }

    /// Grants before the message is parked; 5 if not said. The first is always given, so 0 is 1. A grant in a batch counts although its
    /// body never came to its turn. At most once has no such number: its one attempt is not repeated, and a claim under which no body
    /// ran does not count.
    #[must_use]
    pub const fn max_tries(mut self, tries: u32) -> Self {
        self.max_tries = tries;
        self
    }

    /// What happens to a message whose holder fell silent, or, with [`OnLapse::Park`], whose body failed.
    #[must_use]
    pub const fn on_lapse(mut self, on_lapse: OnLapse) -> Self {
        self.on_lapse = on_lapse;
        self
    }

    /// What the driver does while another attempt runs.
    #[must_use]
    pub const fn on_duplicate(mut self, on_duplicate: OnDuplicate) -> Self {
        self.on_duplicate = on_duplicate;
        self
    }

    /// What the handler promises when a worker dies.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The weakest store class that this handler accepts.
    #[must_use]
    pub const fn require(mut self, class: StoreClass) -> Self {
        self.require = Some(class);
        self
    }

    /// The scope.
    pub const fn scope(&self) -> &'static str {
        self.scope
    }

    /// Where it was written: file and line, if known.
    pub const fn place(&self) -> (&'static str, u32) {
        self.place
    }

    /// Its former scopes, as they were given.
    #[cfg(feature = "table")]
    pub(crate) const fn former_scopes(&self) -> &'static [&'static str] {
        self.scope_was
    }

    /// Its former scopes but for the one that it has again: a record would answer for itself.
    pub(crate) fn other_scopes(&self) -> impl Iterator<Item = &'static str> {
        let own = self.scope;
        self.scope_was.iter().copied().filter(move |former| *former != own)
    }

    /// The spaces of its keys.
    ///
    /// # Errors
    /// If another handler of this process has the same scope, or one that was its scope: the two would skip each other's messages.
    #[inline]
    pub(crate) fn namespaces(&self) -> Result<&Namespaces, Error> {
        let namespaces = self.namespaces.get_or_init(|| self.make_namespaces());
        match namespaces.taken {
            None => Ok(namespaces),
            Some(taken) => Err(self.scope_is_taken(taken)),
        }
    }

    #[cold]
    fn make_namespaces(&self) -> Namespaces {
        let space = |scope: &str| Namespace::new(install::application(), "", scope);
        Namespaces {
            own: space(self.scope),
            former: self.other_scopes().map(space).collect(),
            taken: match self.place {
                // Made by hand: the same scope in several places may well be one handler.
                ("", _) => None,
                _ => SCOPES.lock().unwrap_or_else(PoisonError::into_inner).take(self),
            },
        }
    }

    #[cold]
    fn scope_is_taken(&self, taken: Taken) -> Error {
        let (here, at) = self.place;
        let message = match taken {
            Taken::Same((file, line)) => format!(
                "two handlers have this scope: one at {file}:{line}, this one at {here}:{at}; give one of them another `scope`"
            ),
            Taken::Former(former, (file, line)) => format!(
                "its `scope_was`, at {here}:{at}, names `{former}`, which is the scope of the handler at {file}:{line}: what that one has \
                 done would count as done here; take it out of `scope_was`"
            ),
            Taken::FormerOf((file, line)) => format!(
                "the handler at {file}:{line} names this scope in its `scope_was`, and the handler at {here}:{at} has it: what this one has \
                 done would count as done there; take it out of `scope_was`"
            ),
        };
        Error::new(ErrorKind::Misconfigured, message).within(self.scope)
    }

    /// Makes sure that this scope answers for one handler only, and within it for one `Self` and one set of type parameters.
    ///
    /// `identity` tells instances apart within this process; it is never stored.
    #[doc(hidden)]
    #[inline]
    pub fn answers_for(&self, identity: &'static str) -> Result<(), Error> {
        // The same string constant has one address in most builds, so the bytes are rarely compared.
        match self.identity.get() {
            Some(first) if std::ptr::eq(*first, identity) => Ok(()),
            _ => self.compare_identity(identity),
        }
    }

    #[cold]
    fn compare_identity(&self, identity: &'static str) -> Result<(), Error> {
        let first = *self.identity.get_or_init(|| first_identity(self.scope, identity));
        if first == identity {
            return Ok(());
        }
        let scope = self.scope;
        // Where the name is that of a closure, the function around it is meant.
        let [first, identity] = [first, identity].map(|name| name.trim_end_matches("::{{closure}}"));
        let message = format!(
            "one scope for two handlers: it answers for `{first}` and was called for `{identity}`; give each a `scope` of its own"
        );
        Err(Error::new(ErrorKind::Misconfigured, message).within(scope))
    }
}

/// The identity that a scope was first asked for. Kept for the process and not with the handler: one whose scope depends on a
/// type is made anew for each call.
#[cold]
fn first_identity(scope: &'static str, identity: &'static str) -> &'static str {
    static FIRST: Mutex<BTreeMap<&str, &str>> = Mutex::new(BTreeMap::new());
    FIRST.lock().unwrap_or_else(PoisonError::into_inner).entry(scope).or_insert(identity)
}
