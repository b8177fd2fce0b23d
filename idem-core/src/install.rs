//! The store that handlers find by themselves.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::store::Store;

static INSTALLED: Mutex<Vec<&'static dyn Store>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static APPLICATION: OnceLock<String> = OnceLock::new();

/// Gives all handlers without a `store` option their store. Call it at start-up, before the first handler.
///
/// Called again, the newer store serves the calls that begin after, in all threads; the older one stays in memory for those that run.
///
/// Tests of one binary run at the same time: a store that one of them installs takes the others' records from under them. Install one
/// `MemoryStore` for all, as by a `static INSTALL: Once`, and let each test use ids of its own; or give the handlers their store with
/// `store = self.store`.
///
/// ```
/// # extern crate idem_core as idem;
/// idem::install(idem::MemoryStore::new());
/// ```
///
/// # Panics
/// With the feature `registry`, if two annotated handlers of the program have one scope, or one names in `scope_was` what is the scope
/// of another: they would skip each other's messages. Without the feature, the call of the second of them returns an error.
#[cfg_attr(feature = "registry", track_caller)]
pub fn install(store: impl Store) {
    #[cfg(feature = "registry")]
    crate::registry::refuse_shared_scopes();
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.push(Box::leak(Box::new(store)));
    COUNT.store(installed.len(), Ordering::Release);
}

/// Names the application, which is a part of every record's identity, for stores that several applications share.
///
/// Call it before the first handler. Without a name, it is the empty string.
///
/// # Errors
/// Returns the name in use, if another one has been given or a handler has run without one.
pub fn name_application(name: &str) -> Result<(), &'static str> {
    let in_use = APPLICATION.get_or_init(|| name.to_owned());
    if in_use == name { Ok(()) } else { Err(in_use) }
}

/// The application's name. Once asked for, it stays: records written before and after a change could not find each other.
pub(crate) fn application() -> &'static str {
    APPLICATION.get_or_init(String::new)
}

/// The store installed last. Each thread remembers it, so that a call costs one atomic read.
#[inline]
pub(crate) fn installed() -> Option<&'static dyn Store> {
    thread_local! {
        static LATEST: Cell<(usize, Option<&'static dyn Store>)> = const { Cell::new((0, None)) };
    }
    let count = COUNT.load(Ordering::Acquire);
    LATEST.with(|latest| {
        let (seen, store) = latest.get();
        if seen == count {
            return store;
        }
        let store = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner).get(count - 1).copied();
        latest.set((count, store));
        store
    })
}
