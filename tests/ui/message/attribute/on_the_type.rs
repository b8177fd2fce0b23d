use idem::Message;

#[derive(Message)]
#[message(id)]
pub struct Payment {
    #[message(id)]
    pub id: String,
}

fn main() {}
