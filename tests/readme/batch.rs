use idem::idempotent;

struct Payment {
    id: u64,
    amount: u64,
}

#[idempotent(key = "msg:<payment.id>")]
async fn charge(payment: &Payment) -> Result<u64, idem::Error> {
    Ok(payment.amount)
}

#[tokio::test]
async fn each_message_has_its_own_result() {
    crate::install();
    let payments = [Payment { id: 1, amount: 5 }, Payment { id: 2, amount: 7 }, Payment { id: 1, amount: 5 }];
    let mut amounts = Vec::new();
    let mut settle = |payment: &Payment, result: Result<u64, idem::Error>| {
        assert_eq!(result.unwrap(), payment.amount);
        amounts.push(payment.amount);
    };

    let results = idem::batch(payments.iter().map(charge), 16).await; // at most 16 bodies at once
    for (payment, result) in payments.iter().zip(results) {
        settle(payment, result); // acknowledge it, or what `error.disposition()` says
    }

    assert_eq!(amounts, [5, 7, 5]);
}
