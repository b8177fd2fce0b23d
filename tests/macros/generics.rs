//! Type parameters, const parameters and lifetimes.

/// Turbofish calls must keep working.
mod turbofish {
    use crate::{Error, Message, idempotent};
    #[idempotent(scope = "turbofish.1", key = "msg:<message.id>")]
    pub async fn charge<A: Default + Into<u64>, const N: u64>(message: Message) -> Result<u64, Error> {
        Ok(A::default().into() + N + message.amount)
    }
    pub async fn call(m: Message) -> Result<u64, Error> {
        charge::<u32, 4>(m).await
    }
}

/// Const generic, array argument.
mod const_generic {
    use crate::{Error, idempotent};
    #[idempotent(scope = "const_generic.1", key = "n:<N>:<xs[0]>")]
    pub async fn sum<const N: usize>(xs: [u64; N]) -> Result<u64, Error> {
        Ok(xs.iter().sum())
    }
}

/// Named lifetimes.
mod named_lifetimes {
    use crate::{Error, idempotent};
    pub struct Borrowed<'a> {
        id: &'a str,
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge<'a, 'b: 'a>(message: Borrowed<'a>, note: &'b str) -> Result<usize, Error> {
        let x: &'a str = note;
        Ok(message.id.len() + x.len())
    }
}

/// Generic value type, with and without the bounds.
mod generic_value {
    use crate::{Error, Message, idempotent};
    #[idempotent(scope = "generic_value.1", key = "msg:<message.id>")]
    pub async fn load<T>(message: Message, t: T) -> Result<T, Error>
    where
        T: serde::Serialize + serde::de::DeserializeOwned,
    {
        let _ = message;
        Ok(t)
    }
}

/// Generic error type.
mod generic_error {
    use crate::{Message, idempotent};
    #[idempotent(scope = "generic_error.1", key = "msg:<message.id>")]
    pub async fn charge<E: From<idem::Error>>(message: Message) -> Result<u64, E> {
        Ok(message.amount)
    }
}

/// Associated type in the return.
mod associated_types {
    use crate::{Message, idempotent};
    pub trait Backend {
        type Receipt: serde::Serialize + serde::de::DeserializeOwned;
        type Failure: From<idem::Error>;
        fn pay(&self, m: Message) -> Result<Self::Receipt, Self::Failure>;
    }
    #[idempotent(scope = "associated_types.1", key = "msg:<message.id>")]
    pub fn pay<B: Backend>(backend: &B, message: Message) -> Result<B::Receipt, B::Failure> {
        backend.pay(message)
    }
}

/// An associated function whose impl block has type parameters, which its own tokens do not mention.
mod parameters_of_the_impl {
    use crate::idempotent;
    use idem::Error;
    pub struct Biller<G>(G);
    pub trait Gateway {
        const FEE: u64;
    }
    pub struct One;
    impl Gateway for One {
        const FEE: u64 = 1;
    }
    pub struct Two;
    impl Gateway for Two {
        const FEE: u64 = 2;
    }
    impl<G: Gateway> Biller<G> {
        #[idempotent(key = "order:<order>")]
        pub fn bill(order: u64) -> Result<u64, Error> {
            Ok(order + G::FEE)
        }
        #[idempotent(key = "order:<order>")]
        pub async fn mail(order: u64) -> Result<u64, Error> {
            Ok(order + G::FEE)
        }
    }
    fn refused(answer: Result<u64, Error>) {
        let error = answer.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), idem::ErrorKind::Misconfigured, "{text}");
        assert!(text.contains("Two") && !text.contains("closure"));
    }
    #[test]
    fn one_type_never_gets_the_answer_of_another() {
        crate::install_store();
        assert_eq!(Biller::<One>::bill(1).unwrap(), 2);
        refused(Biller::<Two>::bill(1));
        assert_eq!(futures::executor::block_on(Biller::<One>::mail(1)).unwrap(), 2);
        refused(futures::executor::block_on(Biller::<Two>::mail(1)));
        assert_eq!(Biller::<One>::bill(1).unwrap(), 2);
    }
}
