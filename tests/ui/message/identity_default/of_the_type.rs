use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize, Default)]
#[serde(default)]
pub struct Payment {
    #[message(id)]
    pub id: String,
    pub amount: u64,
}

fn main() {}
