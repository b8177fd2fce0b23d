//! Two handlers with one scope would skip each other's messages: nothing starts with them.

use std::panic::catch_unwind;

use idem::{ErrorKind, MemoryStore, idempotent};

#[idempotent(key = "msg:<id>", scope = "billing.charge", store = store)]
fn charge(id: u64, store: &MemoryStore) -> Result<u64, idem::Error> {
    Ok(id)
}

#[idempotent(key = "msg:<id>", scope = "billing.charge", store = store)]
fn refund(id: u64, store: &MemoryStore) -> Result<u64, idem::Error> {
    Ok(id)
}

#[idempotent(key = "msg:<id>", scope = "billing.mail", store = store)]
fn mail(id: u64, store: &MemoryStore) -> Result<u64, idem::Error> {
    Ok(id)
}

fn panic_of(work: fn()) -> String {
    let panic = catch_unwind(work).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn a_program_does_not_start() {
    let said = panic_of(|| idem::install(MemoryStore::new()));
    for part in
        ["two handlers have the scope `billing.charge`", "`one_scope::charge` at ", "`one_scope::refund` at "]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn the_lock_test_fails_and_accepts_nothing() {
    let said = panic_of(|| idem::testing::assert_keys_locked("one_scope.lock"));
    assert!(said.contains("two handlers have the scope `billing.charge`"), "{said}");
}

/// Where a program installs no store.
#[test]
fn the_first_call_of_either_is_refused_and_no_other_handler_is_concerned() {
    let store = MemoryStore::new();
    for error in [charge(1, &store).unwrap_err(), refund(1, &store).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Misconfigured);
        assert!(error.to_string().contains("two handlers have this scope"), "{error}");
    }
    assert_eq!(mail(1, &store).unwrap(), 1);
}
