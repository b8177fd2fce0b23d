use idem::idempotent;

/// As in the crate.
mod ulid {
    pub struct Ulid(u128);

    impl Ulid {
        pub fn new() -> Self {
            Self(7)
        }

        pub fn encode(&self) -> String {
            self.0.to_string()
        }
    }
}

use ulid::Ulid;

struct Request {
    id: String,
    key: Option<String>,
}

#[idempotent(key = "request:<request.id>")]
async fn post(request: Request) -> anyhow::Result<()> {
    let key = request.key.unwrap_or_else(|| Ulid::new().encode());
    reqwest::Client::new()
        .post("https://api.example/orders")
        .header("X-Idempotency-Key", key)
        .send()
        .await?;
    Ok(())
}

fn main() {}
