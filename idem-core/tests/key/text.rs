//! The text of a key, with the expected one written out.

use idem_core::{Disposition, ErrorKind, KeyWriter};
use proptest::prelude::*;

use super::*;

#[test]
fn a_table_of_parts_and_their_texts() {
    let table = [
        ("8f14e45f-ceea-467f-a2a9-1b5e3f0d9c11", "msg:8f14e45f-ceea-467f-a2a9-1b5e3f0d9c11"),
        ("a:b", "msg:a:b"),
        ("a/b?c=d&e", "msg:a/b?c=d&e"),
        ("100%", "msg:100%25"),
        ("#1", "msg:%231"),
        ("a b", "msg:a%20b"),
        (" a", "msg:%20a"),
        ("é", "msg:%C3%A9"),
        ("e\u{301}", "msg:e%CC%81"),
        ("ß", "msg:%C3%9F"),
        ("\u{1f980}", "msg:%F0%9F%A6%80"),
        ("\0", "msg:%00"),
        ("a\r\nb", "msg:a%0D%0Ab"),
        ("a\t", "msg:a%09"),
        ("\u{7f}", "msg:%7F"),
        ("%41", "msg:%2541"),
        ("~!\"$&'()*,;<>[\\]^`{|}", "msg:~!\"$&'()*,;<>[\\]^`{|}"),
    ];
    for (part, expected) in table {
        assert_eq!(key_of(part).unwrap().as_str(), expected);
    }
}

#[test]
fn the_sign_that_ends_a_part_is_encoded_inside_it() {
    let table: [(&[&str], &[&str], &str); 9] = [
        (&["msg:", ":"], &["a:b", "c"], "msg:a%3Ab:c"),
        (&["msg:", ":"], &["a", "b:c"], "msg:a:b:c"),
        (&["msg:", "/v"], &["a/v", "b"], "msg:a%2Fv/vb"),
        (&["msg:", "--"], &["a-", "-b"], "msg:a%2D---b"),
        (&["msg:", ":", "."], &["a:.", "b:.", "c:."], "msg:a%3A.:b:%2E.c:."),
        (&["msg:", "@", "!"], &["a@b", "c"], "msg:a%40b@c!"),
        (&["msg:", "<"], &["a<b", "c<d"], "msg:a%3Cb<c<d"),
        (&["msg:", ":%20"], &["a: b", "c"], "msg:a%3A%20b:%20c"),
        (&["msg:", "~", "~", "~"], &["~", "~", "~", "~"], "msg:%7E~%7E~%7E~~"),
    ];
    for (literals, parts, expected) in table {
        assert_eq!(render(literals, parts).unwrap(), expected);
    }
}

