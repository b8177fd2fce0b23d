//! `key!` beside fresh values that do not go into it.

use idem::{Key, idempotent, key};
use uuid::Uuid;

use super::Done;
use super::outside::{Http, Table, log};

struct Order {
    id: String,
    lines: Vec<String>,
}

struct Job {
    id: Uuid,
    order: String,
}

#[idempotent(key = "order:<order.id>")]
async fn a_key_for_each_line(order: Order) -> Done {
    for (at, line) in order.lines.iter().enumerate() {
        let key = key!("line:<order.id>:<at>")?;
        Http.post(line).header("Idempotency-Key", key.as_str()).send().await?;
    }
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_row_with_an_id_of_its_own(order: Order) -> Done {
    let job = Job { id: Uuid::new_v4(), order: order.id };
    let key = key!("job:<job.order>")?;
    Table.insert(job.id).await?;
    Http.post("jobs").header("Idempotency-Key", key.as_str()).send().await?;
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn a_name_that_is_used_again(order: Order) -> Done {
    let id = Uuid::new_v4();
    log(id);
    let id = order.id;
    let key: Key = key!("order:<id>")?;
    Http.post("orders").header("Idempotency-Key", key.as_str()).send().await?;
    Ok(())
}

/// Things of a business whose words queues have, too.
struct Rental {
    id: String,
    lease_id: String,
    packet_id: String,
    lock_id: String,
}

#[idempotent(key = "rental:<rental.id>")]
async fn words_that_a_business_has_too(rental: Rental) -> Done {
    Http.post("leases").header("Idempotency-Key", &rental.lease_id).send().await?;
    Http.post("packets").idempotency_key(&rental.packet_id).send().await?;
    Http.post("locks").idempotency_key(format!("lock:{}", rental.lock_id)).send().await?;
    Ok(())
}
