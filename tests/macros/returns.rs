//! Return types: aliases, `impl Trait`, errors of all kinds, futures made by hand.

/// Aliases with one or no parameter.
mod aliases {
    use crate::{Error, Message, idempotent};
    pub mod app {
        use super::*;
        pub type Result<T> = std::result::Result<T, Error>;
        pub type Outcome = std::result::Result<u64, Error>;
        #[idempotent(key = "msg:<message.id>")]
        pub async fn charge(message: Message) -> Result<u64> {
            Ok(message.amount)
        }
        #[idempotent(key = "msg:<message.id>")]
        pub async fn outcome(message: Message) -> Outcome {
            Ok(message.amount)
        }
        #[idempotent(key = "msg:<message.id>")]
        pub async fn by_path(message: Message) -> super::app::Result<u64> {
            Ok(message.amount)
        }
    }
}

/// `io::Result`.
mod io_result {
    use crate::{Message, idempotent};
    use std::io;
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> io::Result<u64> {
        Ok(message.amount)
    }
}

/// `anyhow::Result`.
mod anyhow_result {
    use crate::{Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> anyhow::Result<u64> {
        let n: u64 = message.id.parse()?;
        anyhow::ensure!(n > 0, "zero");
        Ok(n)
    }
}

/// Unsizing in the tail expression and in `return`.
mod unsizing {
    use crate::{Message, idempotent};
    use std::error::Error as StdError;
    #[derive(Debug)]
    struct Refused;
    impl std::fmt::Display for Refused {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("refused")
        }
    }
    impl StdError for Refused {}
    #[idempotent(key = "msg:<message.id>")]
    pub async fn tail(message: Message) -> Result<u64, Box<dyn StdError + Send + Sync>> {
        if message.amount == 0 {
            return Err(Box::new(Refused));
        }
        Err(Box::new(Refused))
    }
    #[idempotent(key = "msg:<message.id>")]
    pub fn tail_sync(message: Message) -> Result<u64, Box<dyn StdError>> {
        if message.amount == 0 {
            return Err(Box::new(Refused));
        }
        Err(Box::new(Refused))
    }
}

/// `()` as the value.
mod unit_value {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<(), Error> {
        let _ = message;
        Ok(())
    }
}

/// `impl Trait` inside the `Result`.
mod opaque_value {
    use crate::{Error, Message, idempotent};
    pub trait Receipt: serde::Serialize + serde::de::DeserializeOwned {}
    impl Receipt for u64 {}
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<impl Receipt, Error> {
        Ok(message.amount)
    }
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge_now(message: Message) -> Result<impl Receipt, Error> {
        Ok(message.amount)
    }
}

/// A result inside a result.
mod result_inside_a_result {
    use crate::{Error, Message, idempotent};
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub enum Declined {
        NoFunds,
    }
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge(message: Message) -> Result<Result<u64, Declined>, Error> {
        if message.amount > 10 {
            return Ok(Err(Declined::NoFunds));
        }
        Ok(Ok(message.amount))
    }
    #[test]
    fn a_declined_business_answer_is_stored() {
        crate::install_store();
        assert_eq!(charge(Message { id: "a".into(), amount: 99 }).unwrap(), Err(Declined::NoFunds));
        assert_eq!(charge(Message { id: "a".into(), amount: 1 }).unwrap(), Err(Declined::NoFunds));
    }
}

/// `fn -> impl Future`.
mod impl_future {
    use crate::{Error, Message, idempotent};
    use std::future::Future;
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge(message: Message) -> impl Future<Output = Result<u64, Error>> + Send {
        async move {
            RUNS.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Ok(message.amount)
        }
    }
    #[test]
    fn the_guard_is_inside_the_future() {
        crate::install_store();
        let dropped = charge(Message { id: "a".into(), amount: 1 });
        drop(dropped);
        assert_eq!(RUNS.load(std::sync::atomic::Ordering::SeqCst), 0);
        for _ in 0..2 {
            assert_eq!(
                futures::executor::block_on(charge(Message { id: "a".into(), amount: 1 })).unwrap(),
                1
            );
        }
        assert_eq!(RUNS.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

/// `Pin<Box<dyn Future>>` with statements before `Box::pin`.
mod statements_before_box_pin {
    use crate::{Error, Message, idempotent};
    use std::{future::Future, pin::Pin};
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge(message: Message) -> Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>> {
        let n = message.amount;
        Box::pin(async move {
            let _ = message;
            Ok(n)
        })
    }
}

/// Precise capturing `use<..>`.
mod precise_capturing {
    use crate::{Error, Message, idempotent};
    use std::future::Future;
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge<'a>(message: Message, note: &'a str) -> impl Future<Output = Result<u64, Error>> + use<> {
        let _ = note;
        async move { Ok(message.amount) }
    }
}

/// Future that borrows, edition 2021.
mod borrowing_future {
    use crate::{Error, Message, idempotent};
    pub struct H(u64);
    impl H {
        #[idempotent(scope = "borrowing_future.1", key = "k:<self.0>:<message.id>:<note>")]
        pub async fn charge(&self, message: &Message, note: &str) -> Result<u64, Error> {
            Ok(message.amount + self.0 + note.len() as u64)
        }
    }
}

/// Futures made by hand, in forms of their own.
mod more_futures {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    use futures::executor::block_on;
    use futures::future::BoxFuture;
    use idem::Key;
    use std::future::Future;
    use std::pin::Pin;

    /// An alias hides the answer's type.
    #[idempotent(key = "msg:<message.id>")]
    pub fn alias(message: Message) -> BoxFuture<'static, Result<u64, Error>> {
        let amount = message.amount;
        Box::pin(async move {
            let _ = &message;
            Ok(amount)
        })
    }

    /// The block has no `move`, and does not mention what the key reads.
    #[idempotent(key = "msg:<message.id>")]
    pub fn borrowed<'a>(
        message: &'a Message,
        #[key] key: &Key,
    ) -> impl Future<Output = Result<usize, Error>> + 'a {
        async { Ok(key.as_str().len()) }
    }

    #[idempotent(key = "msg:<message.id>")]
    pub fn opaque(
        message: Message,
    ) -> impl Future<Output = Result<impl serde::Serialize + serde::de::DeserializeOwned, Error>> + Send {
        async move { Ok(message.amount) }
    }

    pub trait Handle {
        type Receipt: serde::Serialize + serde::de::DeserializeOwned;
        type Failure: From<idem::Error>;
        fn run(&self, message: &Message) -> Result<Self::Receipt, Self::Failure>;

        #[idempotent(key = "msg:<message.id>", scope = "more_futures.default")]
        fn by_default<'a>(
            &'a self,
            message: &'a Message,
        ) -> Pin<Box<dyn Future<Output = Result<Self::Receipt, Self::Failure>> + 'a>> {
            Box::pin(async move { self.run(message) })
        }
    }

    struct H;
    impl Handle for H {
        type Receipt = u64;
        type Failure = Error;
        fn run(&self, message: &Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }

    #[test]
    fn each_is_followed() {
        crate::install_store();
        let message = |amount| Message { id: "a".into(), amount };
        for amount in 1..3 {
            assert_eq!(block_on(alias(message(amount))).unwrap(), 1);
            assert_eq!(block_on(borrowed(&message(amount))).unwrap(), 5);
            assert!(block_on(opaque(message(amount))).is_ok());
            assert_eq!(block_on(H.by_default(&message(amount))).unwrap(), 1);
        }
    }
}
