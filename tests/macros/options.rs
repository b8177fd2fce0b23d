//! What each option does to a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use futures::executor::block_on;
use idem::{
    Attempt, Error, ErrorKind, Handler, Idempotent, Key, MemoryStore, Outcome, Store, idempotent, key,
};

use crate::Message;

fn message(id: &str, amount: u64) -> Message {
    Message { id: id.to_owned(), amount }
}

/// Arguments that idem supplies.
mod supplied {
    use super::*;

    #[idempotent(key = "order:<message.id>")]
    async fn charge(message: Message, #[key] key: &Key, fee: u64) -> Result<(String, u64), Error> {
        Ok((key.to_string(), message.amount + fee))
    }

    #[idempotent(key = "order:<message.id>")]
    fn charge_now(
        #[attempt] attempt: &Attempt,
        message: &Message,
        #[key] key: &Key,
    ) -> Result<String, Error> {
        Ok(format!("{} {} {key}", attempt.tries(), message.amount))
    }

    #[test]
    fn callers_do_not_pass_them_and_the_body_sees_them() {
        crate::install_store();
        assert_eq!(block_on(charge(message("a 1", 3), 4)).unwrap(), ("order:a%201".to_owned(), 7));
        assert_eq!(charge_now(&message("b", 5)).unwrap(), "1 5 order:b");
    }
}

/// Several templates.
mod templates {
    use super::*;

    #[idempotent(key = ["evt:<event>", "msg:<message.id>"])]
    fn key_of(event: Option<u64>, message: Message, #[key] key: &Key) -> Result<String, Error> {
        let _ = (event, message);
        Ok(key.to_string())
    }

    #[test]
    fn the_first_whose_parts_are_all_there_is_used() {
        crate::install_store();
        assert_eq!(key_of(Some(7), message("a", 1)).unwrap(), "evt:7");
        assert_eq!(key_of(None, message("a", 1)).unwrap(), "msg:a");
        let error = key_of(None, message("", 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingKeyPart);
        assert!(error.to_string().contains("message.id"), "{}", error);
    }
}

/// A store of one's own, by all ways that lead to it.
mod store {
    use super::*;

    struct Billing<S> {
        store: S,
        runs: AtomicU32,
    }

    impl<S: Store> Billing<S> {
        #[idempotent(key = "msg:<message.id>", scope = "store.charge", store = self.store)]
        async fn charge(&self, message: Message) -> Result<u32, Error> {
            let _ = message;
            Ok(self.runs.fetch_add(1, SeqCst))
        }
    }

    #[idempotent(key = "msg:<n>", store = store)]
    async fn by_reference(n: u64, store: &MemoryStore, runs: &AtomicU32) -> Result<u32, Error> {
        let _ = n;
        Ok(runs.fetch_add(1, SeqCst))
    }

    #[idempotent(key = "msg:<n>", store = store)]
    fn by_object(n: u64, store: &dyn Store, runs: &AtomicU32) -> Result<u32, Error> {
        let _ = n;
        Ok(runs.fetch_add(1, SeqCst))
    }

    #[idempotent(key = "msg:<n>", store = stores.1)]
    fn by_shared_object(n: u64, stores: &(u8, Arc<dyn Store>), runs: &AtomicU32) -> Result<u32, Error> {
        let _ = n;
        Ok(runs.fetch_add(1, SeqCst))
    }

    #[idempotent(key = "msg:<n>", store = MemoryStore::new())]
    fn fresh_each_time(n: u64, runs: &AtomicU32) -> Result<u32, Error> {
        let _ = n;
        Ok(runs.fetch_add(1, SeqCst))
    }

    #[test]
    fn records_live_where_the_expression_says() {
        let billing = Billing { store: MemoryStore::new(), runs: AtomicU32::new(0) };
        for _ in 0..2 {
            assert_eq!(block_on(billing.charge(message("a", 1))).unwrap(), 0);
        }
        let (store, runs) = (MemoryStore::new(), AtomicU32::new(0));
        for _ in 0..2 {
            assert_eq!(block_on(by_reference(1, &store, &runs)).unwrap(), 0);
            assert_eq!(by_object(1, &store, &runs).unwrap(), 1);
        }
        let (stores, runs) = ((0, Arc::new(MemoryStore::new()) as Arc<dyn Store>), AtomicU32::new(0));
        for _ in 0..2 {
            assert_eq!(by_shared_object(1, &stores, &runs).unwrap(), 0);
        }
        assert_eq!(fresh_each_time(1, &runs).unwrap(), 1);
        assert_eq!(fresh_each_time(1, &runs).unwrap(), 2);
    }
}

/// No store: the key is handed on.
mod key_only {
    use super::*;

