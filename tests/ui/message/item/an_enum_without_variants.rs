use idem::Message;

#[derive(Message)]
pub enum Never {}

fn main() {}
