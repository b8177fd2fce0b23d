use idem::{Key, idempotent};

struct Payment {
    id: String, // the publisher gives it once; every delivery carries the same
    amount: u64,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt {
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

#[idempotent(key = "msg:<payment.id>")]
async fn charge(payment: &Payment, #[key] key: &Key, api: &Api) -> Result<Receipt, ChargeError> {
    api.charge(payment.amount, key).await
}

#[derive(Default)]
struct Api {
    charges: std::sync::atomic::AtomicU64,
}

impl Api {
    async fn charge(&self, amount: u64, key: &Key) -> Result<Receipt, ChargeError> {
        assert_eq!(key.as_str(), "msg:8f14");
        let number = self.charges.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        Ok(Receipt { id: format!("ch_{number}"), amount })
    }
}

#[tokio::test]
async fn a_second_delivery_gets_the_receipt_of_the_first() {
    crate::install();
    let api = Api::default();
    let payment = Payment { id: "8f14".into(), amount: 1200 };
    for _ in 0..2 {
        let receipt = charge(&payment, &api).await.unwrap();
        assert_eq!((receipt.id.as_str(), receipt.amount), ("ch_1", 1200));
    }
    assert_eq!(api.charges.into_inner(), 1);
}