    #[idempotent(key = "msg:<message.id>", store = none)]
    async fn charge(message: Message, #[key] key: &Key) -> Result<String, Error> {
        let _ = message;
        Ok(key.to_string())
    }

    #[test]
    fn each_delivery_runs_under_the_same_key() {
        assert_eq!(block_on(charge(message("a", 1))).unwrap(), "msg:a");
        assert_eq!(block_on(charge(message("a", 1))).unwrap(), "msg:a");
        assert!(block_on(charge(message("", 1))).is_err());
    }
}

/// What must be equal under one key.
mod payload {
    use super::*;

    #[idempotent(key = "msg:<message.id>", payload(message.amount, currency))]
    async fn charge(message: Message, currency: &str) -> Result<u64, Error> {
        let _ = currency;
        Ok(message.amount)
    }

    #[idempotent(key = "n:<n>", payload(n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, m))]
    fn of_many_parts(n: u64, m: u64) -> Result<u64, Error> {
        Ok(n + m)
    }

    #[test]
    fn another_payload_under_one_key_is_refused() {
        crate::install_store();
        assert_eq!(block_on(charge(message("a", 1), "EUR")).unwrap(), 1);
        assert_eq!(block_on(charge(message("a", 1), "EUR")).unwrap(), 1);
        for (amount, currency) in [(2, "EUR"), (1, "USD")] {
            let error = block_on(charge(message("a", amount), currency)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Mismatch);
        }
        assert_eq!(of_many_parts(1, 2).unwrap(), 3);
        assert_eq!(of_many_parts(1, 3).unwrap_err().kind(), ErrorKind::Mismatch);
    }
}

/// Whether it ran or was replayed, for those who ask.
mod outcome {
    use super::*;

    #[idempotent(key = "msg:<message.id>")]
    async fn charge(message: Message) -> Result<Outcome<u64>, Error> {
        Ok(message.amount.into())
    }

    #[test]
    fn the_first_is_executed_and_the_second_replayed() {
        crate::install_store();
        let first = block_on(charge(message("a", 1))).unwrap();
        assert_eq!(first, Outcome::Executed { value: 1, recorded: true });
        assert!(matches!(block_on(charge(message("a", 2))).unwrap(), Outcome::Replayed { value: 1, .. }));
    }
}

/// Errors worth remembering.
mod final_error {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    enum Refusal {
        NoFunds,
        Timeout,
        Store(String),
    }

    impl Refusal {
        fn is_final(&self) -> bool {
            *self == Self::NoFunds
        }
    }

    impl From<Error> for Refusal {
        fn from(error: Error) -> Self {
            Self::Store(error.to_string())
        }
    }

    #[idempotent(key = "msg:<message.id>", final_error = Refusal::is_final)]
    fn charge(message: Message, refusal: Refusal) -> Result<u64, Refusal> {
        let _ = message;
        Err(refusal)
    }

    #[test]
    fn only_a_final_error_is_replayed() {
        crate::install_store();
        assert_eq!(charge(message("a", 1), Refusal::Timeout), Err(Refusal::Timeout));
        assert_eq!(charge(message("a", 1), Refusal::NoFunds), Err(Refusal::NoFunds));
        assert_eq!(charge(message("a", 1), Refusal::Timeout), Err(Refusal::NoFunds));
    }
}

/// One scope, one handler.
mod scope {
    use super::*;

    trait Named {
        const NAME: &'static str;
        const BY: u64;
    }
    struct One;
    struct Two;
    impl Named for One {
        const NAME: &'static str = "scope.one";
        const BY: u64 = 1;
    }
    impl Named for Two {
        const NAME: &'static str = "scope.two";
        const BY: u64 = 2;
    }

    #[idempotent(key = "n:<n>", scope = "scope.shared")]
    fn shared<A: Named>(n: u64) -> Result<u64, Error> {
        Ok(n + A::BY)
    }

    #[idempotent(key = "n:<n>", scope = A::NAME)]
    async fn named<A: Named>(n: u64) -> Result<u64, Error> {
        Ok(n + A::BY)
    }

    #[idempotent(key = "n:<n>", scope = "scope.consts")]
    fn consts<const BY: u64>(n: u64) -> Result<u64, Error> {
        Ok(n + BY)
    }

    #[idempotent(key = "n:<n>", scope = "scope.opaque")]
    fn opaque(n: u64, by: impl Into<u64>) -> Result<u64, Error> {
        Ok(n + by.into())
    }

