use idem::idempotent;

#[idempotent(key = "msg:<message.id>")]
mod handlers {}

fn main() {}
