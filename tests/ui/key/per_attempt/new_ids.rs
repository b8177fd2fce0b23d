use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<Uuid::new_v4()>")]
fn uuid_v4(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<uuid::Uuid::new_v4().to_string()>")]
fn uuid_v4_as_text(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<uuid::Uuid::now_v7()>")]
fn uuid_v7(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Uuid::new_v7(message.time)>")]
fn uuid_v7_at_a_fixed_time(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Uuid::now_v1(&NODE)>")]
fn uuid_v1(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<message.id.unwrap_or_else(Uuid::new_v4)>")]
fn uuid_v4_instead_of_none(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Ulid::new()>")]
fn ulid(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<ulid::Ulid::generate()>")]
fn ulid_of_version_3(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<nanoid!()>")]
fn nano_id(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<nanoid!(10)>")]
fn nano_id_of_ten(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<cuid2::create_id()>")]
fn cuid(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Ksuid::generate()>")]
fn ksuid(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<xid::new()>")]
fn xid(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<scru128::new_string()>")]
fn scru128(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<ObjectId::new()>")]
fn object_id(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<message.generator.next_id()>")]
fn snowflake(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<create_type_id::<V7>()>")]
fn type_id(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}
