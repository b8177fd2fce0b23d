#[tokio::test]
async fn a_second_run_gets_the_value_of_the_first() -> Result<(), idem::Error> {
    use idem::{Handler, Idempotent, Key, MemoryStore};

    let store = MemoryStore::new();
    let reports = Idempotent::new(&store, Handler::new("reports.daily"));
    let key = Key::trusted("report:2026-11-30", "the nominal date of the run")?;

    let first = reports.run(&key, || async { Ok::<_, idem::Error>(17) }).await?;
    let again = reports.run(&key, || async { Ok::<_, idem::Error>(18) }).await?;
    assert!(first.is_executed() && !again.is_executed());
    assert_eq!(again.into_value(), 17);
    Ok(())
}
