//! Methods: receivers, `Self`, traits and their implementations.

/// `&self` with `self` in the key.
mod self_in_the_key {
    use crate::{Error, Message, idempotent};
    pub struct Handler {
        tenant: String,
    }
    impl Handler {
        #[idempotent(scope = "self_in_the_key.1", key = "k:<self.tenant>:<message.id>")]
        pub async fn charge(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount + self.tenant.len() as u64)
        }
        #[idempotent(scope = "self_in_the_key.2", key = "k:<self.tenant.to_lowercase()>:<message.id>", trust(self.tenant.to_lowercase(), reason = "pure"))]
        pub fn charge_now(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount + self.tenant.len() as u64)
        }
    }
}

/// `&mut self`.
mod mutable_self {
    use crate::{Error, Message, idempotent};
    pub struct Handler {
        total: u64,
    }
    impl Handler {
        #[idempotent(scope = "mutable_self.1", key = "msg:<message.id>:<self.total>")]
        pub async fn charge(&mut self, message: Message) -> Result<u64, Error> {
            self.total += message.amount;
            Ok(self.total)
        }
        #[idempotent(scope = "mutable_self.2", key = "msg:<message.id>")]
        pub fn charge_now(&mut self, message: &mut Message) -> Result<u64, Error> {
            let t = &mut self.total;
            *t += message.amount;
            message.amount = 0;
            Ok(*t)
        }
    }
}

/// `self: Arc<Self>` and other typed receivers.
mod typed_receivers {
    use crate::{Error, Message, idempotent};
    use std::{pin::Pin, sync::Arc};
    pub struct Handler {
        total: u64,
    }
    impl Handler {
        #[idempotent(scope = "typed_receivers.1", key = "k:<self.total>:<message.id>")]
        pub async fn arc(self: Arc<Self>, message: Message) -> Result<u64, Error> {
            Ok(self.total + message.amount)
        }
        #[idempotent(scope = "typed_receivers.2", key = "k:<self.total>:<message.id>")]
        pub async fn boxed(self: Box<Self>, message: Message) -> Result<u64, Error> {
            Ok(self.total + message.amount)
        }
        #[idempotent(scope = "typed_receivers.3", key = "k:<self.total>:<message.id>")]
        pub async fn by_ref(self: &Self, message: Message) -> Result<u64, Error> {
            Ok(self.total + message.amount)
        }
        #[idempotent(scope = "typed_receivers.4", key = "k:<self.total>:<message.id>")]
        pub async fn pinned(self: Pin<&mut Self>, message: Message) -> Result<u64, Error> {
            Ok(self.total + message.amount)
        }
        #[idempotent(scope = "typed_receivers.5", key = "k:<self.total>:<message.id>")]
        pub async fn arc_ref(self: &Arc<Self>, message: Message) -> Result<u64, Error> {
            Ok(self.total + message.amount)
        }
    }
}

/// `Self` in the signature and the body.
mod self_type {
    use crate::{Error, Message, idempotent};
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum State {
        Open,
        Paid { total: u64 },
        Tagged(u8),
    }
    impl State {
        const FEE: u64 = 2;
        fn fee() -> u64 {
            Self::FEE
        }
        #[idempotent(key = "msg:<message.id>:<Self::FEE>")]
        pub async fn pay(message: Message, old: Self) -> Result<Self, Error> {
            let Self::Open = old else { return Ok(Self::Tagged(0)) };
            let _ = Self::Tagged;
            Ok(Self::Paid { total: message.amount + Self::fee() })
        }
    }
}

/// Method in a generic impl that uses the impl's parameters.
mod generic_impl {
    use crate::{Error, Message, idempotent};
    pub struct Handler<T, const N: usize> {
        inner: [T; N],
    }
    impl<T: Clone + Into<u64> + Send + Sync, const N: usize> Handler<T, N> {
        #[idempotent(scope = "generic_impl.1", key = "msg:<message.id>:<N>")]
        pub async fn charge(&self, message: Message) -> Result<u64, Error> {
            let x: T = self.inner[0].clone();
            Ok(message.amount + x.into() + N as u64)
        }
    }
}

/// Free function inside a method body.
mod function_inside_a_method {
    use crate::{Error, Message, idempotent};
    pub struct Outer;
    impl Outer {
        pub async fn go(&self, message: Message) -> Result<u64, Error> {
            #[idempotent(key = "msg:<message.id>")]
            async fn inner(message: Message) -> Result<u64, Error> {
                Ok(message.amount)
            }
            inner(message).await
        }
    }
}

