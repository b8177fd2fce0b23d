//! Names of payload: what two different messages can have in common.

/// What such a name stands for, which decides when it is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Something that many messages are about.
    Entity,
    /// Something that lives through a few steps, each of which is one message: `order_id`.
    Operation,
    /// An amount, or another value.
    Value,
    /// A person's data.
    Person,
    /// One of a handful of values.
    Kind,
    /// A time, to some resolution.
    Time,
    /// The content, or a digest of it.
    Content,
    /// A place in a row that begins anew somewhere else.
    Position,
    /// The row that a position is in.
    Row,
    /// Free text.
    Text,
}

pub(super) static SORTS: &[(Sort, &[&str])] = &[
    (
        Sort::Entity,
        &[
            "customer_id",
            "user_id",
            "account_id",
            "tenant_id",
            "org_id",
            "patient_id",
            "device_id",
            "merchant_id",
            "aggregate_id",
            "entity_id",
            "resource_id",
            "key",
            "partition_key",
            "ordering_key",
            "message_group_id",
            "routing_key",
            "subject",
            "session_id",
            "correlation_id",
            "conversation_id",
            "causation_id",
            "root_id",
            "group",
        ],
    ),
    (Sort::Operation, &["order_id", "payment_id", "invoice_id", "subscription_id"]),
    (Sort::Value, &["amount", "amount_cents", "price", "quantity", "total", "currency", "balance", "value"]),
    (Sort::Person, &["email", "phone", "name", "address", "ip", "username", "iban"]),
    (
        Sort::Kind,
        &[
            "type",
            "kind",
            "event_type",
            "action",
            "status",
            "state",
            "topic",
            "source",
            "channel",
            "priority",
            "country",
            "locale",
        ],
    ),
    (
        Sort::Time,
        &[
            "created_at",
            "occurred_at",
            "timestamp",
            "time",
            "date",
            "day",
            "event_time",
            "sent_at",
            "published_at",
            "enqueued_at",
            "publish_time",
            "sent_timestamp",
            "approximate_arrival_timestamp",
        ],
    ),
    (
        Sort::Content,
        &[
            "body",
            "payload",
            "data",
            "message",
            "content",
            "md5_of_body",
            "body_hash",
            "checksum",
            "etag",
            "content_hash",
            "fingerprint",
        ],
    ),
    // Not `number`: `order.number` and `invoice.number` are what people call an id.
    (
        Sort::Position,
        &[
            "version",
            "revision",
            "sequence",
            "sequence_number",
            "stream_sequence",
            "offset",
            "line_no",
            "step",
            "index",
            "batch_index",
            "row_number",
            "position",
            "cursor",
        ],
    ),
    (
        Sort::Row,
        &[
            "partition",
            "partition_id",
            "shard",
            "shard_id",
            "stream",
            "stream_name",
            "ledger_id",
            "queue",
            "queue_name",
        ],
    ),
    (Sort::Text, &["description", "title", "memo", "reason", "url", "path", "filename"]),
];
