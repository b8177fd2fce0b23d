//! Opened by `../completes.py`, which types into `charge` and looks at what an editor would show.

use idem::{Key, idempotent};
use serde::{Deserialize, Serialize};

pub struct Payment {
    pub id: String,
    pub amount_cents: u64,
}

#[derive(Serialize, Deserialize)]
pub struct Receipt {
    pub charged_cents: u64,
}

pub struct Api;

impl Api {
    pub async fn charge(&self, cents: u64, _key: &Key) -> Result<Receipt, idem::Error> {
        Ok(Receipt { charged_cents: cents })
    }
}

#[idempotent(key = "msg:<message.id>")]
pub async fn charge(message: Payment, api: &Api, #[key] key: &Key) -> Result<Receipt, idem::Error> {
    let receipt = api.charge(message.amount_cents, key).await?;
    Ok(receipt)
}

pub async fn calls_it(message: Payment) -> Result<u64, idem::Error> {
    let answered = charge(message, &Api).await?;
    Ok(answered.charged_cents)
}
