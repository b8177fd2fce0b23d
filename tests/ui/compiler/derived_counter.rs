use std::sync::atomic::AtomicU64;

use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: AtomicU64,
}

fn main() {}
