//! Handlers that `macro_rules!` makes.

/// Name, type and body as fragments.
mod name_type_and_body {
    use crate::{Error, Message, idempotent};
    macro_rules! handler {
        ($vis:vis $name:ident, $ty:ty, $ret:ty, $arg:ident, $body:block) => {
            #[idempotent(key = "msg:<message.id>")]
            $vis async fn $name(message: $ty, $arg: u64) -> $ret $body
        };
    }
    handler!(pub charge, Message, Result<u64, Error>, n, { Ok(n) });
    handler!(pub(crate) refund, crate::Message, ::std::result::Result<u64, Error>, n, { Ok(n + 1) });
    pub async fn go(m: Message) -> Result<u64, Error> {
        refund(m, 1).await
    }
}

/// The message's name comes from the caller, the key from the macro.
mod argument_from_the_caller {
    use crate::{Error, Message, idempotent};
    macro_rules! handler { ($name:ident($arg:ident: $ty:ty) $body:block) => { #[idempotent(key = "msg:<message.id>")] pub async fn $name($arg: $ty) -> Result<u64, Error> $body }; }
    handler!(charge(message: Message) { Ok(message.amount) });
}

/// The key comes from the caller, the parameter from the macro.
mod key_from_the_caller {
    use crate::{Error, Message, idempotent};
    macro_rules! handler {
        ($name:ident, $key:literal) => {
            #[idempotent(key = $key)]
            pub async fn $name(message: Message) -> Result<u64, Error> {
                Ok(message.amount)
            }
        };
    }
    handler!(charge, "msg:<message.id>");
}

/// `$crate` in the signature and body.
mod dollar_crate {
    use crate::idempotent;
    macro_rules! handler {
        ($name:ident) => {
            #[idempotent(key = "msg:<message.id>")]
            pub async fn $name(message: $crate::Message) -> ::std::result::Result<u64, $crate::Error> {
                let m: $crate::Message = message;
                Ok(m.amount)
            }
        };
    }
    handler!(charge);
}

/// The key as `$e:expr`, as `concat!`, as a constant.
mod key_expression {
    use crate::{Error, Message, idempotent};
    macro_rules! handler {
        ($key:expr) => {
            #[idempotent(key = $key)]
            pub async fn charge(message: Message) -> Result<u64, Error> {
                Ok(message.amount)
            }
        };
    }
    handler!("msg:<message.id>");
}

/// Expression precedence through a fragment.
mod expression_precedence {
    use crate::{Error, idempotent};
    macro_rules! handler {
        ($e:expr) => {
            #[idempotent(key = "msg:<n>")]
            pub fn calc(n: u64) -> Result<u64, Error> {
                Ok($e * 2)
            }
        };
    }
    handler!(2 + 2);
    #[test]
    fn a_fragment_keeps_its_precedence() {
        crate::install_store();
        assert_eq!(calc(1).unwrap(), 8);
    }
}

/// A method whose `self` comes from the caller.
mod method_with_the_callers_self {
    #![deny(warnings)]
    #![allow(dead_code, unreachable_pub)]
    use crate::{Error, idempotent};

    macro_rules! method {
        ($(#[$meta:meta])* $vis:vis $name:ident, $this:ident, $body:block) => {
            $(#[$meta])* $vis async fn $name(&$this, id: u64) -> Result<u64, Error> $body
        };
    }

    pub struct Handler(u64);
    impl Handler {
        method!(#[idempotent(key = "msg:<id>:<self.0>", scope = "method_with_the_callers_self")] pub go, self, { Ok(self.0 + 1) });
    }

    #[test]
    fn the_key_and_the_body_mean_the_same_self() {
        crate::install_store();
        assert_eq!(futures::executor::block_on(Handler(4).go(1)).unwrap(), 5);
    }
}
