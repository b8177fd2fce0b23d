use idem::Disposition;

async fn settle(delivery: Delivery, result: Result<(), idem::Error>) {
    match result.map_err(|error| error.disposition()) {
        Ok(()) | Err(Disposition::Ack) => delivery.ack().await,
        // Another worker holds it, or the store is away: not acknowledged, and delivered again.
        Err(Disposition::RetryAfter(delay)) => delivery.retry_after(delay).await,
        // Delivering it again would change nothing: to the dead letter queue, for a person.
        Err(Disposition::Park(reason)) => delivery.park(reason).await,
    }
}

struct Delivery(std::rc::Rc<std::cell::Cell<&'static str>>);

impl Delivery {
    async fn ack(&self) {
        self.0.set("acknowledged");
    }

    async fn retry_after(&self, _: std::time::Duration) {
        self.0.set("later");
    }

    async fn park(&self, _: String) {
        self.0.set("parked");
    }
}

#[tokio::test]
async fn what_is_done_is_acknowledged_and_what_has_no_key_is_parked() {
    let missing = idem::Key::trusted("", "an id that the message lacks").unwrap_err();
    for (result, outcome) in [(Ok(()), "acknowledged"), (Err(missing), "parked")] {
        let told = std::rc::Rc::default();
        settle(Delivery(std::rc::Rc::clone(&told)), result).await;
        assert_eq!(told.get(), outcome);
    }
}
