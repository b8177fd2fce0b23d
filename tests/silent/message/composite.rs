//! Keys of several parts, of which none is an id by itself, and keys that say what they mean.

use idem::{Key, idempotent};

use crate::{Keyed, same_key};

struct Change {
    order_id: u64,
    version: u32,
    status: String,
    customer_id: u64,
    amount: u64,
    created_at: u64,
    bucket: String,
    key: String,
    attempt_id: u64,
    nonce: u64,
    request_id: String,
    delivery_tag: String,
}

fn change() -> Change {
    Change {
        order_id: 1,
        version: 2,
        status: "paid".into(),
        customer_id: 3,
        amount: 1200,
        created_at: 4,
        bucket: "b".into(),
        key: "k".into(),
        attempt_id: 5,
        nonce: 6,
        request_id: "r".into(),
        delivery_tag: "left at the door".into(),
    }
}

macro_rules! handlers {
    ($($name:ident, $key:literal $(, $option:ident $given:tt)* => $expected:literal;)*) => {
        $(
            #[idempotent(store = none, key = $key $(, $option $given)*)]
            fn $name(change: &Change, #[key] key: &Key) -> Keyed {
                assert_eq!(change.amount, 1200);
                Ok(key.as_str().to_owned())
            }
        )*

        #[test]
        fn composite_keys_stay_silent() {
            let change = change();
            $(same_key(|| $name(&change), $expected);)*
        }
    };
}

handlers! {
    entity_and_version, "order:<change.order_id>:<change.version>" => "order:1:2";
    entity_and_what_happened, "order:<change.order_id>:<change.status>" => "order:1:paid";
    what_happened_in_the_prefix, "order-paid:<change.order_id>" => "order-paid:1";
    account_and_statement_date, "statement:<change.customer_id>:<change.created_at>" => "statement:3:4";
    object_in_a_bucket, "s3:<change.bucket>:<change.key>" => "s3:b:k";
    attempt_of_an_exam, "exam:<change.attempt_id>" => "exam:5";
    nonce_of_a_transfer, "transfer:<change.customer_id>:<change.nonce>" => "transfer:3:6";
    request_id_of_the_client, "mint:<change.request_id>" => "mint:r";
    tag_that_a_courier_leaves, "parcel:<change.order_id>:<change.delivery_tag>",
        allow(key_per_delivery_name, reason = "a word of the courier's") => "parcel:1:left%20at%20the%20door";
    payload_that_is_meant, "charge:<change.customer_id>:<change.amount>",
        allow(key_payload_only, reason = "the shop sells each amount once a customer") => "charge:3:1200";
    position_in_the_only_row, "step:<change.version>",
        allow(key_position_alone, reason = "there is one ledger") => "step:2";
}

#[idempotent(store = none, key = "welcome:<change.customer_id>", once_per = "customer")]
fn once_per_customer(change: &Change, #[key] key: &Key) -> Keyed {
    assert_eq!(change.amount, 1200);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "run:<date>")]
fn nominal_date(date: &str, #[key] key: &Key) -> Keyed {
    assert_eq!(date.len(), 10);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "kafka:<topic>:<partition>:<offset>")]
fn arguments_of_their_own(topic: &str, partition: i32, offset: i64, #[key] key: &Key) -> Keyed {
    assert!(topic.len() == 1 && partition + 3 == 4 && offset == 2);
    Ok(key.as_str().to_owned())
}

#[test]
fn what_is_said_or_given_by_itself_stays_silent() {
    same_key(|| once_per_customer(&change()), "welcome:3");
    same_key(|| nominal_date("2026-11-30"), "run:2026-11-30");
    same_key(|| arguments_of_their_own("t", 1, 2), "kafka:t:1:2");
}
