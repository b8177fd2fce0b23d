//! The one text of each type that can be a part.

use std::borrow::Cow;
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use idem_core::KeyWriter;

use super::text_of as text;
use super::*;

#[test]
fn integers_are_decimal() {
    assert_eq!(text(&0_u8), "0");
    assert_eq!(text(&u128::MAX), "340282366920938463463374607431768211455");
    assert_eq!(text(&i128::MIN), "-170141183460469231731687303715884105728");
    assert_eq!(text(&-1_i8), "-1");
    assert_eq!(text(&usize::MAX), usize::MAX.to_string());
    assert_eq!(text(&NonZero::new(7_u32).unwrap()), "7");
}

#[test]
fn the_sign_of_a_number_is_encoded_before_a_literal_that_begins_with_it() {
    let mut key = KeyText::new();
    key.literal("msg:");
    key.part("a", &-1, Some(b'-'));
    key.literal("-");
    key.part("b", &-2, None);
    assert_eq!(key.finish().unwrap(), "msg:%2D1--2");
}

#[test]
fn words_and_characters_are_themselves() {
    assert_eq!(text(&true), "true");
    assert_eq!(text(&'x'), "x");
    assert_eq!(text(&'é'), "%C3%A9");
    assert_eq!(text(&String::from("id")), "id");
}

#[test]
fn bytes_are_lower_case_hex() {
    assert_eq!(text(&[0x00_u8, 0x0a, 0xff]), "000aff");
    assert_eq!(text(&[0xde_u8, 0xad][..]), "dead");
    assert_eq!(text(&vec![0xde_u8, 0xad]), "dead");
    assert_eq!(key_of(&[0_u8; 0]).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[test]
fn an_address_is_as_it_is_usually_written() {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    let short: Ipv6Addr = "2001:0DB8:0:0::1".parse().unwrap();
    assert_eq!(text(&Ipv4Addr::new(192, 0, 2, 1)), "192.0.2.1");
    assert_eq!(text(&short), "2001:db8::1");
    assert_eq!(text(&IpAddr::from(short)), "2001:db8::1");
    assert_eq!(text(&IpAddr::from([192, 0, 2, 1])), "192.0.2.1");
    assert_eq!(text(&Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped()), "::ffff:192.0.2.1");
}

#[test]
fn pointers_are_what_they_point_to() {
    assert_eq!(text(&&"id"), "id");
    assert_eq!(text(&&mut "id"), "id");
    assert_eq!(text(&Box::<str>::from("id")), "id");
    assert_eq!(text(&Rc::<str>::from("id")), "id");
    assert_eq!(text(&Rc::new(7)), "7");
    assert_eq!(text(&Arc::<str>::from("id")), "id");
    assert_eq!(text(&Cow::Borrowed("id")), "id");
    assert_eq!(text(&Some(&Some("id"))), "id");
    assert_eq!(key_of(&Some(&None::<u8>)).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[test]
fn a_part_may_be_written_by_hand_in_several_pieces() {
    struct Invoice {
        year: u16,
        number: u32,
    }
    impl KeyPart for Invoice {
        fn write(&self, out: &mut KeyWriter<'_>) {
            out.display(self.year);
            out.text("/");
            out.display(format_args!("{:06}", self.number));
        }
    }
    assert_eq!(text(&Invoice { year: 2026, number: 42 }), "2026/000042");
}

#[test]
fn a_display_that_fails_leaves_no_half_a_part() {
    struct Half;
    impl std::fmt::Display for Half {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("half")?;
            Err(std::fmt::Error)
        }
    }
    impl KeyPart for Half {
        fn write(&self, out: &mut KeyWriter<'_>) {
            out.display(self);
        }
    }
    assert_eq!(key_of(&Half).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}
