//! What the driver holds a store by.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Store;

/// A store that outlives the call: the installed one, or a handle made for the call.
#[derive(Clone)]
pub struct StoreHandle(Holder);

#[derive(Clone)]
enum Holder {
    Installed(&'static dyn Store),
    Shared(Arc<dyn Store>),
}

impl StoreHandle {
    /// A handle to a store that is shared already.
    pub fn shared(store: Arc<dyn Store>) -> Self {
        Self(Holder::Shared(store))
    }

    pub(crate) fn installed(store: &'static dyn Store) -> Self {
        Self(Holder::Installed(store))
    }
}

impl Deref for StoreHandle {
    type Target = dyn Store;

    #[inline]
    fn deref(&self) -> &dyn Store {
        match &self.0 {
            Holder::Installed(store) => *store,
            Holder::Shared(store) => &**store,
        }
    }
}

impl fmt::Debug for StoreHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Makes a handle from any expression that is, or points to, a store. Called as a method, so that the compiler goes through
/// references and smart pointers by itself.
pub trait ToStoreHandle {
    #[doc(hidden)]
    fn __idem_store_handle(&self) -> StoreHandle;
}

impl<S: Store> ToStoreHandle for S {
    fn __idem_store_handle(&self) -> StoreHandle {
        StoreHandle::shared(self.handle())
    }
}

impl ToStoreHandle for dyn Store {
    fn __idem_store_handle(&self) -> StoreHandle {
        StoreHandle::shared(self.handle())
    }
}
