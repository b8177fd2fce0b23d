//! From a type to its implementation, where no compiler is needed to judge.

use super::derive;

fn rules(item: &str) -> Vec<String> {
    let out = derive(item.parse().unwrap()).to_string();
    let rules = out.split("rule: idem::errors::").skip(1);
    rules.map(|rule| rule.split('"').next().unwrap_or_default().to_owned()).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn a_message_with_one_identity_is_accepted() {
    for item in [
        "struct P { #[message(id)] id: String, amount: u64 }",
        "struct P(#[message(id)] u64, u64);",
        "struct P<'a, T: Clone> where T: Send { #[message(id)] id: &'a str, body: T }",
        "struct P { #[message(id)] id: String, #[message(event)] event: String, #[message(per_delivery)] tag: u64 }",
        "struct P { #[message(event)] #[serde(rename = \"eventId\")] event: String }",
        "struct P { #[message(event)] #[serde(default)] event: Option<String> }",
        "#[serde(default)] struct P { #[message(id)] id: Option<String>, note: String }",
        "struct P { #[message(id)] id: String, #[serde(default)] note: String, #[serde(flatten)] rest: Rest }",
        "enum E { A { #[message(id)] id: u64 }, B(#[message(id)] u64, u32) }",
        "#[message(crate = ::once)] struct P { #[message(id)] id: String }",
        "struct P { #[message(id)] id: String, #[message(payload)] delivery_tag: u64, #[message(skip)] redelivered: bool }",
        "struct P { #[message(id)] id: String, #[serde(skip)] receipt_handle: String, traceparent: String, lease_id: u64 }",
        "struct P { #[message(id)] id: String, expires_at: u64, reply_to: String, attempt: u32, nonce: u64, request_id: u64 }",
        "struct P { #[message(id)] delivery_tag: u64, #[message(event)] redelivered: bool }",
        "struct P { #[message(id)] r#type: String, #[message(skip)] a: A, #[message(published_at)] at: u64 }",
    ] {
        assert_eq!(rules(item), NONE, "{item}");
    }
}

#[test]
fn each_mistake_is_told_once_and_all_of_them_together() {
    for (item, expected) in [
        ("struct P { id: String }", &["message_no_identity"][..]),
        ("struct P { #[message(per_delivery)] id: String }", &["message_no_identity"]),
        ("enum E { A { #[message(id)] id: u64 }, B(u64) }", &["message_no_identity"]),
        ("enum E { A { #[message(id)] id: u64 }, B }", &["message_item"]),
        ("struct P { #[message(id)] id: String, delivery_tag: u64 }", &["payload_per_attempt"]),
        (
            "struct P { #[message(id)] id: u64, redelivered: bool, receiptHandle: String }",
            &["payload_per_attempt"; 2],
        ),
        ("struct P { #[message(id)] id: u64, #[message(delivery)] ack_id: u64 }", &["message_attribute"]),
        ("enum E { A { #[message(id)] id: u64, ack_id: String } }", &["payload_per_attempt"]),
        ("struct P;", &["message_item"]),
        ("struct P {}", &["message_item"]),
        ("struct P();", &["message_item"]),
        ("enum E {}", &["message_item"]),
        ("union U { a: u8 }", &["message_item"]),
        ("struct P { #[message(id)] a: u8, #[message(id)] b: u8 }", &["message_two_identities"]),
        ("struct P { #[message(event)] a: u8, #[message(event)] b: u8 }", &["message_two_identities"]),
        ("struct P { #[message(di)] id: u8 }", &["message_attribute"]),
        ("struct P { #[message] id: u8 }", &["message_attribute"]),
        ("struct P { #[message()] id: u8 }", &["message_attribute"]),
        ("struct P { #[message = \"id\"] id: u8 }", &["message_attribute"]),
        ("struct P { #[message(id = true)] id: u8 }", &["message_attribute"]),
        ("struct P { #[message(id, id)] id: u8 }", &["message_attribute"]),
        ("struct P { #[message(id)] #[message(skip)] id: u8 }", &["message_attribute"]),
        ("#[message(id)] struct P { #[message(id)] id: u8 }", &["message_attribute"]),
        ("enum E { #[message(id)] A(#[message(id)] u8) }", &["message_attribute"]),
        ("struct P { #[message(id)] #[serde(default)] id: u8 }", &["message_identity_default"]),
        (
            "struct P { #[message(id)] #[serde(default = \"Uuid::new_v4\")] id: Uuid }",
            &["message_identity_default"],
        ),
        (
            "struct P { #[message(id)] #[serde(default = \"f\")] id: Option<u8> }",
            &["message_identity_default"],
        ),
        ("struct P { #[message(id)] #[serde(skip)] id: u8 }", &["message_identity_default"]),
        ("struct P { #[message(id)] #[serde(skip_deserializing)] id: u8 }", &["message_identity_default"]),
        ("struct P { #[message(id)] #[serde(flatten)] id: Id }", &["message_identity_default"]),
        ("#[serde(default)] struct P { #[message(id)] id: u8 }", &["message_identity_default"]),
        (
            "struct P { #[message(id)] #[serde(skip)] a: u8, #[message(id)] b: u8, #[message(x)] c: u8 }",
            &["message_attribute", "message_two_identities", "message_identity_default"],
        ),
    ] {
        assert_eq!(rules(item), expected, "{item}");
    }
}

#[test]
fn nothing_that_can_be_written_makes_the_derive_panic() {
    for item in [
        "",
        "fn f() {}",
        "struct",
        "struct P { #[message(,)] a: u8 }",
        "struct P { #[serde] #[serde(=)] a: u8 }",
    ] {
        if let Ok(item) = item.parse() {
            let _ = derive(item).to_string();
        }
    }
}

#[test]
fn a_mistake_leaves_an_implementation_that_says_nothing() {
    let out = derive("struct P<T> { id: T }".parse().unwrap()).to_string();
    assert!(out.contains("Message for P < T >"), "{out}");
    assert!(out.contains("Facts :: new (& [])"), "{out}");
}
