//! The fingerprint: which payloads are equal, and the format that says so.

use std::collections::{BTreeMap, HashMap};

use idem_core::{Disposition, ErrorKind, Fingerprint};
use proptest::prelude::*;
use serde::{Serialize, Serializer};

#[derive(Serialize)]
struct Payment {
    amount: u64,
    currency: &'static str,
    note: Option<&'static str>,
}

#[derive(Serialize)]
enum Event {
    Closed,
    Renamed(String),
    Moved(u8, u8),
    Paid { amount: u64 },
}

#[derive(Serialize)]
struct Cents(u64);

#[derive(Serialize)]
struct Point(i32, i32);

#[derive(Serialize)]
struct Marker;

struct Raw(&'static [u8]);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

fn of<T: Serialize + ?Sized>(value: &T) -> Fingerprint {
    Fingerprint::of(value).unwrap()
}

#[track_caller]
fn vector<T: Serialize + ?Sized>(value: &T, expected: &str) {
    assert_eq!(format!("{:032x}", u128::from_be_bytes(*of(value).as_bytes())), expected);
}

/// Computed from the written format by another program.
#[test]
fn the_format_is_pinned_by_vectors_of_every_kind() {
    vector(&None::<u8>, "9a4cf0b7439719f13bbed7af65a45882");
    vector(&Some(5_u8), "5b7e726e8c91534d33392f16efcd98c6");
    vector(&(), "6e675deed828afa23baa8edba68ee844");
    vector(&false, "2f2bb815154d1b03e1a2a4f8fc561990");
    vector(&true, "917460bc417072a51dcb9c59684a1204");
    vector(&0_u8, "0fd2e97fe9f4f2b36db4657dd8d924e1");
    vector(&5_u64, "30706e9badc23e8ce56cb241b213d750");
    vector(&256_u16, "e7fe991887a49374bbd7315c925dd348");
    vector(&u128::MAX, "c25b9ac87002aa04b9ca74d4906f49fd");
    vector(&-1_i8, "9d5013b637c1cb6915dfef13875abccc");
    vector(&-256_i32, "9ac46766444bdf0b9a9b62b10da9ee3f");
    vector(&-257_i64, "63f91875ea083b7b3cfe4b48fa2a7719");
    vector(&i128::MIN, "ca459466f6556cbc63b80169c5959fea");
    vector(&i128::MAX, "4880378ae5f7add49a461cc082ff5a8f");
    vector(&1.5_f64, "de7a31648a86cecc8beb8096638eb938");
    vector(&1.5_f32, "de7a31648a86cecc8beb8096638eb938");
    vector(&-0.0_f64, "d6341631f53c2578c8c81ca92e0f5a32");
    vector(&f64::NAN, "caa8f457fad7883dfce2f1ce94af321e");
    vector(&'é', "cfea73c0865928f7070efaf37c73ce65");
    vector("", "bbf3e556bfce85fde4f22cb3a217a648");
    vector("msg", "d45b9c3c74be27d665d38cfa2a36e482");
    vector(&*"x".repeat(300), "f60a55730a949409b2c497f18c36a923");
    vector(&Raw(b"msg"), "d4eb6681685857cb3b6833351cffcb5c");
    vector(&Marker, "469809f503f9abe77afa720c8b5d1487");
    vector(&Cents(1200), "9ccbf5d8ab0a0e178a5ebc8ea792798e");
    vector(&vec![1_u8, 2], "c9e3634f380c433aceac4287dbac5df5");
    vector(&[1_u8, 2], "2e2de3d8d7ea141626a270ad668c5315");
    vector(&(1_u8, "a"), "56dfc758468da95a991a5edc91a78950");
    vector(&Point(3, -4), "0a633fef4dc5563afa7b0a7aab289145");
    vector(&HashMap::from([("b", 2_u8), ("a", 1), ("aa", 3)]), "0b34c99c77e88dcaad8f61de31e03d5a");
    vector(&nested(), "0ae3afe9bdf2649941579bbb4da3d0be");
    vector(&Payment { amount: 1200, currency: "EUR", note: None }, "8ca7f5f607f1e9705f456d7d2ea156cd");
    vector(&Event::Closed, "03411eeef469dec1c9bfa1fd22104463");
    vector(&Event::Renamed("b".into()), "5b230185a59cb24d2b15bd52bfd1cf13");
    vector(&Event::Moved(1, 2), "e90be070c081fbbeee7ac48b82eeb206");
    vector(&Event::Paid { amount: 450 }, "303b6b89c2143a624b0272cc1019d97c");
}

fn nested() -> HashMap<u8, BTreeMap<&'static str, u8>> {
    HashMap::from([(9, BTreeMap::from([("x", 1), ("y", 2)])), (1, BTreeMap::new())])
}