    /// A scope that names one of two types.
    struct Desk<A, B>(std::marker::PhantomData<(A, B)>);
    trait Desked {
        const NAME: &'static str;
        const BOOK: &'static str;
        const PAY: &'static str;
    }
    impl Desked for One {
        const NAME: &'static str = "scope.desk.one";
        const BOOK: &'static str = "scope.desk.one.book";
        const PAY: &'static str = "scope.desk.one.pay";
    }
    impl Desked for Two {
        const NAME: &'static str = "scope.desk.two";
        const BOOK: &'static str = "scope.desk.two.book";
        const PAY: &'static str = "scope.desk.two.pay";
    }
    impl<A: Desked, B: Named> Desk<A, B> {
        const DESK: Self = Self(std::marker::PhantomData);

        #[idempotent(key = "n:<n>", scope = A::NAME)]
        fn of_self(&self, n: u64) -> Result<u64, Error> {
            Ok(n + B::BY)
        }

        #[idempotent(key = "n:<n>", scope = A::BOOK)]
        fn of_the_impl(n: u64) -> Result<u64, Error> {
            Ok(n + B::BY)
        }
    }

    #[idempotent(key = "n:<n>", scope = A::PAY)]
    async fn of_the_function<A: Desked, B: Named>(n: u64) -> Result<u64, Error> {
        Ok(n + B::BY)
    }

    const SCOPE: &str = "scope.constant";

    #[idempotent(key = "n:<n>", scope = SCOPE, scope_was = ["scope.before"], store = store)]
    fn constant(n: u64, store: &MemoryStore) -> Result<u64, Error> {
        Ok(n)
    }

    #[test]
    fn a_scope_that_answers_for_two_types_is_an_error_at_the_second() {
        crate::install_store();
        assert_eq!(shared::<One>(1).unwrap(), 2);
        assert_eq!(shared::<Two>(1).unwrap_err().kind(), ErrorKind::Misconfigured);
        assert_eq!(consts::<1>(1).unwrap(), 2);
        assert_eq!(consts::<2>(1).unwrap_err().kind(), ErrorKind::Misconfigured);
        assert_eq!(opaque(1, 1_u8).unwrap(), 2);
        assert_eq!(opaque(1, 2_u32).unwrap_err().kind(), ErrorKind::Misconfigured);
    }

    #[test]
    fn a_scope_of_the_type_tells_types_apart() {
        crate::install_store();
        assert_eq!(block_on(named::<One>(1)).unwrap(), 2);
        assert_eq!(block_on(named::<Two>(1)).unwrap(), 3);
        assert_eq!(block_on(named::<One>(1)).unwrap(), 2);
    }

    #[test]
    fn a_scope_of_one_type_does_not_answer_for_two_of_another() {
        crate::install_store();
        assert_eq!(Desk::<One, One>::DESK.of_self(1).unwrap(), 2);
        assert_eq!(Desk::<One, Two>::DESK.of_self(1).unwrap_err().kind(), ErrorKind::Misconfigured);
        assert_eq!(Desk::<Two, Two>::DESK.of_self(1).unwrap(), 3);
        assert_eq!(Desk::<One, One>::of_the_impl(1).unwrap(), 2);
        assert_eq!(Desk::<One, Two>::of_the_impl(1).unwrap_err().kind(), ErrorKind::Misconfigured);
        assert_eq!(Desk::<Two, Two>::of_the_impl(1).unwrap(), 3);
        assert_eq!(block_on(of_the_function::<One, One>(1)).unwrap(), 2);
        let second = block_on(of_the_function::<One, Two>(1));
        assert_eq!(second.unwrap_err().kind(), ErrorKind::Misconfigured);
        assert_eq!(block_on(of_the_function::<Two, Two>(1)).unwrap(), 3);
        assert_eq!(block_on(of_the_function::<One, One>(1)).unwrap(), 2);
    }

    #[test]
    fn records_of_a_former_scope_still_count() {
        let (store, n) = (MemoryStore::new(), 1);
        // By hand: a handler that is still there may not have the scope.
        let before = Idempotent::new(&store, Handler::new("scope.before"));
        before.run_blocking(&key!("n:<n>").unwrap(), || Ok::<_, Error>(11)).unwrap();
        assert_eq!(constant(n, &store).unwrap(), 11);
        assert_eq!(constant(2, &store).unwrap(), 2);
    }
}

/// Getters that the compiler proves to be the same on every attempt.
mod proved {
    use super::*;

    #[derive(Clone)]
    struct Event<T> {
        offset: u64,
        body: T,
    }

    impl<T> Event<T> {
        const fn offset(&self) -> u64 {
            self.offset
        }

