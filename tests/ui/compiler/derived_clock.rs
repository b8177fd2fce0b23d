use std::time::SystemTime;

use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: SystemTime,
}

fn main() {}
