use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: f64,
}

fn main() {}
