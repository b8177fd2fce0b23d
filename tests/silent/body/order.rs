//! Collections without an order, of which no order comes into the key.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use idem::idempotent;

use super::Done;
use super::outside::{Http, SendMessage};

#[idempotent(key = "scan:<image>")]
async fn an_entry_by_its_name(image: String, labels: HashMap<String, String>) -> Done {
    let id = labels.get("event-id").map_or(image.as_str(), String::as_str);
    Http.post("scans").header("Idempotency-Key", id).send().await?;
    Ok(())
}

#[idempotent(key = "scan:<image>")]
async fn sorted_first(image: String, labels: HashSet<String>) -> Done {
    let mut labels: Vec<String> = labels.into_iter().collect();
    labels.sort();
    Http.post(&image).header("Idempotency-Key", labels.join(",")).send().await?;
    Ok(())
}

#[idempotent(key = "scan:<image>")]
async fn through_a_map_with_an_order(image: String, findings: HashMap<String, u32>) -> Done {
    let findings: BTreeMap<_, _> = findings.into_iter().collect();
    let mut text = String::new();
    for (name, count) in &findings {
        let _ = write!(text, "{name}={count};");
    }
    Http.post(&image).header("Idempotency-Key", text).send().await?;
    Ok(())
}

#[idempotent(key = "batch:<batch>")]
async fn a_message_for_each_entry(batch: u64, orders: HashMap<u64, String>) -> Done {
    for (id, body) in &orders {
        let id = format!("{batch}:{id}");
        SendMessage::default().message_body(body).message_deduplication_id(id).send().await?;
    }
    Ok(())
}

#[idempotent(key = "batch:<batch>")]
async fn a_sum_of_all(batch: u64, amounts: HashMap<u64, u64>) -> Done {
    let total: u64 = amounts.values().sum();
    let count = amounts.len();
    Http.post("totals").header("Idempotency-Key", format!("{batch}:{count}:{total}")).send().await?;
    Ok(())
}

#[idempotent(key = "batch:<batch>")]
async fn a_body_in_any_order_beside_the_key(batch: u64, amounts: HashMap<String, u64>) -> Done {
    let body = serde_json::to_value(&amounts).unwrap_or_default();
    Http.post("amounts").json(&body).header("Idempotency-Key", batch).send().await?;
    Ok(())
}
