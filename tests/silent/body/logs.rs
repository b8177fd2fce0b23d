//! What goes to logs, traces and metrics.

use std::time::Instant;

use idem::{Attempt, idempotent};
use uuid::Uuid;

use super::Done;
use super::outside::{Http, log, metric};

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn an_event_id_in_a_log_line(order: Order) -> Done {
    tracing::info!(event_id = %Uuid::new_v4(), order = %order.id, "charging");
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_message_id_for_the_log_alone(order: Order) -> Done {
    let message_id = Uuid::new_v4();
    log(message_id);
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn the_key_and_the_time_in_one_line(order: Order) -> Done {
    println!("idempotency_key={} took={:?}", order.id, Instant::now().elapsed());
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn which_attempt_it_is(order: Order, #[attempt] attempt: &Attempt) -> Done {
    if attempt.tries() > 1 {
        log(format!("attempt {} of {}", attempt.tries(), order.id));
        metric("age", attempt.first_age());
    }
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_fence_beside_the_key(order: Order, #[attempt] attempt: &Attempt) -> Done {
    let request = Http.post("pay").header("X-Fence", attempt.fence());
    request.idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_span_with_an_id(order: Order) -> Done {
    let span = tracing::info_span!("charge", event_id = %Uuid::new_v4());
    let _entered = span.id();
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn who_does_it(order: Order) -> Done {
    let host = std::env::var("HOSTNAME").unwrap_or_default();
    log(format!("{host} {} {:?}", std::process::id(), std::thread::current().id()));
    Http.post("pay").idempotency_key(&order.id).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_setting_from_the_environment(order: Order) -> Result<(), anyhow::Error> {
    let shop = std::env::var("SHOP")?;
    Http.post("pay").idempotency_key(format!("{shop}:{}", order.id)).send().await?;
    Ok(())
}
