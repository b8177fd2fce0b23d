//! Which batch the future belongs to that this thread polls now.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::shared::Shared;
use crate::call::Ready;

thread_local! {
    /// Whether there is one. Apart from it, because this costs a call outside of batches next to nothing.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static CURRENT: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// What was before it, until it is dropped.
pub(crate) struct Scope(Option<Arc<Shared>>);

/// The calls that begin from here on belong to this batch, or to none.
pub(super) fn enter(shared: Option<Arc<Shared>>) -> Scope {
    INSIDE.set(shared.is_some());
    Scope(CURRENT.replace(shared))
}

impl Drop for Scope {
    fn drop(&mut self) {
        let before = self.0.take();
        INSIDE.set(before.is_some());
        drop(CURRENT.replace(before));
    }
}

/// Leaves the batch while a body runs: a handler that it calls may be called for other messages too, and could wait for a turn
/// that its caller has.
#[inline]
pub(crate) fn leave() -> Option<Scope> {
    INSIDE.get().then(|| enter(None))
}

/// Whether the future that is polled now belongs to a batch.
#[inline]
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

/// Lets a call that has just begun take part in the batch, if there is one.
#[cold]
pub(crate) fn join(ready: Ready<'_>) -> Ready<'_> {
    let shared = CURRENT.with_borrow(Clone::clone);
    match shared {
        Some(shared) => shared.welcome(ready),
        None => ready,
    }
}
