use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(id)]
    pub id: String,
    #[message(per_delivery, published_at)]
    pub sent: u64,
}

fn main() {}
