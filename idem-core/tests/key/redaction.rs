//! What logs may show: digits of digests, and never the key, which may be somebody's e-mail address.

use idem_core::OnLapse;
use idem_core::machine::Claim;
use idem_core::{Body, KeyPart, KeyWriter, Namespace, Token};

use super::*;

const ADDRESS: &str = "anna@example.com";

fn shows_nothing(shown: &str) {
    assert!(!shown.contains("anna") && !shown.contains("example"), "{shown}");
    // Nor as a list of bytes.
    assert!(!shown.contains("97, 110, 110, 97"), "{shown}");
}

#[test]
fn a_key_shows_eight_digits_in_debug_and_its_text_only_when_asked() {
    let key = key_of(ADDRESS).unwrap();
    assert_eq!(format!("{key:?}"), "Key(1165e4ea)");
    assert_eq!(format!("{key:#?}"), "Key(1165e4ea)");
    assert_eq!(key.to_string(), "msg:anna@example.com");
    assert_eq!(format!("{key:>22}"), "  msg:anna@example.com");
    shows_nothing(&format!("{:?}", key.step(ADDRESS)));
    shows_nothing(&format!("{:?}", Some(&key)));
}

#[test]
fn a_record_shows_eight_digits_and_its_namespace_none() {
    let space = Namespace::new("shop", "anna", "billing.charge");
    let id = space.record("msg:anna@example.com");
    let shown = format!("{id:?}");
    assert_eq!(shown.len(), 8);
    assert!(shown.bytes().all(|digit| digit.is_ascii_hexdigit()));
    shows_nothing(&format!("{space:?}"));
    let claim = Claim {
        id,
        token: Token::fresh(),
        fingerprint: None,
        lease: std::time::Duration::ZERO,
        keep: std::time::Duration::ZERO,
        on_lapse: OnLapse::Rerun,
        max_tries: 1,
        durable: false,
    };
    shows_nothing(&format!("{claim:?}"));
}

#[test]
fn errors_name_the_part_and_not_what_it_held() {
    let long = ADDRESS.repeat(20);
    let errors = [
        key_of(&*long).unwrap_err(),
        render(&["msg:", ":"], &[ADDRESS, ""]).unwrap_err(),
        Key::trusted("anna example", "a test").unwrap_err(),
        Key::trusted(&long, "a test").unwrap_err(),
    ];
    for error in errors {
        shows_nothing(&format!("{error:?}"));
        shows_nothing(&format!("{error}"));
        shows_nothing(&format!("{:?}", std::io::Error::from(error)));
    }
}

#[test]
fn a_key_being_rendered_does_not_show_its_text() {
    struct Shown;
    impl KeyPart for Shown {
        fn write(&self, out: &mut KeyWriter<'_>) {
            out.text(ADDRESS);
            shows_nothing(&format!("{out:?}"));
        }
    }
    let mut text = KeyText::new();
    text.part("message.id", &Shown, None);
    shows_nothing(&format!("{text:?}"));
}

#[test]
fn a_stored_result_shows_its_length() {
    assert_eq!(format!("{:?}", Body::copy_from(ADDRESS.as_bytes())), "Body(16 bytes)");
}
