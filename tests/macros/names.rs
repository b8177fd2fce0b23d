//! Names that the surroundings redefine.

/// The user's own `Ok` and `Err`.
mod own_ok_and_err {
    use crate::{Error, Message};
    pub mod app {
        use super::{Error, Message};
        use idem::idempotent;
        pub fn ok<T>(t: T) -> Result<T, Error> {
            Result::Ok(t)
        }
        pub struct Ok;
        pub struct Err;
        #[idempotent(key = "msg:<message.id>")]
        pub async fn charge(message: Message) -> Result<u64, Error> {
            let _ = (Ok, Err);
            ok(message.amount)
        }
    }
}

/// Modules named `std`, `core`, `alloc`, `idem`, `serde`.
mod modules_named_like_crates {
    pub mod app {
        use crate::{Error, Message};
        use ::idem::idempotent;
        pub mod std {}
        pub mod core {}
        pub mod alloc {}
        pub mod idem {}
        pub mod serde {}
        pub mod serde_json {}
        #[idempotent(key = "msg:<message.id>")]
        pub async fn charge(message: Message) -> Result<u64, Error> {
            let _ = message;
            Ok(1)
        }
        #[idempotent(key = "msg:<message.id>")]
        pub fn charge_now(message: Message) -> Result<u64, Error> {
            let _ = message;
            Ok(1)
        }
    }
}

/// `#![no_implicit_prelude]`.
mod no_implicit_prelude {
    pub mod strict {
        #![no_implicit_prelude]
        use crate::{Error, Message};
        #[::idem::idempotent(key = "msg:<message.id>")]
        pub async fn charge(message: Message) -> ::core::result::Result<u64, Error> {
            ::core::result::Result::Ok(message.amount)
        }
        #[::idem::idempotent(key = "msg:<message.id>")]
        pub fn charge_now(message: Message) -> ::core::result::Result<u64, Error> {
            ::core::result::Result::Ok(message.amount)
        }
    }
}

/// Extension traits with common method names.
mod blanket_traits {
    pub mod app {
        use crate::{Error, Message};
        pub trait Noise {
            fn part(&self) {}
            fn text(&self) {}
            fn run(&self) {}
            fn get(&self) {}
            fn finish(&self) {}
            fn begin(&self) {}
            fn key(&self) {}
            fn into(&self) {}
            fn split(&self) {}
            fn fmt(&self) {}
        }
        impl<T: ?Sized> Noise for T {}
        #[idem::idempotent(key = "msg:<message.id>:<message.amount>")]
        pub async fn charge(message: Message) -> Result<u64, Error> {
            Noise::part(&message);
            Ok(message.amount)
        }
    }
}

/// A message type whose own methods hide those of the trait that writes it.
mod hidden_trait_methods {
    use crate::{Error, idempotent};
    use idem::{KeyPart, KeyWriter};

    pub struct Id(u64);
    impl Id {
        pub fn write(&self) -> u64 {
            self.0
        }
        pub fn fmt(&self) {}
        pub fn push(&self) {}
    }
    impl KeyPart for Id {
        fn write(&self, out: &mut KeyWriter<'_>) {
            out.text("id-");
            out.display(self.0);
        }
    }

    #[idempotent(key = "msg:<id>")]
    pub async fn charge(id: Id, #[key] key: &idem::Key) -> Result<String, Error> {
        let _ = id.write();
        Ok(key.to_string())
    }

    #[test]
    fn the_trait_writes_it() {
        crate::install_store();
        assert_eq!(futures::executor::block_on(charge(Id(7))).unwrap(), "msg:id-7");
    }
}
