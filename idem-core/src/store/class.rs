//! Store classes as types, so that the compiler can compare them where `require` is checked.

use super::StoreClass;

/// A store class as a type.
pub trait Rank {
    /// The class; `None` if only the value knows.
    const CLASS: Option<StoreClass>;
}

/// A class that is as strong as `Asked`, or stronger; or one that is not known before the first call.
#[diagnostic::on_unimplemented(
    message = "this handler requires a store that is `{Asked}`, and its store is `{Self}`",
    label = "this store is too weak for `require`",
    note = "from weakest to strongest: `volatile`, `lossy`, `durable`, `transactional`; give `store` a stronger one, or require less"
)]
pub trait AtLeast<Asked>: Rank {}

/// [`StoreClass::Volatile`].
#[derive(Clone, Copy, Debug)]
pub enum Volatile {}

/// [`StoreClass::Lossy`].
#[derive(Clone, Copy, Debug)]
pub enum Lossy {}

/// [`StoreClass::Durable`].
#[derive(Clone, Copy, Debug)]
pub enum Durable {}

/// [`StoreClass::Transactional`].
#[derive(Clone, Copy, Debug)]
pub enum Transactional {}

/// Only the value knows: the class is compared at the first call.
#[derive(Clone, Copy, Debug)]
pub enum Unknown {}

macro_rules! ranks {
    ($($class:ident),*) => {$(
        impl Rank for $class {
            const CLASS: Option<StoreClass> = Some(StoreClass::$class);
        }
    )*};
}
ranks!(Volatile, Lossy, Durable, Transactional);

// Written out, as a refusal shows the nearest of them.
impl AtLeast<Volatile> for Volatile {}
impl AtLeast<Volatile> for Lossy {}
impl AtLeast<Lossy> for Lossy {}
impl AtLeast<Volatile> for Durable {}
impl AtLeast<Lossy> for Durable {}
impl AtLeast<Durable> for Durable {}
impl AtLeast<Volatile> for Transactional {}
impl AtLeast<Lossy> for Transactional {}
impl AtLeast<Durable> for Transactional {}
impl AtLeast<Transactional> for Transactional {}

impl Rank for Unknown {
    const CLASS: Option<StoreClass> = None;
}

impl<Asked> AtLeast<Asked> for Unknown {}
