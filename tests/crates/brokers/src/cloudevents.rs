//! cloudevents-sdk. Source and id together are the identity, as the specification says.

use cloudevents::{AttributesReader as _, Event};
use idem::{Key, idempotent};

use crate::Keyed;

#[idempotent(
    store = none,
    key = "ce:<event.source()>:<event.id()>",
    trust(event.source(), reason = "an attribute of the event"),
    trust(event.id(), reason = "an attribute of the event")
)]
pub async fn source_and_id(event: &Event, #[key] key: &Key) -> Keyed {
    println!("{} at {:?}", event.ty(), event.time());
    Ok(key.to_string())
}

/// What was read from it before.
#[idempotent(store = none, key = "ce:<source>:<id>")]
pub async fn read_before(source: &str, id: &str, event: Event, #[key] key: &Key) -> Keyed {
    println!("{} of {source}: {:?}", id, event.data());
    Ok(key.to_string())
}

/// An event of ours, under an id that is made of the key.
#[idempotent(
    store = none,
    key = "ce:<event.source()>:<event.id()>",
    trust(event.source(), reason = "an attribute of the event"),
    trust(event.id(), reason = "an attribute of the event")
)]
pub async fn answered_by_an_event(event: &Event, #[key] key: &Key) -> Keyed {
    use cloudevents::{EventBuilder as _, EventBuilderV10};

    let answer = EventBuilderV10::new()
        .id(key.step("answer").as_str())
        .ty("shipped")
        .source(event.source().as_str())
        .build();
    Ok(answer.map_or_else(|_| key.to_string(), |answer| answer.id().to_owned()))
}
