//! The identity of a record: vectors of its format, computed by another program.

use std::fmt::Write;

use idem_core::{Namespace, RecordId};
use proptest::prelude::*;

fn id([application, tenant, scope, key]: [&str; 4]) -> RecordId {
    Namespace::new(application, tenant, scope).record(key)
}

fn hex(id: &RecordId) -> String {
    id.as_bytes().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn the_format_of_a_records_identity_is_pinned() {
    let longest = format!("msg:{}", "x".repeat(251));
    let vectors = [
        (["", "", "", "msg:8f14"], "6623ae1bdcc46085e70d3dc8fcb80b1fed8f466ac388126913895d58928eb381"),
        (
            ["", "", "billing.charge", "msg:8f14"],
            "f9f94012433bb5d763b41e525311b9ff13af8ce64e02c58aebbfe9a9bfba6880",
        ),
        (
            ["shop", "", "billing.charge", "msg:8f14"],
            "bd6b289d3d12c7f571363471b6b2351b0d37bfea89e15337a2bacd24e140855f",
        ),
        (
            ["shop", "acme", "billing.charge", "msg:8f14"],
            "4bafe64af0b0d10e2dee478e02bda9d4ea73166b97cb90e01d9c9c9bf81bb7cb",
        ),
        (
            ["shop", "acme", "billing.charge", "msg:8f14#capture"],
            "cea4c823b3a70d38329a5a886f3d669d52f8a0c221971a52e1bd979a4cfdabea",
        ),
        (
            ["", "", "app::pay::charge", "order:4711:2026-11-30"],
            "a9a9028f5bb102a6abf3f055388a7a9dd9b2efe6053e52c9c24446d186e9bef9",
        ),
        (["büro", "", "s", ""], "05ec6faed72d6a0dabb92c44c1fd04201e7f2e11f1f651cb1df092ac18054e24"),
        (
            ["", "", "billing.charge", &*longest],
            "b7e3ff4811c7c2251e011ace056483834c48c79b371927d16a6ec3a239dec797",
        ),
    ];
    for (fields, expected) in vectors {
        assert_eq!(hex(&id(fields)), expected, "{fields:?}");
    }
}

#[test]
fn fields_do_not_run_together() {
    let ids = [
        id(["ab", "c", "s", "k"]),
        id(["a", "bc", "s", "k"]),
        id(["abc", "", "s", "k"]),
        id(["", "abc", "s", "k"]),
        id(["", "ab", "cs", "k"]),
        id(["ab", "", "cs", "k"]),
        id(["ab", "c", "", "sk"]),
        id(["ab", "c", "sk", ""]),
        id(["ab", "c", "s", "k\0"]),
        id(["ab", "c", "s\0", "k"]),
    ];
    for (at, one) in ids.iter().enumerate() {
        assert!(!ids[at + 1..].contains(one), "{at}");
    }
}

#[test]
fn one_message_has_another_record_for_each_application_tenant_and_scope() {
    let key = "msg:8f14";
    let bill = id(["shop", "acme", "bill", key]);
    for other in
        [["shop", "acme", "mail", key], ["shop", "umbrella", "bill", key], ["bank", "acme", "bill", key]]
    {
        assert_ne!(id(other), bill);
    }
    assert_eq!(RecordId::from_bytes(*bill.as_bytes()), bill);
}

#[test]
fn a_namespace_can_be_asked_again_and_by_its_clone() {
    let space = Namespace::new("", "", "billing.charge");
    let first = space.record("msg:1");
    assert_ne!(space.record("msg:2"), first);
    assert_eq!(space.clone().record("msg:1"), first);
}

/// Names of what makes borders hard to tell: few letters, what separates elsewhere, and bytes that a length is made of.
fn name() -> impl Strategy<Value = String> + Clone {
    prop_oneof![4 => "[ab:#/\0\u{1}\u{4}]{0,4}", 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // I10: what one handler wrote for one tenant is found by no other.
    #[test]
    fn two_identities_have_one_record_only_if_they_are_equal(
        one in [name(), name(), name(), name()],
        other in [name(), name(), name(), name()],
    ) {
        let record = |fields: &[String; 4]| id(fields.each_ref().map(String::as_str));
        prop_assert_eq!(record(&one) == record(&other), one == other);
    }

    // I10
    #[test]
    fn what_moves_over_the_border_of_two_names_makes_another_record(
        fields in [name(), name(), name(), name()],
        border in 0..3_usize,
        cut in 0..8_usize,
    ) {
        let joined = [&*fields[border], &*fields[border + 1]].concat();
        let cut = joined.char_indices().map(|(at, _)| at).chain([joined.len()]).nth(cut).unwrap_or(0);
        let mut moved = fields.clone();
        (moved[border], moved[border + 1]) = (joined[..cut].to_owned(), joined[cut..].to_owned());
        let record = |fields: &[String; 4]| id(fields.each_ref().map(String::as_str));
        prop_assert_eq!(record(&fields) == record(&moved), fields == moved);
    }
}
