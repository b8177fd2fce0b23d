//! Requests that carry a key.

use std::time::{Duration, Instant, SystemTime};

use idem::{Key, idempotent};
use serde_json::json;
use uuid::Uuid;

use super::Done;
use super::outside::{Http, Table, Ulid, metric, named_id};

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

struct Order {
    id: String,
    key: Option<String>,
    version: Option<u32>,
    amount: u64,
    due: SystemTime,
    lines: Vec<u64>,
}

#[idempotent(key = "order:<order.id>")]
async fn the_key_of_the_handler(order: Order, #[key] key: &Key) -> Done {
    let request = Http.post("pay").json(&json!({ "amount": order.amount }));
    request.header("Idempotency-Key", key.as_str()).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_step_of_the_key(order: Order, #[key] key: &Key) -> Done {
    let authorize = key.step("authorize");
    Http.post("authorize").header(IDEMPOTENCY_KEY, authorize.as_str()).send().await?;
    let capture = key.step("capture");
    Http.post(order.amount).header(IDEMPOTENCY_KEY, capture.as_str()).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_correlation_id_beside_the_key(order: Order) -> Done {
    let correlation_id = Uuid::new_v4();
    Http.post("pay")
        .header("X-Correlation-Id", correlation_id)
        .header("X-Request-Id", Uuid::new_v4())
        .header("Idempotency-Key", &order.id)
        .send()
        .await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_clock_for_a_metric(order: Order) -> Done {
    let started = Instant::now();
    Http.post("pay").idempotency_key(&order.id).send().await?;
    metric("charge", started.elapsed());
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_member_of_the_body_and_a_time_beside_it(order: Order) -> Done {
    let body = json!({
        "idempotency_key": order.id,
        "requested_at": SystemTime::now().elapsed().map_or(0, |since| since.as_secs()),
        "trace": Uuid::new_v4().to_string(),
    });
    Http.post("pay").json(&body).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn the_key_of_the_message_or_a_stable_one(order: Order) -> Done {
    let key = order.key.clone().unwrap_or_else(|| format!("order-{}", order.id));
    Http.post("pay").idempotency_key(key).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_message_without_a_key_is_an_error(order: Order) -> Result<(), anyhow::Error> {
    let Some(key) = &order.key else { anyhow::bail!("no key at {:?}", SystemTime::now()) };
    Http.post("pay").idempotency_key(key).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_key_with_a_version_that_may_be_missing(order: Order) -> Done {
    let key = format!("{}:{}", order.id, order.version.unwrap_or_default());
    Http.post("pay").idempotency_key(key).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn an_id_made_of_the_name(order: Order) -> Done {
    Http.post("pay").idempotency_key(named_id(&order.id)).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn each_line_under_its_place(order: Order) -> Done {
    for (at, line) in order.lines.iter().enumerate() {
        Http.post(line).idempotency_key(format!("{}:{at}", order.id)).send().await?;
    }
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn tries_under_one_key(order: Order) -> Done {
    for attempt in 0..3 {
        let response = Http.post("pay").idempotency_key(&order.id).send().await?;
        if response.status < 500 {
            break;
        }
        println!("try {attempt}");
    }
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_pause_of_random_length(order: Order) -> Done {
    let jitter = Duration::from_millis(u64::from(Uuid::new_v4().as_bytes()[0]));
    metric("pause", jitter);
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn only_while_it_is_due(order: Order) -> Done {
    if SystemTime::now() > order.due {
        return Ok(());
    }
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn the_random_part_of_an_id_that_came(order: Order) -> Done {
    let ulid = Ulid(order.amount.into());
    Http.post("pay").idempotency_key(ulid.random()).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_socket_of_version_four(order: Order) -> Result<(), anyhow::Error> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    println!("{socket:?}");
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_key_that_was_stored_before(order: Order) -> Done {
    let key = Table.key_of(&order.id, SystemTime::now()).await?;
    Http.post("pay").idempotency_key(key).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn what_the_first_call_answered(order: Order) -> Done {
    let started = SystemTime::now();
    let response = Http.post(format!("pay?at={started:?}")).idempotency_key(&order.id).send().await?;
    Http.post("capture").idempotency_key(format!("capture:{}", response.id)).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_name_that_means_something_else_inside(order: Order) -> Done {
    let key = order.id.clone();
    {
        let key = Uuid::new_v4();
        println!("{key}");
    }
    Http.post("pay").idempotency_key(&key).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_name_that_is_bound_anew(order: Order) -> Done {
    let key = Uuid::new_v4();
    println!("{key}");
    let key = order.id;
    Http.post("pay").idempotency_key(key).send().await?;
    Ok(())
}

#[idempotent(
    key = "order:<order.id>",
    allow(body_fresh_key, reason = "the sandbox answers each key once, and the test wants an answer")
)]
async fn a_fresh_key_that_is_meant(order: Order) -> Done {
    Http.post(order.amount).header("Idempotency-Key", Uuid::new_v4()).send().await?;
    Ok(())
}
