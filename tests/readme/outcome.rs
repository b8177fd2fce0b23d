use idem::{Outcome, idempotent};

#[idempotent(key = "msg:<id>")]
async fn count(id: u64) -> Result<Outcome<u64>, idem::Error> {
    Ok(id.into())
}

#[tokio::test]
async fn the_caller_sees_which_delivery_ran() {
    crate::install();
    assert_eq!(count(7).await.unwrap(), Outcome::Executed { value: 7, recorded: true });
    assert!(matches!(count(7).await.unwrap(), Outcome::Replayed { value: 7, .. }));
}
