use idem::key;

struct Order {
    id: u64,
}

impl Order {
    const fn number(&self) -> u64 {
        self.id
    }

    fn key(&self) -> Result<idem::Key, idem::Error> {
        key!("order:<self.number()>", self: &Self)
    }
}

fn main() {
    let _ = Order { id: 1 }.key();
}
