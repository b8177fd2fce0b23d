use idem::idempotent;

trait Numbered {
    fn number(&self) -> u64;
}

#[idempotent(scope = "billing.charge", key = "msg:<message.number()>")]
async fn charge<M: Numbered>(message: M) -> Result<u64, idem::Error> {
    Ok(message.number())
}

#[idempotent(scope = "billing.refund", key = "msg:<message.number()>")]
async fn refund<M: Numbered>(message: &M) -> Result<u64, idem::Error> {
    Ok(message.number())
}

fn main() {}
