use idem::idempotent;

#[idempotent(key = "msg:<id>:<attempt>")]
async fn handle(id: u64, attempt: u32) -> Result<(), idem::Error> {
    Ok(println!("{id} {attempt}"))
}

fn main() {
    let _ = handle; // still known: exactly one error above
}
