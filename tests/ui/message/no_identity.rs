use idem::Message;

#[derive(Message)]
pub struct Payment {
    pub payment_id: String,
    pub amount: u64,
}

fn main() {}
