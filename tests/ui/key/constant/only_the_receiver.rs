use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

struct Handler {
    tenant: String,
}

impl Handler {
    #[idempotent(scope = "billing.charge", key = "tenant:<self.tenant>")]
    async fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount)
    }
}

fn main() {}
