//! Messages of several kinds, with the identity in each.

use idem::{Key, Message, idempotent};

use crate::{Keyed, same_key};

#[derive(Message)]
enum OrderEvent {
    Created {
        #[message(id)]
        event_id: u64,
        amount: u64,
    },
    Cancelled(#[message(id)] u64),
}

impl OrderEvent {
    const fn id(&self) -> u64 {
        match self {
            Self::Created { event_id, .. } | Self::Cancelled(event_id) => *event_id,
        }
    }
}

#[idempotent(store = none, key = "evt:<event.id()>")]
fn by_a_getter(event: &OrderEvent, #[key] key: &Key) -> Keyed {
    assert!(!matches!(event, OrderEvent::Created { amount: 0, .. }));
    Ok(key.as_str().to_owned())
}

#[test]
fn a_getter_over_the_variants_is_accepted() {
    same_key(|| by_a_getter(&OrderEvent::Created { event_id: 1, amount: 2 }), "evt:1");
    same_key(|| by_a_getter(&OrderEvent::Cancelled(2)), "evt:2");
}
