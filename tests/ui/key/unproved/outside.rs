use idem::key;

struct Order {
    id: u64,
}

impl Order {
    const fn number(&self) -> u64 {
        self.id
    }
}

fn main() {
    let order = Order { id: 1 };
    let _ = key!("order:<order.number()>");
}
