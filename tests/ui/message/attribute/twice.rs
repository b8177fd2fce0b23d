use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(id)]
    pub id: String,
    #[message(skip, skip)]
    pub amount: u64,
}

fn main() {}
