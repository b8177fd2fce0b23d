use idem::Message;

#[derive(Message)]
pub struct Payment(pub u64, pub u64);

fn main() {}
