//! Keys of steps, and keys on somebody's word.

use std::collections::HashMap;

use idem_core::ErrorKind;
use proptest::prelude::*;

use super::*;

#[test]
fn a_step_is_named_behind_a_hash_sign() {
    let key = key_of("8f14").unwrap();
    assert_eq!(key.step("capture").as_str(), "msg:8f14#capture");
    assert_eq!(key.step("capture").step("mail").as_str(), "msg:8f14#capture#mail");
    assert_eq!(key.step("a#b").as_str(), "msg:8f14#a%23b");
    assert_eq!(key.step("a b%é").as_str(), "msg:8f14#a%20b%25%C3%A9");
    assert_eq!(key.step("").as_str(), "msg:8f14#");
}

// The digests were computed by another program.
#[test]
fn a_step_that_is_too_long_becomes_a_digest_behind_the_prefix() {
    let key = key_of("8f14").unwrap();
    let longest = key.step(&"x".repeat(246));
    assert_eq!(longest.as_str(), format!("msg:8f14#{}", "x".repeat(246)));
    assert_eq!(
        key.step(&"x".repeat(247)).as_str(),
        "msg:#30d966c9d425b9e696951c925f5fba449ec15f2869805012ffd012b451d8bb25"
    );
    assert_eq!(
        key.step(&"é".repeat(60)).as_str(),
        "msg:#c8c5b982807e319e7cb70b68dba69aa514141edc9276ba5dcc5c64e3ef91bb03"
    );
    // A prefix that no template can have still leaves room for the digest.
    let odd = Key::trusted("x".repeat(255), "a test").unwrap().step("capture");
    assert_eq!(odd.as_str().len(), 65);
    let odd = Key::trusted(format!("{}:x", "x".repeat(253)), "a test").unwrap().step("capture");
    assert_eq!(odd.as_str().len(), 255);
}

#[test]
fn trusted_text_is_taken_as_it_is_if_it_can_be_a_key() {
    let reason = "the nominal date of the run";
    let longest = "x".repeat(255);
    assert_eq!(Key::trusted(&longest, reason).unwrap().as_str(), longest);
    assert_eq!(Key::trusted("report:2026-11-30", reason).unwrap().to_string(), "report:2026-11-30");
    assert_eq!(Key::trusted("", reason).unwrap_err().kind(), ErrorKind::MissingKeyPart);
    for text in ["x".repeat(256).as_str(), "a b", "é", "\0", "a\n", "\u{7f}"] {
        assert_eq!(Key::trusted(text, reason).unwrap_err().kind(), ErrorKind::InvalidKey, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_steps_have_one_key_only_if_they_are_equal(
        one in ("[a-c:%]{1,3}", "[ab#%é]{0,3}|\\PC{100,200}"),
        other in ("[a-c:%]{1,3}", "[ab#%é]{0,3}|\\PC{100,200}"),
    ) {
        let step = |(id, name): &(String, String)| key_of(&**id).unwrap().step(name);
        prop_assert_eq!(step(&one) == step(&other), one == other);
        prop_assert_ne!(step(&one).step("a"), step(&one));
    }

    #[test]
    fn a_step_is_a_key_that_no_message_has(id in any::<String>(), name in any::<String>()) {
        if let Ok(key) = key_of(&*id) {
            let step = key.step(&name);
            prop_assert!(step.as_str().len() <= 255);
            prop_assert!(step.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
            // A message's own key has no `#`.
            prop_assert!(step.as_str().starts_with("msg:"));
            prop_assert!(step.as_str().contains('#') && !key.as_str().contains('#'));
        }
    }
}

#[test]
fn no_two_chains_of_short_steps_have_one_key() {
    let names = ["", "a", "b", "#", "%", "a#b", "%23", "a%23b", "é"];
    let mut seen = HashMap::new();
    let mut look = |key: Key, chain: String| {
        if let Some(other) = seen.insert(key, chain.clone()) {
            panic!("{other} and {chain}");
        }
    };
    for id in ["1", "2", "a", "%23"] {
        let key = key_of(id).unwrap();
        look(key.clone(), id.to_owned());
        for first in names {
            look(key.step(first), format!("{id} / {first}"));
            for second in names {
                look(key.step(first).step(second), format!("{id} / {first} / {second}"));
            }
        }
    }
}
