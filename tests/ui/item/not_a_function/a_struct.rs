use idem::idempotent;

#[idempotent(key = "msg:<id>")]
struct Payment {
    id: String,
}

fn main() {
    let _ = Payment { id: String::new() };
}
