//! Which store is which.

use std::any::TypeId;

/// Tells one store from all others of the process; see [`Store::identity`](crate::Store::identity).
///
/// It holds for as long as one of the store's handles lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreIdentity {
    /// What lies at one address need not be one thing: a value without a size shares its address with others.
    of: TypeId,
    at: usize,
}

impl StoreIdentity {
    /// The identity of a store whose handles all share this one `value`, such as the inside of an `Arc`.
    pub fn of<T: ?Sized + 'static>(value: &T) -> Self {
        Self { of: TypeId::of::<T>(), at: std::ptr::from_ref(value).addr() }
    }
}
