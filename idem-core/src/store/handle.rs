//! What the driver holds a store by.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::class::AtLeast;
use super::{Classed, Store};
use crate::transaction::HoldsRecords;

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

/// What a call holds its store by while it runs: as a rule it borrows, and counts nothing.
#[derive(Debug)]
pub(crate) enum StoreRef<'c> {
    Installed(&'static dyn Store),
    Given(&'c StoreHandle),
    /// What gathers for a batch.
    Own(StoreHandle),
}

impl StoreRef<'_> {
    /// A handle that outlives the call.
    pub(crate) fn to_handle(&self) -> StoreHandle {
        match self {
            Self::Installed(store) => StoreHandle(Holder::Installed(*store)),
            Self::Given(handle) => (*handle).clone(),
            Self::Own(handle) => handle.clone(),
        }
    }
}

impl Deref for StoreRef<'_> {
    type Target = dyn Store;

    #[inline]
    fn deref(&self) -> &dyn Store {
        match self {
            Self::Installed(store) => *store,
            Self::Given(handle) => &***handle,
            Self::Own(handle) => &**handle,
        }
    }
}

/// Makes a handle from any expression that is, or points to, a store. Called as a method, so that the compiler goes through
/// references and smart pointers by itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "records cannot live here",
    note = "give `store = …` an expression that is, or points to, an `idem::Store`"
)]
pub trait ToStoreHandle {
    #[doc(hidden)]
    fn idem_store(&self) -> StoreHandle;

    /// The same, and which type the store is of.
    #[doc(hidden)]
    fn idem_typed_store(&self) -> TypedStore<Self> {
        TypedStore { handle: self.idem_store(), of: PhantomData }
    }

    /// Where the records are that a transaction of the store's own database writes.
    #[doc(hidden)]
    fn idem_records<Records>(&self) -> Records
    where
        Self: HoldsRecords<Records>,
    {
        self.records()
    }
}

/// A handle that knows the type of its store.
#[derive(Debug)]
pub struct TypedStore<S: ?Sized> {
    handle: StoreHandle,
    of: PhantomData<fn(&S)>,
}

impl<S: Classed> TypedStore<S> {
    /// Refuses, at compile time, a store that is weaker than `Asked`. Preferred to the trait's method, as it is the type's own.
    #[doc(hidden)]
    pub fn at_least<Asked>(self) -> StoreHandle
    where
        S::Class: AtLeast<Asked>,
    {
        self.handle
    }
}

/// Any store, of whose type nothing is known at compile time.
pub trait UnclassedStore {
    /// Leaves it to the first call to refuse a store that is too weak.
    #[doc(hidden)]
    fn at_least<Asked>(self) -> StoreHandle;
}

impl<S: ?Sized> UnclassedStore for TypedStore<S> {
    fn at_least<Asked>(self) -> StoreHandle {
        self.handle
    }
}

impl<S: Store> ToStoreHandle for S {
    fn idem_store(&self) -> StoreHandle {
        StoreHandle::shared(self.handle())
    }
}

impl ToStoreHandle for dyn Store {
    fn idem_store(&self) -> StoreHandle {
        StoreHandle::shared(self.handle())
    }
}
