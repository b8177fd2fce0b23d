//! Messages behind pointers and in the wrappers of frameworks.

use std::rc::Rc;
use std::sync::Arc;

use idem::{Key, Message, idempotent};

use crate::{Keyed, same_key};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: u64,
    amount: u64,
}

fn payment() -> Payment {
    Payment { id: 1, amount: 2 }
}

macro_rules! behind {
    ($($name:ident($($pattern:tt)+): $ty:ty = $given:expr, $amount:expr;)*) => {
        $(
            #[idempotent(store = none, key = "msg:<payment.id>")]
            fn $name($($pattern)+: $ty, #[key] key: &Key) -> Keyed {
                assert_eq!($amount, 2);
                Ok(key.as_str().to_owned())
            }
        )*

        #[test]
        fn pointers_and_wrappers_change_nothing() {
            $(same_key(|| $name($given), "msg:1");)*
        }
    };
}

struct Json<T>(T);

behind! {
    by_value(payment): Payment = payment(), payment.amount;
    by_reference(payment): &Payment = &payment(), payment.amount;
    by_mutable_reference(payment): &mut Payment = &mut payment(), payment.amount;
    in_a_box(payment): Box<Payment> = Box::new(payment()), payment.amount;
    in_an_arc(payment): Arc<Payment> = Arc::new(payment()), payment.amount;
    in_an_rc(payment): &Rc<Payment> = &Rc::new(payment()), payment.amount;
    in_a_wrapper(Json(payment)): Json<Payment> = Json(payment()), payment.amount;
    in_a_wrapper_by_reference(Json(payment)): Json<&Payment> = Json(&payment()), payment.amount;
}

/// What is no message is not asked, and `impl Trait` cannot be.
#[idempotent(store = none, key = "msg:<id>", scope = "silent.impl_trait")]
fn beside_an_impl_trait(id: u64, other: impl Message, #[key] key: &Key) -> Keyed {
    let _ = (id, other);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<payment.id>")]
async fn in_the_background(payment: Arc<Payment>, #[key] key: &Key) -> Keyed {
    assert_eq!(payment.amount, 2);
    Ok(key.as_str().to_owned())
}

#[test]
fn neither_do_futures_nor_opaque_types() {
    same_key(|| beside_an_impl_trait(1, payment()), "msg:1");
    same_key(|| futures::executor::block_on(in_the_background(Arc::new(payment()))), "msg:1");
}
