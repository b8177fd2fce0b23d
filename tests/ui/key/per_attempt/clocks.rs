use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<Utc::now()>")]
fn utc(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Utc::now().timestamp_millis()>")]
fn utc_as_number(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<::std::time::SystemTime::now()>")]
fn system_time(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Instant::now()>")]
fn instant(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<OffsetDateTime::now_utc()>")]
fn offset(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Local::now().date_naive()>")]
fn date(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<UNIX_EPOCH.elapsed()>")]
fn since_the_epoch(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<message.sent_at.elapsed()>")]
fn age(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<self.clock.now()>")]
fn own_clock(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<jiff::Zoned::now()>")]
fn jiff(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}
