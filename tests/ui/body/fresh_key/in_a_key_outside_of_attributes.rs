use idem::{idempotent, key};
use uuid::Uuid;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn refund(order: Order) -> Result<String, idem::Error> {
    let refund_id = Uuid::new_v4().to_string();
    let key = key!("refund:<order.id>:<refund_id>")?;
    Ok(key.to_string())
}

fn main() {}
