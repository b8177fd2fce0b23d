//! Arguments and their patterns.

/// Plain async handler (control).
mod plain_async {
    use crate::{Error, Message, idempotent};
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        RUNS.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(message.amount)
    }
    #[test]
    fn a_second_delivery_gets_the_first_result() {
        crate::install_store();
        let m = || Message { id: "a".into(), amount: 7 };
        assert_eq!(futures::executor::block_on(charge(m())).unwrap(), 7);
        assert_eq!(futures::executor::block_on(charge(Message { amount: 9, ..m() })).unwrap(), 7);
        assert_eq!(RUNS.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

/// Plain sync handler (control).
mod plain_sync {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
    #[test]
    fn a_plain_function_needs_no_runtime() {
        crate::install_store();
        assert_eq!(charge(Message { id: "a".into(), amount: 1 }).unwrap(), 1);
        assert_eq!(charge(Message { id: "a".into(), amount: 2 }).unwrap(), 1);
    }
}

/// Tuple pattern.
mod tuple_pattern {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>:<part>")]
    pub async fn charge((message, part): (Message, u32)) -> Result<u64, Error> {
        Ok(message.amount + u64::from(part))
    }
}

/// Struct pattern that renames a field to a name the macro may use.
mod struct_pattern_that_renames {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<key>")]
    pub fn charge(Message { id: key, amount: result }: Message) -> Result<(String, u64), Error> {
        Ok((key, result))
    }
    #[test]
    fn the_key_sees_the_renamed_binding() {
        crate::install_store();
        assert_eq!(charge(Message { id: "a".into(), amount: 3 }).unwrap(), ("a".to_string(), 3));
    }
}

/// Field pattern on a type that has `Drop`, partly moved.
mod partly_moved_pattern {
    use crate::{Error, idempotent};
    pub struct Lease;
    impl Drop for Lease {
        fn drop(&mut self) {}
    }
    pub struct Delivery<L, M>(L, M);
    #[idempotent(key = "n:<n>")]
    pub async fn charge(Delivery(_, n): Delivery<Lease, u64>) -> Result<u64, Error> {
        Ok(n)
    }
}

/// `_` for an argument that is not the message.
mod ignored_argument {
    use crate::{Error, Message, idempotent};
    pub struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {}
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(_: Guard, message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// Underscore-prefixed message used only by the key.
mod underscore_message {
    #![warn(clippy::pedantic)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<_message.id>")]
    /// Charges.
    ///
    /// # Errors
    /// Never.
    pub fn charge(_message: Message) -> Result<u64, Error> {
        Ok(0)
    }
}

/// `mut` argument.
mod mutable_argument {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(mut message: Message) -> Result<u64, Error> {
        message.amount += 1;
        Ok(message.amount)
    }
    #[idempotent(key = "sync:<message.id>")]
    pub fn charge_now(mut message: Message) -> Result<u64, Error> {
        message.amount += 1;
        Ok(message.amount)
    }
}

/// `mut` inside a pattern.
mod mutable_inside_a_pattern {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge((mut message, n): (Message, u64)) -> Result<u64, Error> {
        message.amount += n;
        Ok(message.amount)
    }
}

/// Array pattern.
mod array_pattern {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "pair:<first.id>:<second.id>")]
    pub async fn charge([first, second]: [Message; 2]) -> Result<u64, Error> {
        Ok(first.amount + second.amount)
    }
}

/// Extractor newtype pattern.
mod extractor_pattern {
    use crate::{Error, Message, idempotent};
    pub struct Json<T>(pub T);
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(Json(message): Json<Message>) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// Body consumes the message.
mod body_consumes_the_message {
    use crate::{Error, Message, idempotent};
    fn consume(m: Message) -> u64 {
        m.amount
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        Ok(consume(message))
    }
    #[idempotent(key = "msg:<message>")]
    pub async fn by_string(message: String) -> Result<usize, Error> {
        let s = message;
        Ok(s.len())
    }
}

/// Arguments named like every local the macro could have.
mod arguments_named_like_locals {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, idempotent};
    #[idempotent(key = "msg:<key>:<store>")]
    pub fn charge(
        key: u64,
        store: u64,
        result: u64,
        guard: u64,
        value: u64,
        fut: u64,
        err: u64,
        message: u64,
    ) -> Result<u64, Error> {
        Ok(key
            + 10 * store
            + 100 * result
            + 1000 * guard
            + 10_000 * value
            + 100_000 * fut
            + 1_000_000 * err
            + 10_000_000 * message)
    }
    #[test]
    fn every_name_keeps_its_own_value() {
        crate::install_store();
        assert_eq!(charge(1, 2, 3, 4, 5, 6, 7, 8).unwrap(), 87_654_321);
    }
}

/// Arguments named with the macro's own prefix.
mod arguments_with_the_prefix {
    use crate::{Error, idempotent};
    #[idempotent(key = "msg:<__idem_key>")]
    pub fn charge(__idem_key: u64, __idem_result: u64) -> Result<u64, Error> {
        Ok(__idem_key + __idem_result)
    }
    #[idempotent(key = "msg:<__idem_key>")]
    pub async fn charge_async(__idem_key: u64) -> Result<u64, Error> {
        Ok(__idem_key)
    }
    #[test]
    fn a_prefix_is_no_hygiene() {
        crate::install_store();
        assert_eq!(charge(1, 2).unwrap(), 3);
        assert_eq!(futures::executor::block_on(charge_async(5)).unwrap(), 5);
    }
}

/// Raw identifier argument.
mod raw_identifiers {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<r#type.id>:<r#move>")]
    pub async fn charge(r#type: Message, r#move: u8) -> Result<u64, Error> {
        Ok(r#type.amount + u64::from(r#move))
    }
}

/// Fourteen arguments.
mod fourteen_arguments {
    #![deny(clippy::all)]
    use crate::{Error, idempotent};
    #[allow(clippy::too_many_arguments)]
    #[idempotent(key = "k:<a>:<n>")]
    pub async fn many(
        a: u8,
        b: u8,
        c: u8,
        d: u8,
        e: u8,
        f: u8,
        g: u8,
        h: u8,
        i: u8,
        j: u8,
        k: u8,
        l: u8,
        m: u8,
        n: u8,
    ) -> Result<u8, Error> {
        Ok(a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n)
    }
}

/// Borrowed message across an await.
mod borrowed_across_an_await {
    use crate::{Error, Message, idempotent};
    async fn step() {}
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: &Message) -> Result<u64, Error> {
        step().await;
        Ok(message.amount)
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge_mut(message: &mut Message) -> Result<u64, Error> {
        message.amount += 1;
        step().await;
        Ok(message.amount)
    }
}

/// Elided lifetime inside a generic.
mod elided_lifetime_in_a_generic {
    use crate::{Error, Message, idempotent};
    use std::borrow::Cow;
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message, note: Option<&str>, tag: Cow<'_, str>) -> Result<usize, Error> {
        Ok(message.id.len() + note.map_or(0, str::len) + tag.len())
    }
}

/// `#[cfg]` on arguments.
mod cfg_on_arguments {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(
        #[cfg(any())] message: u8,
        #[cfg(not(target_os = "none"))] message: Message,
        #[cfg(any())] gone: Nothing,
    ) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// Argument named like the crate.
mod argument_named_like_the_crate {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<idem.id>")]
    pub async fn charge(idem: Message, std: u64, core: u64) -> Result<u64, Error> {
        Ok(idem.amount + std + core)
    }
}
