use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize)]
pub struct Payment {
    #[message(id)]
    #[serde(default = "unknown")]
    pub id: Option<String>,
    pub amount: u64,
}

fn unknown() -> Option<String> {
    Some("unknown".to_owned())
}

fn main() {}
