use idem::Message;

#[derive(Message)]
pub union Payment {
    pub id: u64,
    pub amount: i64,
}

fn main() {}
