use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: Vec<u64>,
}

fn main() {}
