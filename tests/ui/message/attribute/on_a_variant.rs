use idem::Message;

#[derive(Message)]
pub enum OrderEvent {
    #[message(event)]
    Created(#[message(id)] u64),
}

fn main() {}
