use idem::Message;

#[derive(Message)]
pub enum OrderEvent {
    Created(#[message(id)] u64),
    Cancelled,
}

fn main() {}
