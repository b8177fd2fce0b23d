//! rumqttc. MQTT 3.1.1 has no place for an id but the payload.

use idem::{Key, Message, idempotent};
use rumqttc::Publish;

use crate::Keyed;

#[derive(Message, serde::Deserialize)]
pub struct Reading {
    #[message(id)]
    pub reading_id: String,
    pub celsius: i32,
}

#[idempotent(store = none, key = "reading:<reading.reading_id>")]
pub async fn an_id_of_the_payload(reading: Reading, publish: &Publish, #[key] key: &Key) -> Keyed {
    println!("{} on {}, packet {}, again: {}", reading.celsius, publish.topic, publish.pkid, publish.dup);
    Ok(key.to_string())
}
