use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
    message: Option<Uuid>,
}

struct Request {
    client_token: Uuid,
}

fn run(request: Request) -> anyhow::Result<()> {
    println!("{}", request.client_token);
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
fn start(order: Order) -> anyhow::Result<()> {
    run(Request { client_token: order.message.unwrap_or(Uuid::nil()) })
}

fn main() {}
