use idem::idempotent;
use uuid::Uuid;

struct Checkout {
    id: String,
    cents: u64,
}

struct CreatePayment {
    idempotency_key: String,
    cents: u64,
}

fn retry<T>(mut call: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    call().or_else(|_| call())
}

fn create_payment(request: &CreatePayment) -> anyhow::Result<u64> {
    println!("{}", request.idempotency_key);
    Ok(request.cents)
}

#[idempotent(key = "checkout:<checkout.id>")]
fn pay(checkout: Checkout) -> anyhow::Result<u64> {
    retry(|| {
        let request = CreatePayment { idempotency_key: Uuid::new_v4().to_string(), cents: checkout.cents };
        create_payment(&request)
    })
}

fn main() {}
