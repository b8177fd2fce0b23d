//! What does a consumer do that gets its messages in batches? `cargo run --example batch`
//!
//! A queue hands out seven deliveries at once: one message twice, one without an id, one that the bank fails at. They are
//! charged three at a time, with one round trip to the store for their claims, and one for what is done. Then the
//! acknowledgements get lost, and the queue delivers everything again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error;

use idem::{Disposition, Key, Outcome, SqliteStore, idempotent};

struct Payment {
    id: &'static str,
    amount: u64,
}

const DELIVERED: [Payment; 7] = [
    Payment { id: "pay-1", amount: 1200 },
    Payment { id: "pay-2", amount: 450 },
    Payment { id: "", amount: 70 },
    Payment { id: "pay-3", amount: 9900 },
    Payment { id: "pay-1", amount: 1200 },
    Payment { id: "pay-4", amount: 310 },
    Payment { id: "pay-5", amount: 85 },
];

#[idempotent(key = "msg:<payment.id>", store = store)]
async fn charge(
    payment: &Payment,
    #[key] key: &Key,
    bank: &Bank,
    store: &SqliteStore,
) -> Result<Outcome<String>, ChargeError> {
    Ok(bank.charge(payment.amount, key).await?.into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("idem-example-batch-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let store = SqliteStore::open(folder.join("idem.db"))?;
    let bank = Bank::default();

    for delivery in ["first", "second"] {
        println!("The {delivery} delivery\n");
        let calls = DELIVERED.iter().map(|payment| charge(payment, &bank, &store));
        let results = idem::batch(calls, 3).await;
        for (payment, result) in DELIVERED.iter().zip(results) {
            println!("{:6} {:5}  {}", payment.id, payment.amount, settle(result));
        }
        let total: u64 = bank.charges.borrow().values().sum();
        println!("\nrequests to the bank so far: {}; charged: {total}\n", bank.requests.get());
    }
    drop(store);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// What the queue is told.
fn settle(result: Result<Outcome<String>, ChargeError>) -> String {
    match result {
        Ok(Outcome::Executed { value, .. }) => format!("ack: charged as {value}"),
        Ok(outcome) => format!("ack: was charged as {}", outcome.into_value()),
        Err(ChargeError::Bank(why)) => format!("deliver again: {why}"),
        Err(ChargeError::Idem(error)) => match error.disposition() {
            Disposition::Ack => "ack".to_owned(),
            Disposition::RetryAfter(delay) => format!("deliver again after {delay:?}"),
            Disposition::Park(reason) => format!("park: {reason}"),
        },
    }
}

/// A payment provider, which is away at its third request.
#[derive(Default)]
struct Bank {
    requests: Cell<u32>,
    charges: RefCell<HashMap<Key, u64>>,
}

impl Bank {
    async fn charge(&self, amount: u64, key: &Key) -> Result<String, ChargeError> {
        let request = self.requests.get() + 1;
        self.requests.set(request);
        tokio::task::yield_now().await;
        if request == 3 {
            return Err(ChargeError::Bank("the bank is away"));
        }
        self.charges.borrow_mut().insert(key.clone(), amount);
        Ok(format!("ch_{request}"))
    }
}

#[derive(Debug)]
enum ChargeError {
    Bank(&'static str),
    Idem(idem::Error),
}

impl From<idem::Error> for ChargeError {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error)
    }
}
