use idem::idempotent;

struct OrderId(u64);

struct Message {
    order: OrderId,
}

#[idempotent(key = "order:<message.order>")]
fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.order.0)
}

fn main() {
    let _ = charge(Message { order: OrderId(1) });
}
