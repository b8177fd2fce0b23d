use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize)]
pub struct Payment {
    #[message(id)]
    #[serde(default)]
    pub id: String,
    pub amount: u64,
}

fn main() {}
