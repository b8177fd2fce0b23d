use std::collections::HashMap;

use idem::KeyPart;

#[derive(KeyPart)]
struct Reading {
    meter: u64,
    value: HashMap<String, String>,
}

fn main() {}