        const fn body(&self) -> &T {
            &self.body
        }
    }

    struct Borrowed<'a> {
        id: &'a str,
    }

    impl<'a> Borrowed<'a> {
        const fn id(&self) -> &'a str {
            self.id
        }
    }

    #[idempotent(key = "e:<event.offset()>:<event.body().offset()>")]
    async fn concrete(event: Event<Event<u8>>) -> Result<u64, Error> {
        Ok(event.offset)
    }

    #[idempotent(key = "e:<event.offset()>", scope = "proved.generic")]
    fn generic<T>(event: &Event<T>) -> Result<u64, Error>
    where
        T: Clone,
    {
        Ok(event.offset)
    }

    #[idempotent(key = "e:<event.offset()>:<part>")]
    fn pattern((mut event, part): (Event<u8>, u8)) -> Result<u64, Error> {
        event.offset += u64::from(part);
        Ok(event.offset)
    }

    #[idempotent(key = "e:<message.id()>")]
    fn lifetime<'a>(message: Borrowed<'a>) -> Result<usize, Error> {
        let id: &'a str = message.id;
        Ok(id.len())
    }

    struct Consumer<'a>(&'a str);
    impl<'a> Consumer<'a> {
        #[idempotent(key = "e:<message.id()>", scope = "proved.method")]
        async fn method(&self, message: Borrowed<'a>) -> Result<usize, Error> {
            Ok(message.id.len() + self.0.len())
        }
    }

    #[idempotent(key = "e:<event.offset()>")]
    fn cfg(
        #[cfg(any())] event: Nothing,
        #[cfg(not(target_os = "none"))] event: Event<u8>,
    ) -> Result<u64, Error> {
        Ok(event.offset)
    }

    #[idempotent(key = "e:<id.trim()>", trust(id.trim(), reason = "a function of the text alone"))]
    fn trusted(id: &str) -> Result<String, Error> {
        Ok(id.to_owned())
    }

    #[test]
    fn they_are_read_at_run_time() {
        crate::install_store();
        let event = |offset| Event { offset, body: 0_u8 };
        assert_eq!(block_on(concrete(Event { offset: 1, body: event(2) })).unwrap(), 1);
        assert_eq!(generic(&event(1)).unwrap(), 1);
        assert_eq!(pattern((event(1), 2)).unwrap(), 3);
        assert_eq!(lifetime(Borrowed { id: "abc" }).unwrap(), 3);
        assert_eq!(block_on(Consumer("x").method(Borrowed { id: "abc" })).unwrap(), 4);
        assert_eq!(cfg(event(9)).unwrap(), 9);
        assert_eq!(trusted(" a ").unwrap(), " a ");
        assert_eq!(trusted("a").unwrap(), " a ");
    }
}

/// All that can be said about time and tries.
mod settings {
    use super::*;

    #[idempotent(
        key = "n:<n>",
        ttl = "1d",
        keep = "30 days",
        redelivery = "1d",
        lease = "10s",
        max_hold = "1m",
        max_tries = 2,
        on_lapse = "park",
        on_duplicate = wait("10ms"),
        mode = "lease_and_replay",
        require = "any",
        once_per = "n",
        crate = ::idem,
    )]
    async fn all(n: u64) -> Result<u64, Error> {
        Ok(n)
    }

    #[idempotent(key = "n:<n>", on_duplicate(wait = "10ms"), payload = none)]
    async fn other_forms(n: u64) -> Result<u64, Error> {
        Ok(n)
    }

    #[idempotent(key = "n:<n>", require = "durable")]
    async fn durable(n: u64) -> Result<u64, Error> {
        Ok(n)
    }

    #[idempotent(key = "n:<n>", max_tries = 2)]
    fn twice(n: u64) -> Result<u64, Error> {
        Err(Key::trusted("", "an error of this body").unwrap_err())
    }

    #[test]
    fn a_handler_may_say_them_all() {
        crate::install_store();
        assert_eq!(block_on(all(1)).unwrap(), 1);
        assert_eq!(block_on(other_forms(1)).unwrap(), 1);
    }

    #[test]
    fn a_store_that_is_too_weak_is_refused_at_the_first_call() {
        crate::install_store();
        assert_eq!(block_on(durable(1)).unwrap_err().kind(), ErrorKind::Misconfigured);
    }

    #[test]
    fn a_message_is_parked_after_its_last_try() {
        crate::install_store();
        let kinds = [1, 1, 1].map(|n| twice(n).unwrap_err().kind());
        assert_eq!(kinds, [ErrorKind::MissingKeyPart, ErrorKind::MissingKeyPart, ErrorKind::Spent]);
    }
}
