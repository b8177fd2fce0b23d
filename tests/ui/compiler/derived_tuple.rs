use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: (u64, u64),
}

fn main() {}
