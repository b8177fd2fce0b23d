//! Options at the edge of what is right.

use idem::{Key, idempotent};

use super::{Keyed, same_key};

#[idempotent(store = none, key = "order:<order>", keep = "14d", redelivery = "14d", ttl = "14d")]
fn windows_that_are_equal(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<order>", redelivery = "45d")]
fn redelivery_as_long_as_the_default(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<order>", keep = "1d")]
fn keep_shorter_than_the_default_ttl(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<order>", lease = "15m", max_tries = 1, max_hold = "15min")]
fn lease_as_long_as_the_hold(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<order>", once_per = "order", payload = none, require = "any",)]
fn options_that_change_nothing(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<order>", scope = "silent.renamed", scope_was = ["silent.former"])]
fn scope_of_a_plain_function(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

/// `once_per` and windows together, on a method, as a team writes them.
struct Billing;

impl Billing {
    #[idempotent(
        scope = "silent.billing",
        key = "order:<order>",
        store = idem::MemoryStore::new(),
        ttl = "1 week",
        keep = "8 weeks",
        redelivery = "7d",
        on_duplicate = wait("5s"),
        on_lapse = "park",
    )]
    fn charge(&self, order: u64, #[key] key: &Key) -> Keyed {
        let Self = self;
        Ok(key.as_str().to_owned())
    }
}

#[test]
fn options_within_their_ranges_pass() {
    same_key(|| windows_that_are_equal(7), "order:7");
    same_key(|| redelivery_as_long_as_the_default(7), "order:7");
    same_key(|| keep_shorter_than_the_default_ttl(7), "order:7");
    same_key(|| lease_as_long_as_the_hold(7), "order:7");
    same_key(|| options_that_change_nothing(7), "order:7");
    same_key(|| scope_of_a_plain_function(7), "order:7");
    same_key(|| Billing.charge(7), "order:7");
}
