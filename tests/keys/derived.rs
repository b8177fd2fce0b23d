//! `#[derive(KeyPart)]`: the one text of each type.

use std::marker::PhantomData;
use std::sync::Arc;

use idem::{ErrorKind, KeyPart, key};

/// The text behind the prefix.
fn text(part: impl KeyPart) -> String {
    key!("k:<part>").unwrap().as_str()["k:".len()..].to_owned()
}

#[derive(KeyPart)]
struct OrderId(u64);

#[derive(KeyPart)]
struct Sku {
    code: String,
}

#[test]
fn a_newtype_has_the_text_of_what_it_holds() {
    assert_eq!(text(OrderId(42)), "42");
    assert_eq!(text(Sku { code: "a/b~c".into() }), "a/b~c");
    assert_eq!(text(Arc::new(OrderId(7))), "7");
}

#[derive(KeyPart)]
struct Line {
    order: OrderId,
    sku: Sku,
    amount: Option<u32>,
}

#[test]
fn a_struct_has_the_texts_of_its_fields_in_their_order() {
    let line = |code: &str, amount| Line { order: OrderId(42), sku: Sku { code: code.into() }, amount };
    assert_eq!(text(line("paper", Some(3))), "42/paper/3");
    assert_eq!(text(line("a/b~c", Some(3))), "42/a~1b~0c/3");
    assert_eq!(text(line("ä", Some(0))), "42/%C3%A4/0");
}

#[test]
fn one_missing_field_is_the_whole() {
    let line = Line { order: OrderId(42), sku: Sku { code: "paper".into() }, amount: None };
    assert_eq!(key!("k:<line>").unwrap_err().kind(), ErrorKind::MissingKeyPart);
    let line = Line { order: OrderId(42), sku: Sku { code: String::new() }, amount: Some(1) };
    assert_eq!(key!("k:<line>:<line.order>").unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[test]
fn a_struct_inside_of_a_template_ends_where_the_template_says() {
    let line = Line { order: OrderId(42), sku: Sku { code: "a/b:c".into() }, amount: Some(3) };
    assert_eq!(key!("k:<line>:<line.order>").unwrap().as_str(), "k:42/a~1b%3Ac/3:42");
    assert_eq!(key!("k:<line>/<line.order>").unwrap().as_str(), "k:42%2Fa~1b:c%2F3/42");
}

#[derive(KeyPart)]
enum Status {
    Paid,
    PartiallyRefunded,
    SEPADebit,
    V2,
    #[key(rename = "sent/out")]
    HandedOver,
    r#Type,
}

#[derive(KeyPart)]
struct Event {
    status: Status,
    order: OrderId,
}

#[test]
fn an_enum_has_its_variants_names_in_snake_case() {
    assert_eq!(text(Status::Paid), "paid");
    assert_eq!(text(Status::PartiallyRefunded), "partially_refunded");
    assert_eq!(text(Status::SEPADebit), "sepa_debit");
    assert_eq!(text(Status::V2), "v2");
    assert_eq!(text(Status::HandedOver), "sent/out");
    assert_eq!(text(Status::Type), "type");
    assert_eq!(text(Event { status: Status::HandedOver, order: OrderId(1) }), "sent~1out/1");
}

#[derive(KeyPart)]
struct Id<T>(u64, PhantomData<fn() -> T>);

#[derive(KeyPart)]
struct Scoped<'a, T, const N: usize>
where
    T: Clone,
{
    tenant: &'a str,
    digest: [u8; N],
    value: Option<T>,
}

struct NoPart;

#[test]
fn parameters_are_asked_only_for_what_the_fields_need() {
    assert_eq!(text(Id::<NoPart>(7, PhantomData)), "7");
    assert_eq!(text(Scoped { tenant: "acme", digest: [1, 255], value: Some("x") }), "acme/01ff/x");
}

/// A type of a name that others have for a clock, and that is a part.
#[derive(KeyPart)]
struct Instant(u32);

#[derive(KeyPart)]
struct Tick {
    at: Instant,
    bytes: Vec<u8>,
}

#[test]
fn whether_a_type_is_a_part_is_not_told_by_its_name() {
    assert_eq!(text(Tick { at: Instant(3), bytes: vec![10] }), "3/0a");
}

macro_rules! newtype {
    ($name:ident, $inner:ty) => {
        #[derive(KeyPart)]
        struct $name($inner);
    };
}
newtype!(FromAMacro, u16);

#[test]
fn a_type_may_come_out_of_a_macro() {
    assert_eq!(text(FromAMacro(9)), "9");
}
