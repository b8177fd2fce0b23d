use idem::idempotent;

#[idempotent(key = "msg:<context.aws_request_id>")]
async fn handle(context: Context) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&context.aws_request_id,)))
}

struct Context {
    aws_request_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}
