//! redis, streams.

use idem::{Key, idempotent};
use redis::streams::StreamId;

use crate::Keyed;

#[idempotent(store = none, key = "stream:<stream>:<entry.id>")]
pub async fn the_entrys_id(stream: &str, entry: &StreamId, #[key] key: &Key) -> Keyed {
    println!("{} fields", entry.map.len());
    Ok(key.to_string())
}

/// An id of the publisher's, read from the entry's map.
#[idempotent(store = none, key = "evt:<event_id>")]
pub async fn the_publishers_id(event_id: Option<String>, entry: &StreamId, #[key] key: &Key) -> Keyed {
    println!("{}", entry.id);
    Ok(key.to_string())
}
