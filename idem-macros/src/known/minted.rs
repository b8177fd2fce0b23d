//! Operations whose client makes a token of its own when it is given none: the same over its own retries, and another one each time
//! the handler runs.

use super::Mention;

/// An operation that begins a builder: `client.transact_write_items()`.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) client: &'static str,
    /// The setter to call.
    pub(crate) setter: &'static str,
}

const DYNAMO: &str = "the SDK for DynamoDB";

static OPERATIONS: &[Operation] = &[
    Operation { name: "transact_write_items", client: DYNAMO, setter: "client_request_token" },
    Operation { name: "execute_transaction", client: DYNAMO, setter: "client_request_token" },
    Operation { name: "import_table", client: DYNAMO, setter: "client_token" },
    Operation { name: "export_table_to_point_in_time", client: DYNAMO, setter: "client_token" },
];

/// A word of each mistake that there is without a value that is sent.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(|operation| operation.name).chain(["idempotent_with_uuid", "svix"])
}

pub(crate) fn operation(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

/// What to do about a constructor that makes a key of its own.
pub(crate) const INSTEAD: &str = "give `RequestStrategy::Idempotent` the text of the key, `{key}.as_str()`";

/// What such a constructor gives.
pub(crate) fn key(called: &Mention) -> Option<&'static str> {
    called.ends_with("RequestStrategy::idempotent_with_uuid").then_some("a new key on every attempt")
}

/// Whether a method of the builder gives it a token.
pub(crate) fn sets_token(method: &str) -> bool {
    let setter = method.strip_prefix("set_").unwrap_or(method);
    ["client_request_token", "client_token", "idempotency_token"].contains(&setter)
}
