use idem::{Message, idempotent};

#[derive(Message, serde::Deserialize)]
struct Payment {
    #[message(id)]
    id: String, // the key has to read it, and serde may not fill it in
    amount: u64, // payload: another amount under the same key is refused
    #[message(per_delivery)]
    delivery_tag: u64, // the key may not read it
}

#[idempotent(key = "msg:<payment.id>")]
async fn charge(payment: Payment) -> Result<u64, idem::Error> {
    Ok(payment.amount)
}

#[tokio::test]
async fn another_amount_under_the_same_key_is_refused_and_another_tag_is_not() {
    crate::install();
    let payment = |amount, delivery_tag| Payment { id: "8f14".into(), amount, delivery_tag };
    assert_eq!(charge(payment(1200, 1)).await.unwrap(), 1200);
    assert_eq!(charge(payment(1200, 2)).await.unwrap(), 1200);
    assert_eq!(charge(payment(1300, 3)).await.unwrap_err().kind(), idem::ErrorKind::Mismatch);
}
