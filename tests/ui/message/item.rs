use idem::Message;

#[derive(Message)]
pub struct Heartbeat;

fn main() {}
