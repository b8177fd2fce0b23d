//! The annotated handlers of this program, gathered by the linker: no life before `main`, and no list that somebody has to keep.

use std::sync::OnceLock;
use std::time::Duration;

use crate::machine::OnLapse;
use crate::{Handler, Mode, OnDuplicate, StoreClass};

mod said;
#[cfg(any(feature = "registry", feature = "testing"))]
mod shared;
mod text;

#[cfg(feature = "testing")]
pub(crate) use shared::{SharedScope, shared_scopes};
#[cfg(feature = "registry")]
pub(crate) use shared::{heir_of_scope, other_of_scope, refuse_shared_scopes};
#[cfg(feature = "testing")]
pub(crate) use text::{header, header_of, options};

/// The section of the binary. Its name is one for the whole program, so it names the versions of this crate that cargo lets stand beside
/// each other: two of them would read each other's entries, which have other fields.
#[linkme::distributed_slice]
pub static IDEM_0_1_HANDLERS: [RegisteredHandler];

/// The annotated handlers that are linked into this program, by scope.
///
/// What is not linked is not listed. A crate that no code of the program names is not linked at all; in a test of its own, `use billing
/// as _;` is enough. Handlers made by hand, with [`Handler::new`], are not listed either.
/// Under Miri, which links nothing, the list is empty.
///
/// ```
/// # extern crate idem_core as idem;
/// for handler in idem::handlers() {
///     println!("{} at {}:{}", handler.scope(), handler.file(), handler.line());
///     for (place, reason) in handler.trusts() {
///         println!("    trusts {place}: {reason}");
///     }
/// }
/// ```
pub fn handlers() -> &'static [&'static RegisteredHandler] {
    static SORTED: OnceLock<Vec<&'static RegisteredHandler>> = OnceLock::new();
    SORTED.get_or_init(|| {
        if cfg!(miri) {
            return Vec::new();
        }
        let mut handlers: Vec<_> = IDEM_0_1_HANDLERS.static_slice().iter().collect();
        handlers.sort_by_key(|handler| (handler.scope(), handler.function, handler.handler.place()));
        handlers
    })
}

/// What an annotated handler says of itself: its scope, its keys, its windows, and what a person vouches for. See [`handlers`].
///
/// Its `Display` is its entry in a lock file: one line for the scope, and one for each option, as the attribute writes it. The mode, `ttl`
/// and `keep` are always there; other options only if they are not what they are by default.
#[derive(Debug)]
pub struct RegisteredHandler {
    handler: &'static Handler,
    function: &'static str,
    keys: &'static [&'static str],
    scope_is_expression: bool,
    store: Option<&'static str>,
    transaction: Option<&'static str>,
    redelivery: Option<Duration>,
    payload: Option<&'static [&'static str]>,
    final_error: Option<&'static str>,
    once_per: Option<&'static str>,
    trusts: &'static [(&'static str, &'static str)],
    allows: &'static [(&'static str, &'static str)],
}

impl RegisteredHandler {
    /// The scope that its records belong to; its expression, such as `T::NAME`, if [it depends](Self::scope_is_expression) on types.
    pub const fn scope(&self) -> &'static str {
        self.handler.scope()
    }

    /// Whether the scope depends on type parameters. Nothing but a call knows what it is then, so it is compared with no other.
    pub const fn scope_is_expression(&self) -> bool {
        self.scope_is_expression
    }

    /// Its former scopes, whose records still count.
    pub const fn scope_was(&self) -> &'static [&'static str] {
        self.handler.former_scopes()
    }

    /// The module and the function, as in `billing::worker::charge`. A method's type is not in it.
    pub const fn function(&self) -> &'static str {
        self.function
    }

    /// The file, as the compiler was given it.
    pub const fn file(&self) -> &'static str {
        self.handler.place().0
    }

    /// The line of the attribute, counted from 1.
    pub const fn line(&self) -> u32 {
        self.handler.place().1
    }

    /// The templates of its key. Of several, a message gets the first whose parts are all there.
    pub const fn keys(&self) -> &'static [&'static str] {
        self.keys
    }

    /// What it promises when a worker dies; says nothing if it [is key only](Self::is_key_only), or records itself in a
    /// [transaction](Self::transaction).
    pub const fn mode(&self) -> Mode {
        self.handler.mode
    }

    /// Whether it keeps no records, and the API that gets the key deduplicates: `store = none`.
    pub fn is_key_only(&self) -> bool {
        self.store == Some("none")
    }

    /// The expression of its store, `"none"` if it is key only, or `None` if its store is the installed one, or that of its
    /// [transaction](Self::transaction).
    pub const fn store(&self) -> Option<&'static str> {
        self.store
    }

    /// The expression of the transaction that its record commits in, if that is the handler's own.
    pub const fn transaction(&self) -> Option<&'static str> {
        self.transaction
    }

    /// The weakest store class that it accepts; `None` if any will do.
    pub const fn require(&self) -> Option<StoreClass> {
        self.handler.require
    }

    /// How long its result is replayed.
    pub const fn ttl(&self) -> Duration {
        self.handler.ttl
    }

    /// How long its record says that the work is done.
    pub const fn keep(&self) -> Duration {
        self.handler.keep
    }

    /// The longest time for which the queue may still deliver, if that was said.
    pub const fn redelivery(&self) -> Option<Duration> {
        self.redelivery
    }

    /// How long one attempt owns the message without a renewal.
    pub const fn lease(&self) -> Duration {
        self.handler.lease
    }

    /// How long an attempt is renewed.
    pub const fn max_hold(&self) -> Duration {
        self.handler.max_hold
    }

    /// Attempts before the message is parked.
    pub const fn max_tries(&self) -> u32 {
        self.handler.max_tries
    }

    /// What happens to a message whose worker fell silent.
    pub const fn on_lapse(&self) -> OnLapse {
        self.handler.on_lapse
    }

    /// What a call does while another attempt runs.
    pub const fn on_duplicate(&self) -> OnDuplicate {
        self.handler.on_duplicate
    }

    /// The places that must be equal under one key, none for `payload = none`. `None` if nothing was said: then it is the payload of
    /// an argument that is a `Message`, if there is one.
    pub const fn payload(&self) -> Option<&'static [&'static str]> {
        self.payload
    }

    /// The path of the function that says which errors are kept, if there is one.
    pub const fn final_error(&self) -> Option<&'static str> {
        self.final_error
    }

    /// The entity that gets one effect, for a key that is no message's identity.
    pub const fn once_per(&self) -> Option<&'static str> {
        self.once_per
    }

    /// The places that a person vouches for, each with the reason.
    pub const fn trusts(&self) -> &'static [(&'static str, &'static str)] {
        self.trusts
    }

    /// The rules that do not apply, each with the reason.
    pub const fn allows(&self) -> &'static [(&'static str, &'static str)] {
        self.allows
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_section_is_named_after_the_versions_that_can_stand_beside_each_other() {
        macro_rules! name {
            ($slice:ident) => {{
                let _ = super::$slice;
                stringify!($slice)
            }};
        }
        let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
        let incompatible = if major == "0" { format!("0_{minor}") } else { major.to_owned() };
        assert_eq!(name!(IDEM_0_1_HANDLERS), format!("IDEM_{incompatible}_HANDLERS"));
    }
}
