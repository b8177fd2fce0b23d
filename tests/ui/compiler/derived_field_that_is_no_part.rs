use idem::KeyPart;

struct OrderId(u64);

#[derive(KeyPart)]
struct Line {
    order: OrderId,
    number: u32,
}

fn main() {
    let line = Line { order: OrderId(1), number: 2 };
    let _ = (line.order.0, line.number);
}
