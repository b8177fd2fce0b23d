//! Two tuples of parts never render one text.

use std::collections::HashMap;

use idem_core::{Namespace, RecordId};
use proptest::prelude::*;

use super::*;

/// What may begin a literal between two parts: printable signs, but for those that are encoded.
const SIGNS: &str = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~";

fn literals(parts: usize) -> impl Strategy<Value = Vec<String>> {
    let between =
        (prop::sample::select(SIGNS.chars().collect::<Vec<_>>()), "([a-z0-9:/-]|%20|%25|%C3%A9){0,3}");
    let between = between.prop_map(|(sign, rest)| format!("{sign}{rest}"));
    let last = prop_oneof![Just(String::new()), "[a-z:]{1,3}", between.clone()];
    (prop::collection::vec(between, parts - 1), last).prop_map(|(between, last)| {
        let mut literals = vec!["msg:".to_owned()];
        literals.extend(between);
        literals.push(last);
        literals
    })
}

/// Strings of what can go wrong: the literals' own signs, escapes and pieces of escapes, and now and then anything at all.
fn part(literals: &[String]) -> impl Strategy<Value = String> + Clone + use<> {
    let mut pieces: Vec<String> = literals.iter().filter(|literal| !literal.is_empty()).cloned().collect();
    pieces.extend(literals.iter().filter_map(|literal| literal.get(..1)).map(str::to_owned));
    pieces.extend(["a", "%", "%3A", "3A", "%25", "#", " ", "é", "\u{7f}", "\0"].map(str::to_owned));
    let pieces = prop::collection::vec(prop::sample::select(pieces), 1..5).prop_map(|pieces| pieces.concat());
    let any = prop_oneof![4 => pieces, 1 => "\\PC{1,8}"];
    any.prop_filter("white space alone is missing", |part| !part.trim().is_empty())
}

fn templates() -> impl Strategy<Value = (Vec<String>, Vec<String>, Vec<String>)> {
    (1..=4_usize).prop_flat_map(literals).prop_flat_map(|literals| {
        let parts = literals.len() - 1;
        let tuples = prop::collection::vec(part(&literals), parts);
        (Just(literals), tuples.clone(), tuples)
    })
}

fn rendered(literals: &[String], parts: &[String]) -> String {
    let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    render(&literals, &parts).unwrap()
}

/// Moves what stands between two parts: the tuple that would look the same if parts were only put together.
fn shifted(literals: &[String], parts: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for at in 0..parts.len().saturating_sub(1) {
        let (left, right, between) = (&parts[at], &parts[at + 1], &literals[at + 1]);
        for (cut, _) in left.match_indices(between.as_str()) {
            let mut moved = parts.to_vec();
            left[..cut].clone_into(&mut moved[at]);
            moved[at + 1] = format!("{}{between}{right}", &left[cut + between.len()..]);
            all.push(moved);
        }
        for (cut, _) in right.match_indices(between.as_str()) {
            let mut moved = parts.to_vec();
            moved[at] = format!("{left}{between}{}", &right[..cut]);
            right[cut + between.len()..].clone_into(&mut moved[at + 1]);
            all.push(moved);
        }
    }
    all.retain(|moved| moved.iter().all(|part| !part.trim().is_empty()));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn f57_two_tuples_have_one_text_only_if_they_are_equal((literals, one, other) in templates()) {
        prop_assert_eq!(rendered(&literals, &one) == rendered(&literals, &other), one == other);
    }

    #[test]
    fn f57_moving_the_border_between_two_parts_gives_another_text((literals, parts, _) in templates()) {
        let text = rendered(&literals, &parts);
        for moved in shifted(&literals, &parts) {
            prop_assert_ne!(&rendered(&literals, &moved), &text, "{:?} and {:?}", parts, moved);
        }
    }
}

#[test]
fn f57_no_two_of_all_short_tuples_have_one_text() {
    let letters = ["a", ":", "%", "3", "A", "/"];
    let mut parts: Vec<String> = letters.map(str::to_owned).to_vec();
    for length in 1..4 {
        let longer: Vec<String> = parts
            .iter()
            .filter(|part| part.len() == length)
            .flat_map(|part| letters.map(|letter| format!("{part}{letter}")))
            .collect();
        parts.extend(longer);
    }
    let short: Vec<&String> = parts.iter().filter(|part| part.len() <= 3).collect();
    for literals in [["msg:", ":"], ["msg:", "/"], ["msg:", ":/"], ["msg:", "::"]] {
        let mut seen = HashMap::new();
        for left in &short {
            for right in &short {
                let text = render(&literals, &[left, right]).unwrap();
                if let Some(other) = seen.insert(text, (*left, *right)) {
                    panic!("{literals:?}: {other:?} and {left:?}, {right:?}");
                }
            }
        }
    }
}

/// The record of a handler whose key has two parts, or `None` where there is no key.
fn record_of(left: &(impl KeyPart + ?Sized), right: &(impl KeyPart + ?Sized)) -> Option<RecordId> {
    let mut text = KeyText::new();
    text.literal("msg:");
    text.part("message.a", left, Some(b':'));
    text.literal(":");
    text.part("message.b", right, None);
    match text.to_key() {
        Ok(key) => Some(Namespace::new("", "", "billing.charge").record(key.as_str())),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::MissingKeyPart, "{error}");
            None
        }
    }
}

#[test]
fn f57_parts_that_would_run_together_have_records_of_their_own() {
    let records = [
        record_of("a:b", "c"),
        record_of("a", "b:c"),
        record_of("a", "b"),
        record_of("ab", "c"),
        record_of("a", "bc"),
        record_of("a%3Ab", "c"),
        record_of("a", "b%3Ac"),
    ];
    for (at, record) in records.iter().enumerate() {
        assert!(record.is_some(), "{at}");
        assert!(!records[at + 1..].contains(record), "{at}");
    }
}

/// What is not there is no value that another message could have: it has no record at all, and neither has the word for it.
#[test]
fn f57_a_part_that_is_not_there_has_no_record_to_share() {
    for missing in [record_of("ab", ""), record_of("", "ab"), record_of("", "")] {
        assert_eq!(missing, None);
    }
    assert_eq!(record_of("a", &None::<&str>), None);
    assert_eq!(record_of("a", "None"), None);
    assert_ne!(record_of("a", &Some("Some")), record_of("a", "Some(\"Some\")"));
    assert!(record_of("a", &Some("Nonesuch")).is_some());
}

/// By decision, so that a field may become a string without its messages being worked on again: the text decides, and not the type.
#[test]
fn f57_a_number_and_its_text_are_one_key_and_another_spelling_is_another() {
    let number = record_of("a", &1);
    assert_eq!(record_of("a", "1"), number);
    assert_eq!(record_of("a", &Some(1_u64)), number);
    for spelling in ["01", "+1", "1.0", " 1", "1 "] {
        assert_ne!(record_of("a", spelling), number, "{spelling:?}");
    }
}
