use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize)]
pub struct Payment {
    #[message(id)]
    #[serde(default = "fresh_id")]
    pub id: String,
    pub amount: u64,
}

fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn main() {}
