use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize)]
pub struct Payment {
    #[message(id)]
    #[serde(skip)]
    pub id: String,
    pub amount: u64,
}

fn main() {}
