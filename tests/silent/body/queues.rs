//! Messages that are sent on.

use std::collections::HashMap;
use std::time::SystemTime;

use idem::idempotent;
use uuid::Uuid;

use super::Done;
use super::outside::{SendMessage, log, named_id};

#[allow(clippy::struct_field_names, reason = "as in the crate")]
struct Delivery {
    message_id: String,
    delivery_tag: u64,
    receipt_handle: String,
    redelivered: bool,
    headers: HashMap<String, String>,
    body: String,
}

#[idempotent(key = "rabbit:<delivery.message_id>")]
async fn the_id_that_came_is_sent_on(delivery: Delivery) -> Done {
    SendMessage::default().message_body(delivery.body).message_id(&delivery.message_id).send().await
}

#[idempotent(key = "rabbit:<delivery.message_id>")]
async fn an_id_made_of_the_one_that_came(delivery: Delivery) -> Done {
    let id = format!("{}:shipped", delivery.message_id);
    SendMessage::default().message_deduplication_id(id).send().await
}

#[idempotent(key = "rabbit:<delivery.message_id>")]
async fn a_named_id(delivery: Delivery) -> Done {
    SendMessage::default().message_id(named_id(&delivery.message_id)).send().await
}

#[idempotent(key = "rabbit:<delivery.message_id>")]
async fn a_fresh_correlation_id(delivery: Delivery) -> Done {
    let correlation = Uuid::new_v4();
    SendMessage::default()
        .correlation_id(correlation)
        .message_deduplication_id(&delivery.message_id)
        .send()
        .await
}

#[idempotent(key = "rabbit:<delivery.message_id>")]
async fn acknowledged_by_its_tag(delivery: Delivery) -> Done {
    log(format!("ack {}", delivery.delivery_tag));
    SendMessage::default().message_id(&delivery.message_id).send().await
}

#[idempotent(key = "sqs:<delivery.message_id>")]
async fn deleted_by_its_receipt(delivery: Delivery) -> Done {
    SendMessage::default().message_deduplication_id(&delivery.message_id).send().await?;
    log(&delivery.receipt_handle);
    Ok(())
}

#[idempotent(key = "rabbit:<delivery.message_id>")]
async fn a_warning_when_it_comes_again(delivery: Delivery) -> Done {
    if delivery.redelivered {
        log("again");
    }
    SendMessage::default().message_id(&delivery.message_id).send().await
}

#[idempotent(key = "nats:<delivery.message_id>")]
async fn a_header_of_the_message(delivery: Delivery) -> Result<(), anyhow::Error> {
    let id = delivery.headers.get("Nats-Msg-Id").ok_or_else(|| anyhow::anyhow!("no Nats-Msg-Id"))?;
    SendMessage::default().message_deduplication_id(id).send().await?;
    Ok(())
}

#[idempotent(key = "nats:<delivery.message_id>")]
async fn headers_with_a_time_of_sending(delivery: Delivery) -> Done {
    let mut headers = HashMap::new();
    headers.insert("Sent-At", format!("{:?}", SystemTime::now()));
    headers.insert("Nats-Msg-Id", delivery.message_id.clone());
    SendMessage::default().message_body(format!("{headers:?}")).send().await
}

#[idempotent(key = "sqs:<delivery.message_id>")]
async fn one_for_each_word(delivery: Delivery) -> Done {
    for (at, word) in delivery.body.split(' ').enumerate() {
        let id = format!("{}-{at}", delivery.message_id);
        SendMessage::default().message_body(word).message_deduplication_id(id).send().await?;
    }
    Ok(())
}

#[idempotent(key = "sqs:<delivery.message_id>")]
async fn a_group_that_is_fresh(delivery: Delivery) -> Done {
    SendMessage::default()
        .message_group_id(Uuid::new_v4())
        .message_deduplication_id(&delivery.message_id)
        .send()
        .await
}
