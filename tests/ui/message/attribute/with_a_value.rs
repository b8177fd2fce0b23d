use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(id)]
    pub id: String,
    #[message(skip = true)]
    pub amount: u64,
}

fn main() {}
