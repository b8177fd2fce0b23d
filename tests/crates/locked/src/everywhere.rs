//! Handlers in every place that an item can be in.

use ::idem::{Error, MemoryStore, idempotent};
use ::std::clone::Clone;
use ::std::marker::{Send, Sized};
use ::std::result::Result::{self, Ok};

use crate::Payment;

/// A consumer of messages.
#[derive(Debug)]
pub struct Consumer<T, const N: usize> {
    /// Where its records live.
    pub store: MemoryStore,
    /// What it is generic over.
    pub rest: [T; N],
}

impl<T: Clone + Send, const N: usize> Consumer<T, N> {
    /// In a generic impl block.
    ///
    /// # Errors
    /// idem's own.
    #[idempotent(key = "msg:<payment.id>", scope = "everywhere.method", store = self.store)]
    pub fn method(&self, payment: &Payment) -> Result<usize, Error> {
        let _ = payment;
        Ok(N)
    }
}

/// What a consumer is called.
pub trait Named {
    /// The name.
    const NAME: &'static str;

    /// A default method, whose scope only a call knows.
    ///
    /// # Errors
    /// idem's own.
    #[idempotent(key = "msg:<payment.id>", scope = Self::NAME, ttl = "1d")]
    fn by_default(&self, payment: &Payment) -> Result<u64, Error>
    where
        Self: Sized,
    {
        Ok(payment.amount)
    }
}

/// With a type parameter and a const one.
///
/// # Errors
/// idem's own.
#[idempotent(key = "msg:<payment.id>:<K>", scope = "everywhere.generic")]
pub fn generic<T, const K: usize>(payment: &Payment, rest: &T) -> Result<u64, Error> {
    let _ = rest;
    Ok(payment.amount)
}

/// Within a function, a closure and a block.
///
/// # Errors
/// idem's own.
pub fn inside_of_others(payment: &Payment) -> Result<u64, Error> {
    #[idempotent(key = "msg:<payment.id>")]
    fn inner(payment: &Payment) -> Result<u64, Error> {
        #[idempotent(key = "msg:<id>")]
        fn innermost(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
        innermost(payment.id)
    }
    let closure = |payment| {
        #[idempotent(key = "msg:<payment.id>")]
        fn in_closure(payment: &Payment) -> Result<u64, Error> {
            Ok(payment.amount)
        }
        in_closure(payment)
    };
    closure(payment)?;
    inner(payment)
}

macro_rules! handlers {
    ($($name:ident: $key:literal),*) => {$(
        /// Made by a macro.
        ///
        /// # Errors
        /// idem's own.
        #[idempotent(key = $key)]
        pub fn $name(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    )*};
}
handlers!(made_first: "first:<id>", made_second: "second:<id>");

/// Named by a keyword, as is what the key reads.
///
/// # Errors
/// idem's own.
#[idempotent(key = "msg:<id>:<type>")]
pub fn r#move(id: u64, r#type: u64) -> Result<u64, Error> {
    Ok(id + r#type)
}

/// A future that is made by hand: the guard is inside of it.
///
/// # Errors
/// idem's own.
#[allow(clippy::manual_async_fn, reason = "that is what is tested")]
#[idempotent(key = "msg:<id>")]
pub fn future(id: u64) -> impl ::std::future::Future<Output = Result<u64, Error>> {
    async move { Ok(id) }
}

#[cfg(any())]
mod left_out {
    #[idempotent(key = "msg:<id>")]
    pub fn left_out(id: u64) -> Result<u64, Error> {
        Ok(id)
    }
}

mod unreachable_ones {
    use ::idem::{Error, idempotent};
    use ::std::result::Result::{self, Ok};

    /// Nobody calls it, and it is there all the same.
    #[allow(dead_code, reason = "that is what is tested")]
    #[idempotent(key = "msg:<id>")]
    fn never_called(id: u64) -> Result<u64, Error> {
        Ok(id)
    }
}
