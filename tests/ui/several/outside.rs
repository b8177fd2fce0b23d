use idem::key;

struct Order {
    id: u64,
}

fn main() {
    let order = Order { id: 1 };
    let key: idem::Key = key!("<order.id>:<Uuid::new_v4()>", ttl = "7d").unwrap();
    let _: &str = key.as_str();
}
