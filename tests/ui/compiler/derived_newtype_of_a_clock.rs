use std::time::Instant;

use idem::KeyPart;

#[derive(KeyPart)]
struct Started(Instant);

fn main() {
    let _ = Started(Instant::now());
}
