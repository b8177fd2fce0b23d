fn main() -> Result<(), idem::StoreError> {
    idem::install(idem::SqliteStore::open("idem.db")?);
    // take messages from the queue
    Ok(())
}
