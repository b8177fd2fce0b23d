//! A former scope that another handler has: what that one has done would count for both.

use std::panic::catch_unwind;

use idem::{ErrorKind, MemoryStore, idempotent};

#[idempotent(key = "msg:<id>", scope = "billing.charge", store = store)]
fn charge(id: u64, store: &MemoryStore) -> Result<u64, idem::Error> {
    Ok(id)
}

#[idempotent(key = "msg:<id>", scope = "billing.mail", scope_was = ["billing.charge", "billing.post"], store = store)]
fn mail(id: u64, store: &MemoryStore) -> Result<u64, idem::Error> {
    Ok(id)
}

#[test]
fn a_program_does_not_start_and_the_lock_test_accepts_nothing() {
    let work: [fn(); 2] =
        [|| idem::install(MemoryStore::new()), || idem::testing::assert_keys_locked("former_scope.lock")];
    for work in work {
        let panic = catch_unwind(work).unwrap_err();
        let said = panic.downcast_ref::<String>().unwrap();
        for part in [
            "`former_scope::mail` at ",
            "names `billing.charge` in its `scope_was`",
            "`former_scope::charge` at ",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
}

/// The table knows of both before either is called.
#[test]
fn the_first_call_of_either_is_refused() {
    let store = MemoryStore::new();
    for error in [mail(1, &store).unwrap_err(), charge(1, &store).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Misconfigured);
        assert!(error.to_string().contains("take it out of `scope_was`"), "{error}");
    }
}
