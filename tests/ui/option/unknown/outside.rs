use idem::key;

struct Order {
    id: u64,
}

fn main() {
    let order = Order { id: 1 };
    let _ = key!("order:<order.id>", ttl = "7d");
}
