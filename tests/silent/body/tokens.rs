//! Operations whose client would make a token, and is given one.

#![allow(clippy::unused_self, reason = "clients have a `self`")]

use std::fmt::Display;

use idem::{Key, idempotent};

use super::outside::named_id;

/// As in the SDK.
struct Dynamo;
struct Operation(Vec<String>);

impl Dynamo {
    fn transact_write_items(&self) -> Operation {
        Operation(Vec::new())
    }

    fn put_item(&self) -> Operation {
        Operation(Vec::new())
    }
}

impl Operation {
    fn item(mut self, item: impl Display) -> Self {
        self.0.push(format!("{item}"));
        self
    }

    fn client_request_token(self, token: impl Display) -> Self {
        self.item(token)
    }

    fn send(self) -> impl Future<Output = Result<u64, idem::Error>> + Send {
        std::future::ready(Ok(self.0.len() as u64))
    }
}

struct Transfer {
    id: String,
    lines: Vec<u64>,
}

#[idempotent(key = "transfer:<transfer.id>")]
async fn a_token_made_of_the_key(transfer: Transfer, #[key] key: &Key) -> Result<u64, idem::Error> {
    let token = named_id(key.as_str());
    Dynamo.transact_write_items().client_request_token(token).item(transfer.id).send().await
}

#[idempotent(key = "transfer:<transfer.id>")]
async fn a_token_at_the_end(transfer: Transfer) -> Result<u64, idem::Error> {
    let mut request = Dynamo.transact_write_items();
    for line in &transfer.lines {
        request = request.item(line);
    }
    request = request.client_request_token(&transfer.id);
    request.send().await
}

#[idempotent(key = "transfer:<transfer.id>")]
async fn an_operation_that_has_no_token(transfer: Transfer) -> Result<u64, idem::Error> {
    Dynamo.put_item().item(transfer.id).send().await
}
