//! `key!`: the same keys as a handler's, from variables.

use idem::{ErrorKind, Key, MemoryStore, idempotent, key};

struct Line {
    sku: String,
}

struct Order {
    id: u64,
    event: Option<u64>,
    lines: Vec<Line>,
    r#type: &'static str,
}

impl Order {
    const fn number(&self) -> u64 {
        self.id
    }

    fn counted(&self) -> usize {
        self.lines.len()
    }

    fn numbered_key(&self) -> Result<Key, idem::Error> {
        key!("order:<self.number()>:<self.type>", self: &Order)
    }

    fn own_key(&self) -> Result<Key, idem::Error> {
        key!("order:<self.id>")
    }
}

fn order() -> Order {
    Order { id: 7, event: None, lines: vec![Line { sku: "a4 paper".into() }], r#type: "b2b" }
}

#[test]
fn places_begin_with_variables() {
    let order = order();
    let (tenant, pair) = ("acme", (1, 2));
    assert_eq!(key!("order:<order.id>").unwrap().as_str(), "order:7");
    assert_eq!(key!("line:<tenant>:<order.lines[0].sku>").unwrap().as_str(), "line:acme:a4%20paper");
    assert_eq!(key!("k:<pair.0>-<pair.1>").unwrap().as_str(), "k:1-2");
    assert_eq!(key!("k:<order.type>").unwrap().as_str(), "k:b2b");
    assert_eq!(order.own_key().unwrap().as_str(), "order:7");
    assert_eq!(order.numbered_key().unwrap().as_str(), "order:7:b2b");
}

#[test]
fn the_key_is_that_of_a_handler() {
    #[idempotent(key = "order:<order.id>:<note>", store = store)]
    fn handle(
        order: &Order,
        note: &str,
        store: &MemoryStore,
        #[key] key: &Key,
    ) -> Result<String, idem::Error> {
        let _ = (order, note, store);
        Ok(key.to_string())
    }
    let (order, note) = (&order(), "50%:é#");
    assert_eq!(
        handle(order, note, &MemoryStore::new()).unwrap(),
        key!("order:<order.id>:<note>").unwrap().as_str()
    );
}

#[test]
fn the_first_template_with_all_its_parts_is_used() {
    let mut order = order();
    assert_eq!(key!(["evt:<order.event>", "order:<order.id>"]).unwrap().as_str(), "order:7");
    order.event = Some(3);
    assert_eq!(key!(["evt:<order.event>", "order:<order.id>"]).unwrap().as_str(), "evt:3");
}

#[test]
fn a_missing_part_and_a_long_text_are_errors() {
    let order = order();
    assert_eq!(key!("evt:<order.event>").unwrap_err().kind(), ErrorKind::MissingKeyPart);
    let long = "x".repeat(255);
    assert_eq!(key!("k:<long>").unwrap_err().kind(), ErrorKind::InvalidKey);
}

#[test]
fn a_const_method_is_proved_on_the_type_that_is_named() {
    let owned = order();
    assert_eq!(key!("order:<owned.number()>", owned: Order).unwrap().as_str(), "order:7");
    let borrowed = &owned;
    assert_eq!(key!("order:<borrowed.number()>", borrowed: &Order).unwrap().as_str(), "order:7");
    let boxed = Box::new(order());
    // Through the box, to the type that the proof is about.
    assert_eq!(key!("order:<boxed.number()>", boxed: Order).unwrap().as_str(), "order:7");
    assert_eq!(
        key!("order:<boxed.lines[0].sku>:<boxed.number()>", boxed: Order).unwrap().as_str(),
        "order:a4%20paper:7"
    );
    // Nothing was moved.
    assert_eq!(boxed.id + owned.id, 14);
}

#[test]
fn other_methods_are_vouched_for() {
    let order = order();
    let key = key!(
        "order:<order.id>:<order.counted()>",
        trust(order.counted(), reason = "an order's lines are never changed"),
    );
    assert_eq!(key.unwrap().as_str(), "order:7:1");
}

#[test]
fn it_is_an_expression_anywhere() -> Result<(), idem::Error> {
    const TENANT: &str = "acme";
    fn first(keys: &[Key]) -> &str {
        keys[0].as_str()
    }
    let id = 1;
    assert_eq!(first(&[key!("k:<id>:<TENANT>")?]), "k:1:acme");
    let keys: Vec<Key> = (0..2).map(|id| key!("k:<id>")).collect::<Result<_, _>>()?;
    assert_eq!(keys[1].as_str(), "k:1");
    let in_a_future = async { key!("k:<id>") };
    drop(in_a_future);
    Ok(())
}

macro_rules! keyed {
    ($template:literal, $name:ident) => {{
        let $name = 5;
        key!($template)
    }};
}

#[test]
fn the_template_may_be_a_fragment_of_a_macro() {
    assert_eq!(keyed!("k:<five>", five).unwrap().as_str(), "k:5");
}

/// A name of ours in the user's own code.
#[test]
fn variables_of_the_expansion_are_invisible() {
    let __idem_key = 3;
    assert_eq!(key!("k:<__idem_key>").unwrap().as_str(), "k:3");
}
