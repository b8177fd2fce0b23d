use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(id)]
    pub id: String,
    pub amount: Money,
}

pub struct Money(pub u64);

fn main() {}
