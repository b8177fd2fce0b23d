use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(id)]
    pub id: String,
    #[message(per_delivry)]
    pub delivery_tag: u64,
}

fn main() {}
