//! Rows with ids and times of their own.

use std::time::SystemTime;

use idem::idempotent;
use uuid::Uuid;

use super::Done;
use super::outside::{Http, Table};

struct Payment {
    message_id: String,
    amount: u64,
}

struct Row {
    id: Uuid,
    message_id: String,
    created_at: SystemTime,
}

struct Line {
    id: Uuid,
    sku: String,
}

struct Charge {
    idempotency_key: String,
    amount: u64,
    requested_at: SystemTime,
}

impl Charge {
    fn new(idempotency_key: String, requested_at: SystemTime) -> Self {
        Self { idempotency_key, amount: 0, requested_at }
    }
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn a_primary_key_beside_the_message_id(payment: Payment) -> Done {
    let row = Row { id: Uuid::new_v4(), message_id: payment.message_id, created_at: SystemTime::now() };
    Table.insert(row).await
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn the_message_id_of_a_row(payment: Payment) -> Done {
    let row = Row { id: Uuid::new_v4(), message_id: payment.message_id, created_at: SystemTime::now() };
    Http.post("pay").idempotency_key(&row.message_id).send().await?;
    Table.insert(row).await
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn out_of_a_constructor_that_also_takes_a_time(payment: Payment) -> Done {
    let charge = Charge::new(payment.message_id, SystemTime::now());
    Http.post(charge.amount).idempotency_key(&charge.idempotency_key).send().await?;
    Table.insert(charge.requested_at).await
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn lines_with_ids(payment: Payment) -> Done {
    let mut lines = vec![Line { id: Uuid::new_v4(), sku: payment.amount.to_string() }];
    lines.push(Line { id: Uuid::new_v4(), sku: payment.message_id.clone() });
    for line in &lines {
        Http.post("line").idempotency_key(&line.sku).send().await?;
    }
    Table.insert(lines).await
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn a_pair_with_a_time(payment: Payment) -> Done {
    let (id, at) = (payment.message_id, SystemTime::now());
    Http.post(payment.amount).idempotency_key(id).send().await?;
    Table.insert(at).await
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn the_length_of_an_id(payment: Payment) -> Done {
    let length = Uuid::new_v4().to_string().len();
    let key = format!("{}:{length}", payment.message_id);
    Http.post("pay").idempotency_key(key).send().await?;
    Ok(())
}

#[idempotent(key = "payment:<payment.message_id>")]
async fn fields_filled_in_later(payment: Payment) -> Done {
    let mut charge = Charge { idempotency_key: String::new(), amount: 1, requested_at: SystemTime::now() };
    charge.idempotency_key = payment.message_id;
    charge.amount = payment.amount;
    Table.insert(charge).await
}
