use idem::KeyPart;

#[derive(KeyPart)]
enum Kind {}

fn main() {}
