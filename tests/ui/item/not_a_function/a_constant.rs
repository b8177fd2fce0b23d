use idem::idempotent;

#[idempotent(key = "msg:<message.id>")]
const LIMIT: u64 = 3;

fn main() {
    let _ = LIMIT;
}
