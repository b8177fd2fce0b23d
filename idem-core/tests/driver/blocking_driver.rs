use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use idem_core::machine::StateKind;
use idem_core::{Error, ErrorKind, Handler, Idempotent, OnLapse, Outcome, Store};

use crate::async_driver::key;
use crate::model::{Fault, Gate, ModelStore};

fn work(store: &ModelStore) -> Idempotent {
    Idempotent::new(store, Handler::new("tests.blocking"))
}

#[test]
fn a_plain_function_runs_once_and_is_replayed() {
    let store = ModelStore::new();
    let first = work(&store).run_blocking(&key(), || Ok::<_, Error>(7)).unwrap();
    assert_eq!(first, Outcome::Executed { value: 7, recorded: true });
    let again = work(&store).run_blocking(&key(), || Ok::<_, Error>(8)).unwrap();
    assert_eq!(again, Outcome::Replayed { value: 7, age: Duration::ZERO });
}

#[test]
fn answers_that_come_later_are_waited_for() {
    let store = ModelStore::new();
    let gate = Gate::default();
    store.next("claim", Fault::AnsweredLater(gate.clone()));
    store.next("complete", Fault::AnsweredLater(gate.clone()));
    let worker = {
        let store = store.clone();
        std::thread::spawn(move || work(&store).run_blocking(&key(), || Ok::<_, Error>(7)))
    };
    gate.open();
    assert_eq!(worker.join().unwrap().unwrap(), Outcome::Executed { value: 7, recorded: true });
}

#[test]
fn the_lease_is_renewed_while_the_function_blocks() {
    let store = ModelStore::new();
    let result = work(&store).run_blocking(&key(), || {
        store.time().advance(Duration::from_secs(100));
        Ok::<_, Error>(store.count("renew"))
    });
    assert!(result.unwrap().into_value() >= 9);
    store.time().advance(Duration::from_secs(100));
    assert!(store.count("renew") <= 11, "renewals stop with the body");
}

// F30
#[test]
fn a_panic_gives_the_claim_back_and_goes_on() {
    let store = ModelStore::new();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        work(&store).run_blocking(&key(), || -> Result<u32, Error> { panic!("boom") })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"boom"));
    assert_eq!(store.record().state.kind(), StateKind::Open);
    assert!(work(&store).run_blocking(&key(), || Ok::<_, Error>(8)).unwrap().is_executed());
}

#[test]
fn a_panic_under_park_leaves_the_claim_to_its_lease() {
    let store = ModelStore::new();
    let parks = || Idempotent::new(&store, Handler::new("tests.blocking").on_lapse(OnLapse::Park));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        parks().run_blocking(&key(), || -> Result<u32, Error> { panic!("boom") })
    }));
    assert!(panicked.is_err());
    assert_eq!(store.record().state.kind(), StateKind::Held);
}

#[test]
fn a_store_for_async_handlers_only_refuses_plain_functions() {
    #[derive(Clone)]
    struct AsyncOnly(ModelStore);
    macro_rules! forward {
        ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {$(
            fn $name(&self, $($arg: $ty),*) -> $ret { self.0.$name($($arg),*) }
        )*};
    }
    impl Store for AsyncOnly {
        forward! {
            handle() -> std::sync::Arc<dyn Store>;
            class() -> idem_core::StoreClass;
            clock() -> idem_core::Clock;
            claim(claim: &idem_core::machine::Claim) -> idem_core::Reply<idem_core::machine::Verdict>;
            claim_many(claims: &[idem_core::machine::Claim]) -> idem_core::Reply<Vec<idem_core::machine::Verdict>>;
            renew(renewal: &idem_core::machine::Renewal) -> idem_core::Reply<idem_core::machine::Renewed>;
            complete(c: &idem_core::machine::Completion) -> idem_core::Reply<idem_core::machine::Recorded>;
            fail(c: &idem_core::machine::Completion) -> idem_core::Reply<idem_core::machine::Recorded>;
            release(id: &idem_core::RecordId, token: &idem_core::Token) -> idem_core::Reply<idem_core::machine::Released>;
            forget(id: &idem_core::RecordId, force: bool) -> idem_core::Reply<idem_core::machine::Forgotten>;
            inspect(id: &idem_core::RecordId) -> idem_core::Reply<Option<idem_core::machine::Snapshot>>;
            sweep(limit: usize) -> idem_core::Reply<u64>;
        }
        fn can_block(&self) -> bool {
            false
        }
    }
    static HANDLER: Handler = Handler::new("tests.async_only");
    let store = ModelStore::new();
    let shared: std::sync::Arc<dyn Store> = std::sync::Arc::new(AsyncOnly(store.clone()));
    let handle = {
        use idem_core::private::ToStoreHandle as _;
        HandleOf(shared).idem_store()
    };
    let mut call = idem_core::private::Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
    call.use_store(handle);
    let result = idem_core::private::run_blocking(&call, idem_core::private::codec(), || Ok::<u32, Error>(1));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Misconfigured);
    assert!(store.log().is_empty());

    /// A store whose handle is itself.
    struct HandleOf(std::sync::Arc<dyn Store>);
    impl idem_core::private::ToStoreHandle for HandleOf {
        fn idem_store(&self) -> idem_core::private::StoreHandle {
            idem_core::private::StoreHandle::shared(self.0.clone())
        }
    }
}
