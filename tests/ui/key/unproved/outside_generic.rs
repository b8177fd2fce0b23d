use idem::key;

trait Numbered {
    fn number(&self) -> u64;
}

struct Order {
    id: u64,
}

impl Numbered for Order {
    fn number(&self) -> u64 {
        self.id
    }
}

fn key_of<T: Numbered>(order: &T) -> Result<idem::Key, idem::Error> {
    key!("order:<order.number()>", order: &T)
}

fn main() {
    let _ = key_of(&Order { id: 1 });
}
