use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize)]
pub struct Payment {
    #[message(id)]
    #[serde(default)]
    pub id: String,
    #[message(id)]
    pub payment_id: String,
    #[message(pre_delivery)]
    pub delivery_tag: u64,
}

fn main() {}
