use idem::idempotent;

struct Message {
    id: std::future::Ready<u64>,
}

#[idempotent(key = "msg:<message.id.await>")]
async fn charge(message: Message) -> Result<(), idem::Error> {
    println!("{}", message.id.await);
    Ok(())
}

fn main() {}
