use idem::idempotent;

/// As in the SDK.
mod dynamo {
    pub struct Client;
    pub struct TransactWriteItems(Vec<u64>);

    impl Client {
        pub fn transact_write_items(&self) -> TransactWriteItems {
            TransactWriteItems(Vec::new())
        }
    }

    impl TransactWriteItems {
        pub fn transact_items(mut self, item: u64) -> Self {
            self.0.push(item);
            self
        }

        pub async fn send(self) -> anyhow::Result<usize> {
            Ok(self.0.len())
        }
    }
}

struct Transfer {
    id: String,
    amount: u64,
}

#[idempotent(key = "transfer:<transfer.id>")]
async fn book(transfer: Transfer, client: &dynamo::Client) -> anyhow::Result<()> {
    client
        .transact_write_items()
        .transact_items(transfer.amount)
        .send()
        .await?;
    Ok(())
}

fn main() {}
