use idem::idempotent;

struct Worker {
    hostname: String,
}

impl Worker {
    #[idempotent(key = "msg:<self.hostname>:<id>", scope = "billing.handle")]
    async fn handle(&self, id: u64) -> Result<(), idem::Error> {
        Ok(println!("{id} {}", self.hostname))
    }
}

fn main() {
    let _ = Worker::handle; // still known: exactly one error above
}
