use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

struct Handler;

impl Handler {
    fn tenant(&self) -> u64 {
        7
    }

    #[idempotent(scope = "billing.charge", key = "msg:<self.tenant()>:<message.id>")]
    async fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount + self.tenant())
    }
}

fn main() {}
