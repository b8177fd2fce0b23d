use idem::KeyPart;

#[derive(KeyPart)]
struct LineId {
    order: u64,
    #[key(skip)]
    number: u32,
}

fn main() {
    let line = LineId { order: 1, number: 2 };
    let _ = (line.order, line.number);
}
