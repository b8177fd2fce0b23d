use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
}

/// As in `rdkafka`.
struct Header<'a> {
    key: &'a str,
    value: Option<&'a str>,
}

async fn produce(topic: &str, headers: &[Header<'_>], body: String) -> anyhow::Result<()> {
    println!("{topic} {} {:?} {body}", headers[0].key, headers[0].value);
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
async fn publish(order: Order) -> anyhow::Result<()> {
    let id = Uuid::new_v4().to_string();
    produce("paid", &[Header { key: "event-id", value: Some(&id) }], order.id).await
}

fn main() {}
