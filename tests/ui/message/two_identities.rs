use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(id)]
    pub message_id: String,
    #[message(id)]
    pub payment_id: String,
}

fn main() {}