#[test]
fn a_widened_field_is_the_same_payload() {
    #[derive(Serialize)]
    #[serde(rename = "Payment")]
    struct Narrow {
        amount: u16,
        currency: String,
        note: Option<String>,
    }
    let narrow = Narrow { amount: 1200, currency: "EUR".into(), note: None };
    assert_eq!(of(&narrow), of(&Payment { amount: 1200, currency: "EUR", note: None }));
    assert_eq!(of(&5_i8), of(&5_u128));
    assert_eq!(of(&-5_i8), of(&-5_i128));
    assert_eq!(of(&0.25_f32), of(&0.25_f64));
}

#[test]
fn minus_zero_and_zero_are_one_and_so_is_every_nan() {
    assert_eq!(of(&-0.0_f64), of(&0.0_f64));
    assert_eq!(of(&-0.0_f32), of(&0.0_f64));
    assert_eq!(of(&f64::NAN), of(&-f64::NAN));
    assert_eq!(of(&f64::NAN), of(&f64::from_bits(0x7ff0_0000_0000_0001)));
    assert_ne!(of(&f64::NAN), of(&f64::INFINITY));
    assert_ne!(of(&0.0_f64), of(&0_u8));
}

#[test]
fn values_of_another_kind_are_other_payloads() {
    let kinds = [
        of(&None::<u8>),
        of(&()),
        of(&Marker),
        of(&1_u8),
        of(&true),
        of(&Some(1_u8)),
        of(&Cents(1)),
        of(&"1"),
        of(&'1'),
        of(&Raw(b"1")),
        of(&[1_u8]),
        of(&vec![1_u8]),
        of(&1.0_f64),
        of(&Event::Paid { amount: 1 }),
    ];
    for (at, one) in kinds.iter().enumerate() {
        assert!(!kinds[at + 1..].contains(one), "value {at} looks like a later one");
    }
}

#[test]
fn names_of_types_fields_and_variants_count() {
    #[derive(Serialize)]
    struct Refund {
        amount: u64,
        currency: &'static str,
        note: Option<&'static str>,
    }
    #[derive(Serialize)]
    enum Other {
        Closed,
    }
    let refund = Refund { amount: 1, currency: "EUR", note: None };
    assert_ne!(of(&refund), of(&Payment { amount: 1, currency: "EUR", note: None }));
    assert_ne!(of(&Other::Closed), of(&Event::Closed));
}

#[test]
fn an_optional_field_that_is_skipped_does_not_count() {
    #[derive(Serialize)]
    #[serde(rename = "Payment")]
    struct Newer {
        amount: u64,
        currency: &'static str,
        note: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        coupon: Option<&'static str>,
    }
    let mut newer = Newer { amount: 1, currency: "EUR", note: None, coupon: None };
    let payment = Payment { amount: 1, currency: "EUR", note: None };
    assert_eq!(of(&newer), of(&payment));
    newer.coupon = Some("");
    assert_ne!(of(&newer), of(&payment));
}

