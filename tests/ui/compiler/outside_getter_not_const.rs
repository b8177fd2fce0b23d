use idem::key;

struct Order {
    id: u64,
}

impl Order {
    fn attempt_id(&self) -> String {
        format!("{}-{:?}", self.id, std::time::SystemTime::now())
    }
}

fn main() {
    let order = Order { id: 1 };
    let _ = key!("order:<order.attempt_id()>", order: Order);
    let _ = order.id;
}
