//! What is read here is what `serde_json` reads.

// The crate knows its traits alone by this name.
extern crate serde as serde_with_derive;

use std::collections::BTreeMap;
use std::fmt;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::value::RawValue;

use self::serde_with_derive::de::DeserializeOwned;
use self::serde_with_derive::{Deserialize, Serialize};
use super::read;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Receipt {
    charge: String,
    amount: u64,
    paid: bool,
    balance: i64,
    part: u8,
    shift: i16,
    total: u128,
    rate: f64,
    note: Option<String>,
    line: Option<Box<Receipt>>,
    lines: Vec<Line>,
    by_day: BTreeMap<i32, Line>,
    state: State,
    pair: (u32, char),
    nothing: (),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Line(String);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum State {
    #[default]
    Open,
    Paid(u32),
    Lost {
        why: String,
    },
}

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Open),
        any::<u32>().prop_map(State::Paid),
        any::<String>().prop_map(|why| State::Lost { why }),
    ]
}

fn receipts() -> impl Strategy<Value = Receipt> {
    let numbers = (any::<u64>(), any::<i64>(), any::<u8>(), any::<i16>(), any::<u128>(), -1e9..1e9);
    let texts = (any::<String>(), option::of(any::<String>()), vec(any::<String>(), 0..3));
    let others = (any::<bool>(), any::<u32>(), any::<char>(), any::<i32>(), states());
    let flat = (numbers, texts, others).prop_map(|(numbers, texts, others)| {
        let (amount, balance, part, shift, total, rate) = numbers;
        let (charge, note, lines) = texts;
        let (paid, number, letter, day, state) = others;
        let by_day = BTreeMap::from([(day, Line(charge.clone()))]);
        let lines = lines.into_iter().map(Line).collect();
        let both = (number, letter);
        Receipt {
            charge,
            amount,
            paid,
            balance,
            part,
            shift,
            total,
            rate,
            note,
            line: None,
            lines,
            by_day,
            state,
            pair: both,
            nothing: (),
        }
    });
    flat.prop_recursive(3, 3, 1, |inner| {
        (inner.clone(), inner).prop_map(|(outer, inner)| Receipt { line: Some(Box::new(inner)), ..outer })
    })
}

/// What is read here of `text` is what `serde_json` reads, if anything is.
fn agrees<T: DeserializeOwned + PartialEq + fmt::Debug>(text: &str) {
    if let Ok(value) = read::<T>(text) {
        assert_eq!(serde_json::from_str::<T>(text).ok(), Some(value), "{text:?}");
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_here(receipt in receipts()) {
        let text = serde_json::to_string(&receipt).unwrap();
        prop_assert_eq!(read::<Receipt>(&text).ok(), Some(receipt));
    }

    #[test]
    fn what_was_changed_is_read_alike_or_not_at_all(
        receipt in receipts(),
        changes in vec((any::<prop::sample::Index>(), 0..3_u8, "[ -~\u{0}\u{e9}]|[\"{}:,0-9.eE+-]"), 1..4),
    ) {
        let mut text: Vec<char> = serde_json::to_string(&receipt).unwrap().chars().collect();
        for (at, how, with) in changes {
            let at = at.index(text.len());
            let with = with.chars();
            match how {
                0 => drop(text.splice(at..=at, with)),
                1 => drop(text.splice(at..at, with)),
                _ => drop(text.splice(at..=at, None)),
            }
        }
        agrees::<Receipt>(&text.into_iter().collect::<String>());
    }

    #[test]
    fn any_few_characters_are_read_alike_or_not_at_all(text in "[\"{}:, a0-9.eE+\u{1f}\\\\-]{0,12}") {
        agrees::<u64>(&text);
        agrees::<i8>(&text);
        agrees::<bool>(&text);
        agrees::<String>(&text);
        agrees::<Option<u16>>(&text);
        agrees::<BTreeMap<String, u8>>(&text);
        let field = format!("{{\"0\":{text}}}");
        agrees::<Numbered>(&field);
        agrees::<Numbered>(&text);
    }

    #[test]
    fn a_text_ends_at_its_quote_wherever_that_stands(before in "[ -!#-\\[\\]-~é\u{7f}]{0,40}", after in "[ -~]{0,20}") {
        let text = format!("\"{before}\"");
        prop_assert_eq!(read::<String>(&text).ok(), Some(before));
        agrees::<String>(&format!("{text}{after}"));
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Numbered {
    #[serde(rename = "0", default)]
    number: Option<u32>,
}

#[test]
fn spaces_and_what_follows_are_left_to_others() {
    assert!(read::<Line>("\"a\"").is_ok());
    for text in ["\"a\" ", "\"a\"\"b\"", "", "\"a"] {
        assert!(read::<Line>(text).is_err(), "{text:?}");
    }
    for text in ["{\"0\":1}", "{}", "{\"0\":null}"] {
        assert!(read::<Numbered>(text).is_ok(), "{text:?}");
    }
    for text in [
        "{ \"0\":1}",
        "{\"0\":1,}",
        "{,\"0\":1}",
        "{\"0\":1",
        "{\"0\":1}}",
        "{\"0\"}",
        "{\"0\":01}",
        "{\"0\":1.0}",
    ] {
        assert!(read::<Numbered>(text).is_err(), "{text:?}");
    }
}

#[test]
fn what_may_not_stand_in_a_text_is_found_wherever_it_stands() {
    for len in 1..20 {
        for at in 0..len {
            for wrong in ['\0', '\u{1f}', '"', '\\'] {
                let mut text: Vec<char> = "x".repeat(len).chars().collect();
                text[at] = wrong;
                let text: String = text.into_iter().collect();
                assert!(read::<String>(&format!("\"{text}\"")).is_err(), "{text:?}");
            }
        }
    }
}

#[test]
fn numbers_are_read_up_to_the_largest() {
    for number in [0, 9, 10, 999_999_999_999_999_999, 9_999_999_999_999_999_999, u64::MAX] {
        assert_eq!(read::<u64>(&number.to_string()).ok(), Some(number));
    }
    for text in ["18446744073709551616", "99999999999999999999", "999999999999999999999", "1.5", "1e3", "-1"]
    {
        assert!(read::<u64>(text).is_err(), "{text}");
    }
    assert_eq!(read::<i64>("-1").ok(), Some(-1));
}

#[test]
fn raw_json_stays_as_it_is() {
    #[derive(Deserialize)]
    struct Wrapped {
        raw: Box<RawValue>,
    }
    let read = read::<Wrapped>(r#"{"raw":{"a": [1, "b"]}}"#).unwrap();
    assert_eq!(read.raw.get(), r#"{"a": [1, "b"]}"#);
}

#[test]
fn a_text_of_any_depth_does_not_fill_the_stack() {
    #[derive(Debug, Deserialize)]
    struct Deep {
        #[serde(default)]
        #[allow(dead_code, reason = "what is in it does not matter")]
        inner: Option<Box<Deep>>,
    }
    let text = |depth: usize| format!("{}{{}}{}", "{\"inner\":".repeat(depth), "}".repeat(depth));
    assert!(read::<Deep>(&text(100)).is_ok());
    assert!(read::<Deep>(&text(1_000_000)).is_err());
}
