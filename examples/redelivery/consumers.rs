//! Six ways to handle the same message. Start from [`charge`].

use idem::{Key, KeyOnly, SeenSet, SqliteStore, idempotent};

use crate::charges_api::Receipt;
use crate::client::{ChargeError, Client};

/// What the queue delivers, at least once.
pub struct Payment {
    /// The publisher gives it once; every delivery carries the same.
    pub id: &'static str,
    pub amount: u64,
}

/// idem: the first delivery charges and its receipt is kept; each further one gets that receipt.
#[idempotent(key = "msg:<payment.id>", store = store)]
pub async fn charge(
    payment: &Payment,
    #[key] key: &Key,
    api: &Client,
    store: &SqliteStore,
) -> Result<Receipt, ChargeError> {
    api.charge_once(payment.amount, key).await
}

/// The `SET NX EX` recipe by its true name: who claims and dies takes the message along.
#[idempotent(key = "msg:<payment.id>", store = store, mode = "at_most_once")]
pub async fn charge_at_most_once(
    payment: &Payment,
    #[key] key: &Key,
    api: &Client,
    store: &SqliteStore,
) -> Result<Receipt, ChargeError> {
    api.charge_once(payment.amount, key).await
}

/// Key only: idem derives the key and hands it over; the API that receives it deduplicates.
#[idempotent(key = "msg:<payment.id>", store = none)]
pub async fn charge_with_key(
    payment: &Payment,
    #[key] key: &Key,
    api: &Client,
) -> Result<Receipt, ChargeError> {
    api.charge_once(payment.amount, key).await
}

/// Key only, and a set of the messages just seen in front of it, which saves the call.
#[idempotent(key = "msg:<payment.id>", store = seen)]
pub async fn charge_with_key_unless_seen(
    payment: &Payment,
    #[key] key: &Key,
    api: &Client,
    seen: &SeenSet<KeyOnly>,
) -> Result<Receipt, ChargeError> {
    api.charge_once(payment.amount, key).await
}

/// The seen set alone. The set is empty after a restart, so this protects nothing that matters.
#[idempotent(key = "msg:<payment.id>", store = seen)]
pub async fn charge_unless_seen(
    payment: &Payment,
    api: &Client,
    seen: &SeenSet<KeyOnly>,
) -> Result<Receipt, ChargeError> {
    api.charge(payment.amount).await
}

/// No protection: each delivery is a charge.
pub async fn charge_naively(payment: &Payment, api: &Client) -> Result<Receipt, ChargeError> {
    api.charge(payment.amount).await
}