#[test]
fn a_key_of_255_bytes_is_the_longest() {
    let longest = "x".repeat(251);
    assert_eq!(key_of(&*longest).unwrap().as_str(), format!("msg:{longest}"));
    let error = key_of(&*"x".repeat(252)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert_eq!(error.to_string(), "with `message.id` the key is 256 bytes long; it may be at most 255");
    assert!(matches!(error.disposition(), Disposition::Park(_)));
}

#[test]
fn a_key_too_long_names_the_part_that_made_it_so() {
    let half = "x".repeat(130);
    for (parts, name) in [(["a", &*half, &*half], "message.c"), ([&*half, &*half, "c"], "message.b")] {
        let error = render(&["msg:", ":", ":"], &parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    }
    // Encoding counts: 84 times three bytes.
    assert!(key_of(&*"é".repeat(41)).is_ok());
    assert!(key_of(&*"é".repeat(42)).is_err());
    // A part of a megabyte is an error like any other.
    assert_eq!(key_of(&*"x".repeat(1 << 20)).unwrap_err().kind(), ErrorKind::InvalidKey);
}

#[test]
fn a_missing_part_is_refused_and_named() {
    for part in [None, Some("")] {
        let error = key_of(&part).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingKeyPart);
        assert_eq!(error.to_string(), "`message.id` is missing, so the message has no key");
        assert!(matches!(error.disposition(), Disposition::Park(_)));
    }
    assert_eq!(key_of("").unwrap_err().kind(), ErrorKind::MissingKeyPart);
    let error = render(&["msg:", ":"], &["a", ""]).unwrap_err();
    assert!(error.to_string().contains("`message.b`"), "{error}");
    assert_eq!(key_of(&Some("0")).unwrap().as_str(), "msg:0");
    assert_eq!(key_of(&0).unwrap().as_str(), "msg:0");
    assert_eq!(key_of(&false).unwrap().as_str(), "msg:false");
}

#[test]
fn a_text_that_stands_for_nothing_is_missing() {
    for nothing in [
        "",
        " ",
        "\t\n",
        "\u{b}",
        "\u{a0}\u{2003}",
        "null",
        "None",
        "undefined",
        "NaN",
        "unknown",
        "00000000-0000-0000-0000-000000000000",
        "00000000000000000000000000000000",
        "00000000000000000000000000",
        "000000000000000000000000",
        "00000000000000000000",
    ] {
        assert_eq!(key_of(nothing).unwrap_err().kind(), ErrorKind::MissingKeyPart, "{nothing:?}");
        let owned = Some(nothing.to_owned());
        assert_eq!(key_of(&owned).unwrap_err().kind(), ErrorKind::MissingKeyPart, "{nothing:?}");
        let beside = render(&["msg:", ":"], &[nothing, "7"]).unwrap_err();
        assert!(beside.to_string().contains("`message.a`"), "{nothing:?}: {beside}");
    }
}

#[test]
fn a_text_that_only_looks_like_nothing_is_a_value() {
    for value in [
        "0",
        "00",
        "0000-00-00",
        "0000000000000000000",
        "00000000-0000-0000-0000-000000000001",
        "NULL",
        "Null",
        "none",
        "nan",
        "Unknown",
        "nil",
        "null-7",
        "nullable",
        "Nonesuch",
        "unknown.host",
        "n",
        "-",
        "é",
    ] {
        assert!(key_of(value).is_ok(), "{value:?}");
    }
    // White space around a text is part of it.
    assert_eq!(key_of(" a ").unwrap().as_str(), "msg:%20a%20");
}

/// The way out: a type that says so itself.
#[test]
fn a_type_of_ones_own_may_write_what_a_text_may_not_be() {
    struct Word(&'static str);
    impl KeyPart for Word {
        fn write(&self, out: &mut KeyWriter<'_>) {
            out.text(self.0);
        }
    }
    assert_eq!(key_of(&Word("unknown")).unwrap().as_str(), "msg:unknown");
    assert_eq!(key_of(&Word("")).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[test]
fn the_next_template_starts_afresh() {
    let mut text = KeyText::new();
    text.literal("evt:");
    text.part("message.event_id", &None::<u8>, None);
    text.literal(&"x".repeat(300));
    assert!(text.is_missing());
    text.restart();
    assert!(!text.is_missing());
    text.literal("msg:");
    text.part("message.id", &7, None);
    assert_eq!(text.finish().unwrap(), "msg:7");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_ordinary_id_stands_in_its_key_as_it_is(id in "[A-Za-z0-9._:/@+=~,;!?&*()-]{1,251}") {
        let key = key_of(&*id).unwrap();
        prop_assert_eq!(key.as_str(), format!("msg:{id}"));
        prop_assert_eq!(key.to_string(), key.as_str());
    }

    #[test]
    fn a_key_is_printable_ascii_of_at_most_255_bytes_or_an_error(id in any::<String>()) {
        match key_of(&*id) {
            Ok(key) => {
                prop_assert!(key.as_str().len() <= 255);
                prop_assert!(key.as_str().bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
                prop_assert!(!key.as_str().contains('#'));
            }
            Err(error) if id.trim().is_empty() => prop_assert_eq!(error.kind(), ErrorKind::MissingKeyPart),
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidKey);
                prop_assert!(error.to_string().contains("`message.id`"));
            }
        }
    }
}
