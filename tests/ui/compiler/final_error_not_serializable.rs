use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[derive(Debug)]
enum ChargeError {
    Declined,
    Idem(idem::Error),
}

impl From<idem::Error> for ChargeError {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error)
    }
}

fn is_final(error: &ChargeError) -> bool {
    matches!(error, ChargeError::Declined)
}

#[idempotent(key = "msg:<message.id>", final_error = is_final)]
async fn charge(message: Message) -> Result<u64, ChargeError> {
    Ok(message.amount)
}

fn main() {}
