//! What comes out of a replay, and what never shows in an error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use idem_core::machine::StateKind;
use idem_core::private::{Call, ToStoreHandle as _, codec, run_blocking};
use idem_core::{Error, ErrorKind, Handler, Idempotent, Outcome};
use serde::{Deserialize, Serialize};

use crate::async_driver::key;
use crate::model::ModelStore;

const TTL: Duration = Duration::from_secs(60);

fn once<T: Serialize + serde::de::DeserializeOwned>(
    store: &ModelStore,
    body: impl FnOnce() -> Result<T, Error>,
) -> Result<Outcome<T>, Error> {
    Idempotent::new(store, Handler::new("tests.results").ttl(TTL)).run_blocking(&key(), body)
}

// F63
#[test]
fn an_expired_result_is_not_taken_for_none() {
    let store = ModelStore::new();
    once(&store, || Ok(Some(7))).unwrap();
    store.time().advance(TTL);
    assert_eq!(once(&store, || Ok(Some(8))).unwrap_err().kind(), ErrorKind::NotKept);
    let units = ModelStore::new();
    once(&units, || Ok(())).unwrap();
    units.time().advance(TTL);
    assert!(!once(&units, || Ok(())).unwrap().is_executed(), "a unit has nothing to lose");
}

// F71
#[test]
fn an_unreadable_result_is_not_shown() {
    #[derive(Debug, Serialize, Deserialize)]
    enum Card {
        Valid,
    }
    let store = ModelStore::new();
    once(&store, || Ok("sk_live_1".to_owned())).unwrap();
    for error in [once(&store, || Ok(1_u64)).unwrap_err(), once(&store, || Ok(Card::Valid)).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unreadable);
        assert!(!format!("{error} {error:?}").contains("sk_live"), "{error}");
    }
}

#[derive(Debug, Deserialize)]
struct Unwritable;
impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("no bytes for this")
    }
}

// F67
#[test]
fn a_result_whose_serialize_panics_is_done_all_the_same() {
    let store = ModelStore::new();
    let first = once(&store, || Ok(Unwritable)).unwrap();
    assert!(matches!(first, Outcome::Executed { recorded: true, .. }));
    assert_eq!(store.record().state.kind(), StateKind::Done);
    assert_eq!(once(&store, || Ok(7)).unwrap_err().kind(), ErrorKind::NotKept);
}

// F30
#[test]
fn a_final_error_that_panics_gives_the_claim_back() {
    static HANDLER: Handler = Handler::new("tests.final_panics");
    #[derive(Debug, Serialize, Deserialize)]
    struct Declined;
    impl From<Error> for Declined {
        fn from(_: Error) -> Self {
            Self
        }
    }
    let store = ModelStore::new();
    let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
    call.use_store(store.idem_store());
    let codec = codec().final_error(|_: &Declined| panic!("cannot say"));
    let panicked = catch_unwind(AssertUnwindSafe(|| run_blocking(&call, codec, || Err::<u32, _>(Declined))));
    assert!(panicked.is_err());
    assert_eq!(store.record().state.kind(), StateKind::Open);
}
