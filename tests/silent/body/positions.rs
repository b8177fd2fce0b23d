//! Fresh values in lists, closures, maps and macros, beside keys that are not made of them.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::{Duration, SystemTime};

use idem::idempotent;
use serde_json::json;
use uuid::Uuid;

use super::Done;
use super::outside::{Http, SendMessage, Table, log, metric};

#[derive(Clone)]
struct Line {
    id: Uuid,
    sku: String,
}

struct Order {
    id: String,
    seed: u64,
    lines: Vec<String>,
    attempts: Vec<String>,
    context: Context,
}

/// What the producer wrote about where the order came from.
struct Context {
    request_id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn a_closure_that_is_given_a_key_and_a_time(order: Order) -> Done {
    let post = |key: &str, at: SystemTime| {
        log(format!("{at:?}"));
        Http.post("pay").idempotency_key(key).send()
    };
    post(&order.id, SystemTime::now()).await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_function_of_the_body_that_is_given_a_trace(order: Order) -> Done {
    async fn post(key: &str, trace: Uuid) -> Done {
        Http.post("pay").header("X-Trace", trace).idempotency_key(key).send().await?;
        Ok(())
    }
    post(&order.id, Uuid::new_v4()).await
}

#[idempotent(key = "order:<order.id>")]
async fn rows_in_a_list(order: Order) -> Done {
    let rows: Vec<Line> =
        order.lines.iter().map(|sku| Line { id: Uuid::new_v4(), sku: sku.clone() }).collect();
    for row in &rows {
        Table.insert(row.id).await?;
        Http.post("line").idempotency_key(format!("{}:{}", order.id, row.sku)).send().await?;
    }
    let first = [Line { id: Uuid::new_v4(), sku: order.id }];
    Http.post("line").idempotency_key(&first[0].sku).send().await?;
    Table.insert(first[0].id).await
}

#[idempotent(key = "order:<order.id>")]
async fn ids_by_name_in_a_map(order: Order) -> Done {
    let mut ids = HashMap::new();
    for sku in order.lines {
        ids.insert(sku, Uuid::new_v4());
    }
    for (sku, id) in &ids {
        Table.insert(id).await?;
        Http.post("line").idempotency_key(format!("{}:{sku}", order.id)).send().await?;
    }
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn one_of_several_headers(order: Order) -> Done {
    let mut headers = HashMap::new();
    headers.insert("X-Request-Id", Uuid::new_v4().to_string());
    headers.insert("Idempotency-Key", order.id);
    Http.post("pay").idempotency_key(&headers["Idempotency-Key"]).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn pauses_that_are_counted(order: Order) -> Done {
    let delays = [1, 2, 4].map(Duration::from_millis);
    for (attempt, delay) in delays.into_iter().enumerate() {
        metric("try", delay);
        if Http.post("pay").idempotency_key(&order.id).send().await?.status < 500 {
            log(format!("after {attempt} tries"));
            break;
        }
    }
    let mut retries = 0;
    while retries < 3 {
        retries += 1;
        Http.post(format!("status?try={retries}")).idempotency_key(&order.id).send().await?;
    }
    Ok(())
}

#[idempotent(key = "exam:<order.id>")]
async fn attempts_that_are_the_business(order: Order) -> Done {
    for (attempt, answers) in order.attempts.iter().enumerate() {
        Http.post(answers).idempotency_key(format!("{}:{attempt}", order.id)).send().await?;
    }
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn the_request_that_the_order_came_with(order: Order) -> Done {
    Http.post("pay").idempotency_key(&order.context.request_id).send().await?;
    Ok(())
}

/// A generator of numbers that are the same for the same seed, as of `rand_chacha`.
struct SeededRng(u64);

impl SeededRng {
    fn seed_from_u64(seed: u64) -> Self {
        Self(seed)
    }

    fn random(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0
    }
}

#[idempotent(key = "order:<order.id>")]
async fn numbers_that_come_from_the_message(order: Order) -> Done {
    let mut rng = SeededRng::seed_from_u64(order.seed);
    Http.post("draw").idempotency_key(format!("{}:{}", order.id, rng.random())).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn two_at_once(order: Order) -> Done {
    let (paid, audited) =
        tokio::join!(Http.post("pay").idempotency_key(&order.id).send(), Table.insert(Uuid::new_v4()));
    log(paid?.id);
    audited
}

#[idempotent(key = "order:<order.id>")]
async fn whichever_is_first(order: Order) -> Done {
    let started = SystemTime::now();
    let key = tokio::select! {
        paid = Http.post(format!("{started:?}")).idempotency_key(&order.id).send() => paid?.id,
        () = std::future::pending() => order.id.clone(),
    };
    Http.post("capture").idempotency_key(format!("capture:{key}")).send().await?;
    Ok(())
}

/// What remembers when it began.
struct Watch(SystemTime);

impl Watch {
    fn new(began: SystemTime) -> Self {
        Self(began)
    }

    fn named(&self, id: impl Display) -> String {
        log(format!("{:?}", self.0));
        id.to_string()
    }
}

#[idempotent(key = "order:<order.id>")]
async fn a_name_given_by_what_holds_a_time(order: Order) -> Done {
    let watch = Watch::new(SystemTime::now());
    Http.post("pay").idempotency_key(watch.named(&order.id)).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn what_is_wrong_with_an_id(order: Order) -> Done {
    let fault = |name: &str, seen: Uuid| log(format!("{name}: {seen}"));
    fault("message_id", Uuid::new_v4());
    SendMessage::default().message_id(&order.id).send().await
}

#[idempotent(key = "order:<order.id>")]
async fn a_width_that_is_clean(order: Order) -> Done {
    use std::time::SystemTime as Clock;
    let (width, now) = (12, Clock::now());
    log(format!("{now:?}"));
    let body =
        json!({ "at": format!("{:?}", Clock::now()), "idempotency_key": format!("{:>width$}", order.id) });
    Http.post("pay").json(&body).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn an_address_that_is_passed_on(order: Order) -> Done {
    let address = order.id.as_ptr() as usize;
    metric("alignment", Duration::from_nanos((address % 8) as u64));
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}
