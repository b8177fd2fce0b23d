use idem::Message;

#[derive(Message)]
pub struct Payment {
    #[message(event)]
    pub source: String,
    #[message(event)]
    pub id: String,
}

fn main() {}
