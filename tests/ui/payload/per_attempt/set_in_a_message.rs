use idem::Message;
use std::collections::HashSet;

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    amount: u64,
    labels: Option<HashSet<String>>,
}

fn main() {}
