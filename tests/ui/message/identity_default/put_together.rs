use idem::Message;
use serde::Deserialize;

#[derive(Message, Deserialize)]
pub struct Payment {
    #[message(id)]
    #[serde(flatten)]
    pub position: Position,
    pub amount: u64,
}

#[derive(Deserialize)]
pub struct Position {
    pub partition: u32,
    pub offset: u64,
}

fn main() {}
