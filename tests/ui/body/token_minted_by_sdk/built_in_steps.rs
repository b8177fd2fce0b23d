use idem::idempotent;

/// As in the SDK.
mod dynamo {
    pub struct Client;
    pub struct Request(u64);

    impl Client {
        pub fn execute_transaction(&self) -> Request {
            Request(0)
        }
    }

    impl Request {
        pub fn transact_statements(self, statement: u64) -> Self {
            Self(self.0 + statement)
        }

        pub async fn send(self) -> anyhow::Result<u64> {
            Ok(self.0)
        }
    }
}

struct Transfer {
    id: String,
    lines: Vec<u64>,
}

#[idempotent(key = "transfer:<transfer.id>")]
async fn book(transfer: Transfer, client: &dynamo::Client) -> anyhow::Result<u64> {
    let mut request = client.execute_transaction();
    for line in transfer.lines {
        request = request.transact_statements(line);
    }
    request.send().await
}

fn main() {}