/// Native `async fn` in a trait: default body and impl.
mod async_trait_methods {
    #![deny(warnings)]
    #![allow(async_fn_in_trait)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    pub trait Handle {
        fn tenant(&self) -> u64;
        async fn handle(&self, message: Message) -> Result<u64, Error>;
        #[idempotent(scope = "async_trait_methods.1", key = "t:<self.tenant()>:<message.id>", trust(self.tenant(), reason = "configuration"))]
        async fn twice(&self, message: Message) -> Result<u64, Error> {
            self.handle(message).await
        }
    }
    pub struct H;
    impl Handle for H {
        fn tenant(&self) -> u64 {
            1
        }
        #[idempotent(scope = "async_trait_methods.2", key = "t:<self.tenant()>:<message.id>", trust(self.tenant(), reason = "configuration"))]
        async fn handle(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
}

/// Sync trait impl and default method.
mod sync_trait_methods {
    use crate::{Error, Message, idempotent};
    pub trait Handle<T = u64> {
        #[idempotent(scope = "sync_trait_methods.1", key = "d:<message.id>")]
        fn by_default(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
        fn handle(&self, message: Message, t: T) -> Result<u64, Error>;
    }
    pub struct H;
    impl Handle for H {
        #[idempotent(scope = "sync_trait_methods.2", key = "msg:<message.id>")]
        fn handle(&self, message: Message, t: u64) -> Result<u64, Error> {
            Ok(message.amount + t)
        }
    }
}

/// Impl for a reference, a trait object and an elided lifetime.
mod impls_for_references_and_objects {
    #![deny(single_use_lifetimes)]
    use crate::{Error, Message, idempotent};
    pub trait Handle {
        fn handle(&self, message: Message) -> Result<u64, Error>;
    }
    pub struct Ctx<'a>(&'a str);
    impl Handle for Ctx<'_> {
        #[idempotent(scope = "impls_for_references_and_objects.1", key = "k:<self.0>:<message.id>")]
        fn handle(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
    impl Handle for &u8 {
        #[idempotent(scope = "impls_for_references_and_objects.2", key = "k:<**self>:<message.id>")]
        fn handle(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
    impl Handle for dyn Fn(u8) + Send {
        #[idempotent(scope = "impls_for_references_and_objects.3", key = "msg:<message.id>")]
        fn handle(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
}

/// A generic impl with a store of its own, and all that an impl can hide from the attribute.
mod store_in_a_generic_impl {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    use futures::executor::block_on;
    use idem::{MemoryStore, Outcome, Store};
    use std::sync::Arc;

    pub struct Billing<T, S> {
        store: S,
        fee: T,
    }

    impl<'a, T, S> Billing<&'a T, S>
    where
        T: Copy + Into<u64> + Send + Sync + 'static,
        S: Store + Clone,
    {
        #[idempotent(key = "msg:<message.id>", scope = "billing.add", store = self.store.clone(), payload(message.id))]
        pub async fn add(&mut self, mut message: Message) -> Result<Outcome<u64>, Error>
        where
            Self: Sized,
        {
            tokio::task::yield_now().await;
            message.amount += (*self.fee).into();
            Ok(message.amount.into())
        }

        #[idempotent(key = "msg:<message.id>", scope = "billing.apply", store = &self.store)]
        pub async fn apply(
            self: &Arc<Self>,
            message: &Message,
            f: impl Fn(u64) -> u64 + Send,
        ) -> Result<u64, Error> {
            tokio::task::yield_now().await;
            Ok(f(message.amount))
        }

        #[idempotent(key = "msg:<id>:<last>", scope = "billing.take", store = self.store)]
        pub async fn take(
            self,
            Message { ref id, mut amount }: Message,
            (x, [_, ref last]): (u8, [String; 2]),
        ) -> Result<u64, Error> {
            amount += u64::from(x) + (id.len() + last.len()) as u64;
            Ok(amount)
        }
    }

    fn need<T: Send>(value: T) -> T {
        value
    }

    #[test]
    fn each_method_has_its_record_in_that_store() {
        let store = MemoryStore::new();
        let billing = || Billing { store: store.clone(), fee: &2_u8 };
        let message = |amount| Message { id: "a".into(), amount };
        let two = || (1, ["b".to_owned(), "cc".to_owned()]);
        assert_eq!(block_on(need(billing().add(message(1)))).unwrap().into_value(), 3);
        assert!(!block_on(billing().add(message(9))).unwrap().is_executed());
        assert_eq!(block_on(need(Arc::new(billing()).apply(&message(1), |n| n * 10))).unwrap(), 10);
        assert_eq!(block_on(need(billing().take(message(1), two()))).unwrap(), 5);
        assert_eq!(block_on(billing().take(message(7), two())).unwrap(), 5);
    }
}
