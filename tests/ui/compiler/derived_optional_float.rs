use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: Option<f32>,
}

fn main() {}
