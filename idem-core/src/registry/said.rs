//! What `#[idempotent]` says of a handler: a constant expression, of which it writes only what was said.

use std::time::Duration;

use super::RegisteredHandler;
use crate::Handler;

#[doc(hidden)]
impl RegisteredHandler {
    #[must_use]
    pub const fn new(
        handler: &'static Handler,
        function: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self {
            handler,
            function,
            keys,
            scope_is_expression: false,
            store: None,
            transaction: None,
            redelivery: None,
            payload: None,
            final_error: None,
            once_per: None,
            trusts: &[],
            allows: &[],
        }
    }

    #[must_use]
    pub const fn expression(mut self) -> Self {
        self.scope_is_expression = true;
        self
    }

    #[must_use]
    pub const fn in_store(mut self, store: &'static str) -> Self {
        self.store = Some(store);
        self
    }

    #[must_use]
    pub const fn in_transaction(mut self, transaction: &'static str) -> Self {
        self.transaction = Some(transaction);
        self
    }

    #[must_use]
    pub const fn redelivered_for(mut self, seconds: u64, nanos: u32) -> Self {
        self.redelivery = Some(Duration::new(seconds, nanos));
        self
    }

    #[must_use]
    pub const fn compares(mut self, places: &'static [&'static str]) -> Self {
        self.payload = Some(places);
        self
    }

    #[must_use]
    pub const fn keeps_errors(mut self, path: &'static str) -> Self {
        self.final_error = Some(path);
        self
    }

    #[must_use]
    pub const fn once_for(mut self, entity: &'static str) -> Self {
        self.once_per = Some(entity);
        self
    }

    #[must_use]
    pub const fn trusting(mut self, trusts: &'static [(&'static str, &'static str)]) -> Self {
        self.trusts = trusts;
        self
    }

    #[must_use]
    pub const fn allowing(mut self, allows: &'static [(&'static str, &'static str)]) -> Self {
        self.allows = allows;
        self
    }
}
