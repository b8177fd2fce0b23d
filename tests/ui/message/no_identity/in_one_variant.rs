use idem::Message;

#[derive(Message)]
pub enum OrderEvent {
    Created {
        #[message(id)]
        event_id: u64,
    },
    Cancelled {
        event_id: u64,
    },
}

fn main() {}
