use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
}

async fn charge_card(order: &str, idempotency_key: &str) -> anyhow::Result<()> {
    println!("{order} {idempotency_key}");
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let idempotency_key = Uuid::new_v4().to_string();
    charge_card(&order.id, &idempotency_key).await
}

fn main() {}
