//! async-nats.

use async_nats::jetstream;
use async_nats::jetstream::message::Info;
use async_nats::{HeaderMap, Message, Subject};
use idem::{Key, idempotent};

use crate::Keyed;

/// The position in the stream, which a redelivery keeps.
#[idempotent(store = none, key = "js:<info.stream>:<info.stream_sequence>")]
pub async fn the_place_in_the_stream(
    info: &Info<'_>,
    message: &jetstream::Message,
    #[key] key: &Key,
) -> Keyed {
    println!("delivered {} times, {} bytes", info.delivered, message.payload.len());
    Ok(key.to_string())
}

/// The publisher's id, which survives a republish.
#[idempotent(store = none, key = "nats:<id>")]
pub async fn the_publishers_id(id: &str, headers: &HeaderMap, #[key] key: &Key) -> Keyed {
    println!("{} headers", headers.len());
    Ok(key.to_string())
}

/// One effect for each subject: `users.7.registered`.
#[idempotent(store = none, key = "welcome:<subject>", once_per = "user")]
pub async fn the_subject(subject: &Subject, message: &Message, #[key] key: &Key) -> Keyed {
    println!("{:?} bytes, answer to {:?}", message.length, message.reply);
    Ok(key.to_string())
}

/// The key goes on as the id of what is published.
#[idempotent(store = none, key = "js:<info.stream>:<info.stream_sequence>")]
pub async fn published_again_under_the_key(
    info: &Info<'_>,
    client: &async_nats::Client,
    #[key] key: &Key,
) -> Keyed {
    let mut headers = HeaderMap::new();
    headers.insert(async_nats::header::NATS_MESSAGE_ID, key.as_str());
    let sent = client.publish_with_headers("shipped", headers, "{}".into()).await;
    println!("{}: {}", info.consumer_sequence, sent.is_ok());
    Ok(key.to_string())
}