#[test]
fn types_with_two_forms_show_the_readable_one() {
    let address = std::net::IpAddr::from([127, 0, 0, 1]);
    assert_eq!(of(&address), of("127.0.0.1"));
}

#[test]
fn a_payload_that_cannot_be_shown_is_for_a_person() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("the lock is poisoned"))
        }
    }
    let error = Fingerprint::of(&(1_u8, Broken)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPayload);
    assert_eq!(error.to_string(), "the payload cannot be fingerprinted: the lock is poisoned");
    assert!(matches!(error.disposition(), Disposition::Park(_)));
}

#[test]
fn a_value_that_swallows_an_error_inside_a_map_is_refused() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let map = serializer.serialize_map(None)?;
            drop(map);
            Err(serde::ser::Error::custom("no"))
        }
    }
    struct Swallows;
    impl Serialize for Swallows {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = serializer.serialize_seq(None)?;
            let _ = seq.serialize_element(&Broken);
            seq.serialize_element(&1_u8)?;
            seq.end()
        }
    }
    assert_eq!(Fingerprint::of(&Swallows).unwrap_err().kind(), ErrorKind::InvalidPayload);
}

/// A value of every kind, in the form in which equal values are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Unit,
    Bool(bool),
    Int(i128),
    Char(char),
    Text(String),
    Bytes(Vec<u8>),
    Option(Option<Box<Value>>),
    Seq(Vec<Value>),
    Pair(Box<(Value, Value)>),
    Map(BTreeMap<String, Value>),
    Variant(&'static str, Box<Value>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unit => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i128(*value),
            Self::Char(value) => serializer.serialize_char(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::Option(value) => value.serialize(serializer),
            Self::Seq(values) => values.serialize(serializer),
            Self::Pair(pair) => pair.serialize(serializer),
            Self::Map(entries) => entries.serialize(serializer),
            Self::Variant(name, value) => serializer.serialize_newtype_variant("Value", 0, name, value),
        }
    }
}

/// Few values of each kind, so that near misses are frequent.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Unit),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![-2..3_i128, Just(255), Just(256), any::<i128>()].prop_map(Value::Int),
        prop_oneof![Just('a'), Just('é')].prop_map(Value::Char),
        "[ab\u{ff}]{0,2}".prop_map(Value::Text),
        prop::collection::vec(prop_oneof![Just(0_u8), Just(9), Just(255)], 0..3).prop_map(Value::Bytes),
        Just(Value::Option(None)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|value| Value::Option(Some(Box::new(value)))),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Seq),
            (inner.clone(), inner.clone()).prop_map(|pair| Value::Pair(Box::new(pair))),
            prop::collection::btree_map("[ab]{0,2}", inner.clone(), 0..3).prop_map(Value::Map),
            (prop_oneof![Just("A"), Just("AB")], inner)
                .prop_map(|(name, value)| Value::Variant(name, Box::new(value))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_values_have_one_fingerprint_only_if_they_are_equal(one in values(), other in values()) {
        prop_assert_eq!(of(&one) == of(&other), one == other);
    }

    #[test]
    fn the_same_value_always_has_the_same_fingerprint(value in values()) {
        prop_assert_eq!(of(&value), of(&value.clone()));
        prop_assert_eq!(of(&value), of(&&value));
    }

    #[test]
    fn the_order_of_a_map_does_not_count(entries in prop::collection::vec(("[a-c]{0,3}", values()), 0..6).prop_shuffle()) {
        struct AsGiven<'v>(&'v [(String, Value)]);
        impl Serialize for AsGiven<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
            }
        }
        let mut turned = entries.clone();
        turned.reverse();
        prop_assert_eq!(of(&AsGiven(&entries)), of(&AsGiven(&turned)));
        prop_assert_eq!(of(&(AsGiven(&entries), 1)), of(&(AsGiven(&turned), 1)));
    }
}
