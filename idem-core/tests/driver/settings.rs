//! What a call is refused for before any store is asked.

use idem_core::private::{Call, ToStoreHandle as _, codec, run_blocking};
use idem_core::{Disposition, Error, ErrorKind, Handler, KeyText, StoreClass, counters};

use crate::model::ModelStore;

fn call<'h>(handler: &'h Handler, store: &ModelStore, render: impl FnMut(&mut KeyText)) -> Call<'h> {
    Call::derive(handler, true, render).with(|call| call.use_store(store.idem_store()))
}

fn refused(call: &Call<'_>) -> Error {
    run_blocking(call, codec(), || Ok::<u32, Error>(1)).unwrap_err()
}

// F58
#[test]
fn a_missing_part_parks_the_message_and_names_the_part() {
    let store = ModelStore::new();
    static HANDLER: Handler = Handler::new("tests.missing");
    for missing in [None, Some("")] {
        let before = counters().keyless;
        let error = refused(&call(&HANDLER, &store, |text| {
            text.literal("msg:");
            text.part("message.id", &missing, None);
        }));
        assert_eq!(error.kind(), ErrorKind::MissingKeyPart);
        assert!(matches!(error.disposition(), Disposition::Park(reason) if reason.contains("`message.id`")));
        assert!(counters().keyless > before);
    }
    assert!(store.log().is_empty());
}

// F60
#[test]
fn a_key_that_is_too_long_parks_the_message_and_names_the_part() {
    let store = ModelStore::new();
    static HANDLER: Handler = Handler::new("tests.too_long");
    let id = "x".repeat(1 << 20);
    let error = refused(&call(&HANDLER, &store, |text| {
        text.literal("msg:");
        text.part("message.id", &id, None);
    }));
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert!(error.to_string().contains("`message.id`"), "{error}");
    assert!(error.to_string().len() < 300, "the key itself is not in the message");
}

#[test]
fn a_store_weaker_than_required_is_refused() {
    static HANDLER: Handler = Handler::new("tests.require").require(StoreClass::Durable);
    let lossy = ModelStore::of_class(StoreClass::Lossy);
    let error = refused(&call(&HANDLER, &lossy, |text| text.literal("msg:1")));
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(lossy.log().is_empty());
    let durable = ModelStore::of_class(StoreClass::Durable);
    let call = call(&HANDLER, &durable, |text| text.literal("msg:1"));
    assert_eq!(run_blocking(&call, codec(), || Ok::<u32, Error>(1)).unwrap(), 1);
}

#[test]
fn two_handlers_with_one_scope_are_refused_at_the_seconds_first_call() {
    let store = ModelStore::new();
    static FIRST: Handler = Handler::new("tests.shared").at("src/bill.rs", 10);
    static SECOND: Handler = Handler::new("tests.shared").at("src/mail.rs", 20);
    let first = call(&FIRST, &store, |text| text.literal("msg:1"));
    assert!(run_blocking(&first, codec(), || Ok::<u32, Error>(1)).is_ok());
    let error = refused(&call(&SECOND, &store, |text| text.literal("msg:1")));
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(error.to_string().contains("src/bill.rs:10"), "{error}");
}

/// Whichever of the two is called first.
#[test]
fn a_former_scope_that_another_handler_has_is_refused_at_the_seconds_first_call() {
    let store = ModelStore::new();
    let runs = |handler: &Handler| {
        run_blocking(&call(handler, &store, |text| text.literal("msg:1")), codec(), || Ok::<u32, Error>(1))
            .is_ok()
    };
    let (charge, mail) = (Handler::new("tests.charge").at("src/bill.rs", 10), Handler::new("tests.mail"));
    let mail = mail.at("src/mail.rs", 20).scope_was(&["tests.charge"]);
    assert!(runs(&charge));
    let error = refused(&call(&mail, &store, |text| text.literal("msg:1")));
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(error.to_string().contains("names `tests.charge`, which is the scope of"), "{error}");
    assert!(error.to_string().contains("src/bill.rs:10"), "{error}");
    assert!(runs(&charge));

    let (bill, post) = (Handler::new("tests.bill").at("src/bill.rs", 30), Handler::new("tests.post"));
    let post = post.at("src/mail.rs", 40).scope_was(&["tests.bill", "tests.post", "tests.gone"]);
    let heir = Handler::new("tests.heir").at("src/mail.rs", 50).scope_was(&["tests.gone"]);
    assert!(runs(&post) && runs(&heir), "a handler may be split: both have its records");
    let error = refused(&call(&bill, &store, |text| text.literal("msg:1")));
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(error.to_string().contains("the handler at src/mail.rs:40 names this scope"), "{error}");
}

#[test]
fn one_scope_for_two_types_is_refused_at_the_seconds_first_call() {
    let store = ModelStore::new();
    static HANDLER: Handler = Handler::new("tests.identity");
    let first =
        call(&HANDLER, &store, |text| text.literal("msg:1")).with(|call| call.answers_for("app::Orders"));
    assert!(run_blocking(&first, codec(), || Ok::<u32, Error>(1)).is_ok());
    let error = refused(
        &call(&HANDLER, &store, |text| text.literal("msg:2")).with(|call| call.answers_for("app::Refunds")),
    );
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(error.to_string().contains("app::Refunds"), "{error}");
}

#[test]
fn one_scope_for_two_types_is_refused_even_if_each_call_makes_its_handler() {
    let store = ModelStore::new();
    // As `scope = T::NAME` does.
    let per_call = || Handler::new("tests.per_call").at("src/generic.rs", 7);
    let (first, second) = (per_call(), per_call());
    let orders =
        call(&first, &store, |text| text.literal("msg:1")).with(|call| call.answers_for("app::Orders"));
    assert!(run_blocking(&orders, codec(), || Ok::<u32, Error>(1)).is_ok());
    let error = refused(
        &call(&second, &store, |text| text.literal("msg:2")).with(|call| call.answers_for("app::Refunds")),
    );
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
}

#[test]
fn without_a_store_the_error_says_how_to_install_one() {
    static HANDLER: Handler = Handler::new("tests.no_store");
    let error = refused(&Call::derive(&HANDLER, false, |text| text.literal("msg:1")));
    assert_eq!(error.kind(), ErrorKind::NoStore);
    assert!(error.to_string().contains("idem::install("), "{error}");
    assert!(matches!(error.disposition(), Disposition::RetryAfter(_)));
}

#[test]
fn the_key_reaches_the_body() {
    let store = ModelStore::new();
    static HANDLER: Handler = Handler::new("tests.key");
    let call = call(&HANDLER, &store, |text| {
        text.literal("msg:");
        text.part("message.id", "8f14", None);
    });
    let text = run_blocking(&call, codec(), || Ok::<_, Error>(Call::key(&call).to_string())).unwrap();
    assert_eq!(text, "msg:8f14");
}
