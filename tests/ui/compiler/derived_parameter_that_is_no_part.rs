use idem::{KeyPart, key};

#[derive(KeyPart)]
struct Id<T> {
    value: T,
}

fn main() {
    let id = Id { value: 0.5 };
    let _ = key!("id:<id>");
}
