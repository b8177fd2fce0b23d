use idem::Message;

#[derive(Message)]
pub struct Payment {
    pub amount: u64,
    #[message(per_delivery)]
    pub delivery_tag: u64,
}

fn main() {}
