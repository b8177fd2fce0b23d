use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum ChargeError {
    Declined,
    Idem(String),
}

impl From<idem::Error> for ChargeError {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error.to_string())
    }
}

fn is_final(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::InvalidInput
}

#[idempotent(key = "msg:<message.id>", final_error = is_final)]
async fn charge(message: Message) -> Result<u64, ChargeError> {
    Ok(message.amount)
}

fn main() {}
