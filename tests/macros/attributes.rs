//! Qualifiers, and other attributes above and below.

/// Visibility.
mod visibility {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    pub mod outer {
        pub mod inner {
            use crate::{Error, Message, idempotent};
            pub(in crate::attributes::visibility::outer) struct Hidden(pub(crate) u64);
            #[idempotent(key = "msg:<message.id>")]
            pub(in crate::attributes::visibility::outer) async fn a(
                message: Message,
                h: Hidden,
            ) -> Result<u64, Error> {
                Ok(message.amount + h.0)
            }
            #[idempotent(key = "msg:<message.id>")]
            pub(super) fn b(message: Message) -> Result<u64, Error> {
                Ok(message.amount)
            }
            #[idempotent(key = "msg:<message.id>")]
            pub(crate) fn c(message: Message) -> Result<u64, Error> {
                Ok(message.amount)
            }
        }
        pub async fn go(m: crate::Message) -> Result<u64, crate::Error> {
            let _ = inner::c(m.clone())?;
            let _ = inner::b(m.clone())?;
            inner::a(m, inner::Hidden(1)).await
        }
    }
}

/// Doc comments and `missing_docs`.
mod docs {
    #![deny(missing_docs, rustdoc::all)]
    use crate::{Error, Message, idempotent};
    /// Charges.
    ///
    /// Second paragraph.
    #[idempotent(key = "msg:<message.id>")]
    #[doc = "Third."]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// `#[track_caller]` on an async handler.
mod track_caller {
    #![expect(ungated_async_fn_track_caller)]
    use crate::{Error, Message, idempotent};
    #[track_caller]
    #[idempotent(key = "msg:<message.id>")]
    pub async fn at(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// `#[tracing::instrument]` above and below.
mod instrument {
    use crate::{Error, Message, idempotent};
    #[tracing::instrument(skip(message), fields(id = %message.id))]
    #[idempotent(key = "a:<message.id>")]
    pub async fn above(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
    #[idempotent(key = "b:<message.id>")]
    #[tracing::instrument(skip_all, err)]
    pub async fn below(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
    #[tracing::instrument(err, ret)]
    #[idempotent(key = "c:<message.id>")]
    pub fn sync_above(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
    #[idempotent(key = "d:<message.id>")]
    #[tracing::instrument(err)]
    pub fn sync_below(mut message: Message) -> Result<u64, Error> {
        message.amount += 1;
        Ok(message.amount)
    }
}

/// `#[tokio::main]` and `#[tokio::test]` with `#[idempotent]`.
mod tokio_main {
    use crate::{Error, idempotent};
    #[idempotent(key = "msg:<n>")]
    #[tokio::main(flavor = "current_thread")]
    pub async fn below(n: u64) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        Ok(1)
    }
    #[tokio::main(flavor = "current_thread")]
    #[idempotent(key = "msg:<n>")]
    pub async fn above(n: u64) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        Ok(2)
    }
    #[test]
    fn tokio_main_goes_above_and_below() {
        crate::install_store();
        assert_eq!(below(1).unwrap(), 1);
        assert_eq!(above(1).unwrap(), 2);
    }
}

/// `#[async_recursion]` above and below.
mod async_recursion_attribute {
    use crate::{Error, Message, idempotent};
    use async_recursion::async_recursion;
    #[async_recursion]
    #[idempotent(key = "a:<message.id>:<n>")]
    pub async fn above(message: &Message, n: u8) -> Result<u64, Error> {
        if n == 0 {
            return Ok(message.amount);
        }
        above(message, n - 1).await
    }
    #[idempotent(key = "b:<message.id>:<n>")]
    #[async_recursion]
    pub async fn below(message: &Message, n: u8) -> Result<u64, Error> {
        if n == 0 {
            return Ok(message.amount);
        }
        below(message, n - 1).await
    }
}

/// Inside `#[async_trait]`.
mod async_trait {
    use crate::{Error, Message, idempotent};
    use async_trait::async_trait;
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    #[async_trait]
    pub trait Handle {
        async fn handle(&self, message: Message) -> Result<u64, Error>;
    }
    pub struct H {
        tenant: String,
    }
    #[async_trait]
    impl Handle for H {
        #[idempotent(scope = "async_trait.1", key = "msg:<self.tenant>:<message.id>")]
        async fn handle(&self, message: Message) -> Result<u64, Error> {
            if self.tenant.is_empty() {
                return Ok(0);
            }
            RUNS.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Ok(message.amount)
        }
    }
    #[test]
    fn a_redelivery_does_not_run_the_body() {
        crate::install_store();
        let h = H { tenant: "t".into() };
        for n in 1..4 {
            assert_eq!(
                futures::executor::block_on(h.handle(Message { id: "a".into(), amount: n })).unwrap(),
                1
            );
        }
        assert_eq!(RUNS.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

/// Inside `#[async_trait]` with a pattern argument.
mod async_trait_patterns {
    use crate::{Error, Message, idempotent};
    #[async_trait::async_trait]
    pub trait Handle {
        async fn handle(&self, message: Message, pair: (u8, u8)) -> Result<u64, Error>;
    }
    pub struct H;
    #[async_trait::async_trait]
    impl Handle for H {
        #[idempotent(scope = "async_trait_patterns.1", key = "msg:<id>:<b>")]
        async fn handle(&self, Message { id, amount }: Message, (_, b): (u8, u8)) -> Result<u64, Error> {
            let _ = id;
            Ok(amount + u64::from(b))
        }
    }
}

/// Inside `#[async_trait]`: `&mut self`, `mut` arguments, generics, default body, `?Send`.
mod async_trait_receivers {
    use crate::{Error, Message, idempotent};
    use async_trait::async_trait;
    #[async_trait]
    pub trait Handle: Send + Sync {
        async fn a(&mut self, mut message: Message, n: u64) -> Result<u64, Error>;
        async fn b<T: Into<u64> + Send>(
            self: std::sync::Arc<Self>,
            message: &Message,
            t: T,
        ) -> Result<u64, Error>;
        #[idempotent(scope = "async_trait_receivers.1", key = "c:<message.id>")]
        async fn c(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
    pub struct H {
        total: u64,
    }
    #[async_trait]
    impl Handle for H {
        #[idempotent(scope = "async_trait_receivers.2", key = "a:<message.id>:<self.total>")]
        async fn a(&mut self, mut message: Message, n: u64) -> Result<u64, Error> {
            message.amount += n;
            self.total += message.amount;
            Ok(self.total)
        }
        #[idempotent(scope = "async_trait_receivers.3", key = "b:<message.id>:<self.total>")]
        async fn b<T: Into<u64> + Send>(
            self: std::sync::Arc<Self>,
            message: &Message,
            t: T,
        ) -> Result<u64, Error> {
            Ok(message.amount + t.into() + self.total)
        }
    }
    #[async_trait(?Send)]
    pub trait Local {
        async fn d(&self, message: Message) -> Result<u64, Error>;
    }
    #[async_trait(?Send)]
    impl Local for H {
        #[idempotent(scope = "async_trait_receivers.4", key = "d:<message.id>")]
        async fn d(&self, message: Message) -> Result<u64, Error> {
            let r = std::rc::Rc::new(message.amount);
            std::future::ready(()).await;
            Ok(*r)
        }
    }
}

/// Lint levels on the function.
mod lint_levels {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    #[allow(unused_variables, unused_mut)]
    #[idempotent(key = "msg:<message.id>")]
    pub async fn a(message: Message) -> Result<u64, Error> {
        let mut spare = 1;
        Ok(message.amount)
    }
    #[idempotent(key = "msg:<message.id>")]
    #[expect(unused_variables)]
    pub async fn b(message: Message) -> Result<u64, Error> {
        let spare = 1;
        Ok(message.amount)
    }
}

/// The attribute by path, renamed, and glob-imported.
mod attribute_by_path {
    use crate::{Error, Message};
    mod a {
        use idem::idempotent as once;
        #[once(key = "a:<m.id>")]
        pub async fn f(m: crate::Message) -> Result<u64, crate::Error> {
            Ok(m.amount)
        }
    }
    mod b {
        #[idem::idempotent(key = "b:<m.id>")]
        pub async fn f(m: crate::Message) -> Result<u64, crate::Error> {
            Ok(m.amount)
        }
    }
    mod c {
        #[::idem::idempotent(key = "c:<m.id>")]
        pub async fn f(m: crate::Message) -> Result<u64, crate::Error> {
            Ok(m.amount)
        }
    }
    mod d {
        use idem::*;
        #[idempotent(key = "d:<m.id>")]
        pub async fn f(m: crate::Message) -> Result<u64, crate::Error> {
            Ok(m.amount)
        }
    }
    pub async fn go(m: Message) -> Result<u64, Error> {
        Ok(a::f(m.clone()).await? + b::f(m.clone()).await? + c::f(m.clone()).await? + d::f(m).await?)
    }
}

/// `#[track_caller]` on a plain function.
mod track_caller_sync {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    use idem::Key;

    #[track_caller]
    #[idempotent(key = "msg:<message.id>")]
    pub fn line(mut message: Message, note: &str, #[key] key: &Key) -> Result<(u32, String), Error> {
        message.amount += 1;
        Ok((std::panic::Location::caller().line(), format!("{note} {key} {}", message.amount)))
    }

    #[test]
    fn the_location_is_that_of_the_call() {
        crate::install_store();
        let message = || Message { id: "a".into(), amount: 0 };
        let here = line!() + 1;
        let (line_of_call, text) = line(message(), "x").unwrap();
        assert_eq!((line_of_call, text.as_str()), (here, "x msg:a 1"));
        assert_eq!(line(message(), "y").unwrap().1, "x msg:a 1");
    }

    #[track_caller]
    #[idempotent(key = "msg:<message.id>")]
    pub fn panics(message: Message) -> Result<u64, Error> {
        assert!(message.amount > 0, "an amount of nothing");
        Ok(message.amount)
    }

    #[test]
    fn a_panic_gives_the_claim_back() {
        crate::install_store();
        let message = |amount| Message { id: "a".into(), amount };
        assert!(std::panic::catch_unwind(|| panics(message(0))).is_err());
        assert_eq!(panics(message(2)).unwrap(), 2);
    }
}

/// Arguments that idem supplies, inside of `#[async_trait]`: the trait knows nothing of them.
mod async_trait_supplied {
    use crate::{Error, Message, idempotent};
    use idem::{Attempt, Key};

    #[async_trait::async_trait]
    pub trait Handle {
        async fn handle(&self, message: &Message, note: &str) -> Result<String, Error>;
        async fn by_value(&self, message: Message) -> Result<String, Error>;
    }
    pub struct H;
    #[async_trait::async_trait]
    impl Handle for H {
        #[idempotent(scope = "async_trait_supplied.1", key = "msg:<message.id>")]
        async fn handle(
            &self,
            message: &Message,
            #[key] key: &Key,
            note: &str,
            #[attempt] attempt: &Attempt,
        ) -> Result<String, Error> {
            Ok(format!("{key} {note} {} {}", attempt.tries(), message.amount))
        }
        #[idempotent(scope = "async_trait_supplied.2", key = "msg:<message.id>")]
        async fn by_value(&self, message: Message, #[key] key: &Key) -> Result<String, Error> {
            Ok(format!("{key} {}", message.amount))
        }
    }

    #[test]
    fn the_trait_knows_nothing_of_them() {
        crate::install_store();
        let message = Message { id: "a".into(), amount: 7 };
        assert_eq!(futures::executor::block_on(H.handle(&message, "x")).unwrap(), "msg:a x 1 7");
        assert_eq!(futures::executor::block_on(H.by_value(message)).unwrap(), "msg:a 7");
    }
}
