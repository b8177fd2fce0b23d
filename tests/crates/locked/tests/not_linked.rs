//! A crate that nothing names is not linked, though it is a dependency: this test does not name the one that it is of.

use std::panic::catch_unwind;

#[test]
fn handlers_of_a_crate_that_is_not_named_are_not_there_and_the_test_says_so() {
    assert!(idem::handlers().is_empty());
    let panic = catch_unwind(|| idem::testing::assert_keys_locked("idem.lock")).unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    assert!(
        said.contains("no handler is linked into this test") && said.contains("use the_crate as _;"),
        "{said}"
    );
}
