//! Bodies: how they return, what they declare, what they hide.

/// `?` with conversion.
mod question_mark {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge(message: Message) -> Result<u64, Error> {
        let n: u64 = message.id.parse()?;
        Ok(n)
    }
    #[test]
    fn an_error_is_not_stored_as_a_success() {
        crate::install_store();
        assert!(charge(Message { id: "x".into(), amount: 0 }).is_err());
        assert!(charge(Message { id: "x".into(), amount: 0 }).is_err());
    }
}

/// Early `return` must be recorded.
mod early_return {
    use crate::{Error, Message, idempotent};
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    #[idempotent(key = "msg:<message.id>")]
    pub fn charge(message: Message) -> Result<u64, Error> {
        RUNS.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if message.amount > 0 {
            return Ok(message.amount);
        }
        Ok(0)
    }
    #[test]
    fn an_early_return_is_recorded() {
        crate::install_store();
        for _ in 0..3 {
            assert_eq!(charge(Message { id: "a".into(), amount: 5 }).unwrap(), 5);
        }
        assert_eq!(RUNS.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

/// Loops and labelled blocks.
mod loops_and_labels {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        let x = 'idem: {
            if message.amount > 3 {
                break 'idem 1;
            }
            2
        };
        'outer: loop {
            for i in 0..10 {
                if i == x {
                    break 'outer Ok(i);
                }
                if i > 8 {
                    continue 'outer;
                }
            }
        }
    }
}

/// Diverging bodies.
mod diverging {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn a(message: Message) -> Result<u64, Error> {
        let _ = message;
        todo!()
    }
    #[idempotent(key = "msg:<message.id>")]
    pub fn b(message: Message) -> Result<u64, Error> {
        let _ = message;
        unimplemented!()
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn c(message: Message) -> Result<u64, Error> {
        let _ = message;
        loop {
            std::future::ready(()).await
        }
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn d(message: Message) -> Result<u64, Error> {
        panic!("{}", message.id)
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn e(message: Message) -> Result<u64, Error> {
        return Ok(message.amount);
    }
}

/// Items and macros inside the body.
mod items_inside {
    #![deny(clippy::items_after_statements)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        use std::collections::HashMap;
        const FEE: u64 = 2;
        struct Line {
            amount: u64,
        }
        impl Line {
            fn total(&self) -> u64 {
                self.amount + FEE
            }
        }
        macro_rules! line {
            ($e:expr) => {
                Line { amount: $e }
            };
        }
        fn double(x: u64) -> u64 {
            x * 2
        }
        let mut m = HashMap::new();
        m.insert(message.id, double(line!(message.amount).total()));
        Ok(m.values().sum())
    }
}

/// A glob import in the body hides the return type's name.
mod glob_import_inside {
    use crate::{Error, Message, idempotent};
    pub type Receipt = u64;
    pub enum Kind {
        Receipt,
        Refund,
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<Receipt, Error> {
        use Kind::*;
        let k = if message.amount > 0 { Receipt } else { Refund };
        Ok(matches!(k, Receipt) as u64)
    }
}

/// The body defines its own `Ok`, `Err`, `Some`, `Result`.
mod own_ok_and_err_inside {
    use crate::{Error, Message, idempotent};
    pub enum Tri {
        Ok,
        Err,
        Some,
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        use Tri::{Err, Ok, Some};
        #[allow(dead_code)]
        struct Result;
        let t = match message.amount {
            0 => Ok,
            1 => Err,
            _ => Some,
        };
        std::result::Result::Ok(t as u64)
    }
}

/// Closures, async blocks and `spawn` that take the message.
mod closures_and_spawn {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        let add = |n: u64| n + message.amount;
        let total = add(1);
        let h = tokio::spawn(async move { message.amount });
        let later = async || total + 1;
        Ok(later().await + h.await.map_err(|_| Error::new("join"))?)
    }
}

/// `select!` and `join!` in the body.
mod select_and_join {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        let (a, b) = tokio::join!(async { message.amount }, async { 1u64 });
        tokio::select! { x = async { a + b } => Ok(x), () = tokio::time::sleep(std::time::Duration::from_secs(1)) => Ok(0) }
    }
}

/// Recursion.
mod recursion {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>:<depth>")]
    pub async fn charge(message: Message, depth: u8) -> Result<u64, Error> {
        if depth == 0 {
            return Ok(message.amount);
        }
        Box::pin(charge(message.clone(), depth - 1)).await
    }
    #[idempotent(key = "sync:<message.id>:<depth>")]
    pub fn charge_now(message: Message, depth: u8) -> Result<u64, Error> {
        if depth == 0 {
            return Ok(message.amount);
        }
        charge_now(message.clone(), depth - 1)
    }
}

/// Single-expression bodies and braces.
mod single_expressions {
    #![deny(warnings, unused_braces, unused_parens)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn a(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn b(message: Message) -> Result<u64, Error> {
        if message.amount > 1 { Ok(1) } else { Ok(2) }
    }
    #[idempotent(key = "msg:<message.id>")]
    pub fn c(message: Message) -> Result<(), Error> {
        match message.amount {
            0 => Ok(()),
            _ => Err(Error::new("x")),
        }
    }
}
