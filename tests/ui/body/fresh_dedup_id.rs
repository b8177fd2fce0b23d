use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
}

struct SendMessage {
    message_body: String,
    message_deduplication_id: String,
}

async fn send(message: SendMessage) -> anyhow::Result<()> {
    println!("{} {}", message.message_body, message.message_deduplication_id);
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn ship(order: Order) -> anyhow::Result<()> {
    let id = Uuid::new_v4();
    send(SendMessage { message_body: order.id, message_deduplication_id: id.to_string() }).await
}

fn main() {}
