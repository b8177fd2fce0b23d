//! What the table has of each handler.

use std::time::Duration;

use idem::{Mode, OnDuplicate, RegisteredHandler, StoreClass, machine::OnLapse};
use idem_test_locked as _;

fn of_scope(scope: &str) -> &'static RegisteredHandler {
    let mut found = idem::handlers().iter().filter(|handler| handler.scope() == scope);
    let handler = found.next().unwrap_or_else(|| panic!("{scope} is not in the table"));
    assert!(found.next().is_none(), "{scope} is in the table twice");
    handler
}

#[test]
fn a_handler_is_listed_wherever_it_is_written() {
    let scopes: Vec<&str> = idem::handlers().iter().map(|handler| handler.scope()).collect();
    assert_eq!(
        scopes,
        [
            "Self::NAME",
            "billing.refund",
            "everywhere.generic",
            "everywhere.method",
            "idem_test_locked::charge",
            "idem_test_locked::everywhere::future",
            "idem_test_locked::everywhere::in_closure",
            "idem_test_locked::everywhere::inner",
            "idem_test_locked::everywhere::innermost",
            "idem_test_locked::everywhere::made_first",
            "idem_test_locked::everywhere::made_second",
            "idem_test_locked::everywhere::move",
            "idem_test_locked::everywhere::unreachable_ones::never_called",
            "idem_test_locked::forward",
            "idem_test_locked::welcome",
        ]
    );
}

#[test]
fn what_was_not_said_is_as_it_is_by_default() {
    let charge = of_scope("idem_test_locked::charge");
    assert_eq!(charge.function(), "idem_test_locked::charge");
    assert!(
        charge.file().ends_with("src/lib.rs") && charge.line() > 1,
        "{}:{}",
        charge.file(),
        charge.line()
    );
    assert_eq!(charge.keys(), ["msg:<payment.id>"]);
    assert_eq!((charge.mode(), charge.is_key_only()), (Mode::LeaseAndReplay, false));
    assert_eq!((charge.ttl(), charge.keep()), (days(7), days(45)));
    assert_eq!((charge.lease(), charge.max_hold(), charge.max_tries()), (seconds(30), seconds(900), 5));
    assert_eq!((charge.on_lapse(), charge.on_duplicate()), (OnLapse::Rerun, OnDuplicate::Error));
    assert_eq!((charge.store(), charge.require(), charge.redelivery()), (None, None, None));
    assert_eq!((charge.payload(), charge.once_per(), charge.final_error()), (None, None, None));
    assert!(charge.trusts().is_empty() && charge.allows().is_empty() && charge.scope_was().is_empty());
}

#[test]
fn what_was_said_is_there_as_it_was_written() {
    let refund = of_scope("billing.refund");
    assert_eq!(refund.keys(), ["evt:<payment.event>", "log:<payment.offset()>"]);
    assert_eq!(refund.scope_was(), ["refund", "billing.repay"]);
    assert_eq!(refund.store(), Some("&stores[0]"));
    assert_eq!((refund.ttl(), refund.keep()), (seconds(36 * 3600), days(60)));
    assert_eq!(refund.redelivery(), Some(days(1)));
    assert_eq!((refund.lease(), refund.max_hold(), refund.max_tries()), (seconds(10), seconds(60), 3));
    assert_eq!(refund.payload(), Some(&["payment.amount", "payment.id"][..]));
    assert_eq!((refund.on_lapse(), refund.on_duplicate()), (OnLapse::Park, OnDuplicate::Wait(seconds(5))));
    assert_eq!((refund.final_error(), refund.require()), (Some("Refused::is_final"), None));
    assert_eq!(refund.trusts(), [("payment.offset()", "the broker's,\nfor \"ever\"")]);

    let welcome = of_scope("idem_test_locked::welcome");
    assert_eq!((welcome.once_per(), welcome.mode()), (Some("customer"), Mode::AtMostOnce));
    assert_eq!((welcome.require(), welcome.payload()), (Some(StoreClass::Durable), Some(&[][..])));

    let forward = of_scope("idem_test_locked::forward");
    assert!(forward.is_key_only());
    assert_eq!(forward.allows(), [("key_per_delivery_name", "the publisher's own number, badly named")]);
}

#[test]
fn a_scope_that_depends_on_types_is_its_expression() {
    let generic = of_scope("Self::NAME");
    assert!(generic.scope_is_expression());
    assert_eq!(generic.function(), "idem_test_locked::everywhere::by_default");
    assert_eq!(generic.ttl(), days(1));
    assert!(idem::handlers().iter().filter(|handler| handler.scope_is_expression()).count() == 1);
}

#[test]
fn two_handlers_that_one_macro_made_have_their_own_keys() {
    assert_eq!(of_scope("idem_test_locked::everywhere::made_first").keys(), ["first:<id>"]);
    assert_eq!(of_scope("idem_test_locked::everywhere::made_second").keys(), ["second:<id>"]);
}

fn days(days: u64) -> Duration {
    seconds(days * 86_400)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
