use idem::key;

struct Order {
    id: u64,
}

struct Message {
    number: u64,
}

impl Message {
    const fn number(&self) -> u64 {
        self.number
    }
}

fn main() {
    let order = Order { id: 1 };
    let _ = key!("order:<order.number()>", order: Message);
    let _ = order.id;
}
