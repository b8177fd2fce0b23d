//! Names of what changes with each delivery, attempt or process.

/// How much a name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sureness {
    /// A word of queues alone: refused wherever it stands.
    Sure,
    /// Who handles the message. Refused unless it is read from a thing of the business: `<booking.host>`.
    Handler,
    /// A word of queues, and of some businesses too: refused where the key is about the message, as in `msg:<message.attempt_id>`.
    /// `exam:<exam.attempt_id>` says whose attempt it is.
    Doubtful,
}

/// Names of one kind.
pub(super) struct Family {
    pub(super) sureness: Sureness,
    /// Whether a value of that name, wherever in a body it was read, is none to send on as a key. Of things that a business has too, such
    /// as a lease, too little is known there.
    pub(super) in_bodies: bool,
    /// Follows the name in a message: "`delivery_tag` is a handle of one delivery".
    pub(super) is: &'static str,
    pub(super) names: &'static [&'static str],
}

pub(super) const OF_A_TRACE: &str = "belongs to a trace, and is another one for each attempt or hop";

pub(super) static FAMILIES: &[Family] = &[
    Family {
        sureness: Sureness::Sure,
        in_bodies: true,
        is: "is a handle of one delivery",
        names: &[
            "delivery_tag",
            "receipt_handle",
            "ack_id",
            "ack_token",
            "lock_token",
            "lease_token",
            "pop_receipt",
            "consumer_tag",
            "consumer_sequence",
            "reply_subject",
            "acker",
            "pkid",
            "ack_set",
        ],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: false,
        is: "is a handle of one delivery",
        names: &["lock_id", "lease_id", "packet_id"],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "is a handle of one delivery",
        names: &["receipt", "reply", "reply_to", "pending"],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: true,
        is: "counts or marks deliveries",
        names: &[
            "retry_count",
            "redelivered",
            "redelivery_count",
            "receive_count",
            "approximate_receive_count",
            "read_ct",
            "x_delivery_count",
            "x_acquired_count",
            "x_death",
            "delivery_attempt",
            "delivery_attempts",
            "delivery_count",
            "delivered_count",
            "times_delivered",
        ],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: false,
        is: "counts or marks deliveries",
        names: &[
            "retry_number",
            "try_count",
            "attempt_no",
            "attempt_number",
            "attempt_count",
            "max_attempts",
            "failure_count",
            "backoff",
        ],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "counts or marks attempts",
        names: &["attempt", "attempts", "tries", "retry", "retries", "delivered", "dup"],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "is often a new id for each attempt",
        names: &[
            "attempt_id",
            "activity_attempt_id",
            "checkout_attempt_id",
            "task_attempt_id",
            "execution_id",
            "run_id",
            "invocation_id",
            "request_id",
            "x_request_id",
        ],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: true,
        is: "is another one for each invocation",
        names: &["aws_request_id", "lambda_request_id"],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: true,
        is: "is a time of this delivery",
        names: &["last_delivered_ms", "milliseconds_elapsed_from_delivery", "broker_out_time"],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: false,
        is: "is a time of this delivery",
        names: &[
            "retried_at",
            "next_retry_at",
            "retry_after",
            "receive_time",
            "dequeued_at",
            "locked_until",
            "lock_at",
            "vt",
            "visible_at",
            "invisible_until",
            "heartbeat_at",
            "consumed_at",
        ],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "is a time that moves while a message is tried again",
        names: &[
            "received_at",
            "processed_at",
            "delivered_at",
            "handled_at",
            "locked_at",
            "started_at",
            "failed_at",
            "done_at",
            "deadline",
            "run_at",
            "eta",
            "expires",
            "expires_at",
            "updated_at",
            "last_error",
        ],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "is a clock that was read for this attempt",
        names: &["now", "current_time", "timestamp_now", "today", "elapsed", "uptime"],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "is made at random, often for each attempt",
        names: &["nonce", "salt", "iv", "rand", "random", "random_id", "entropy", "csrf_token"],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: true,
        is: OF_A_TRACE,
        names: &[
            "span_id",
            "parent_span_id",
            "traceparent",
            "tracestate",
            "xray_trace_id",
            "x_amzn_trace_id",
            "aws_trace_header",
        ],
    },
    Family { sureness: Sureness::Sure, in_bodies: false, is: OF_A_TRACE, names: &["b3"] },
    Family { sureness: Sureness::Doubtful, in_bodies: false, is: OF_A_TRACE, names: &["trace_id"] },
    Family {
        sureness: Sureness::Handler,
        in_bodies: false,
        is: "tells who handles the message, not which message it is",
        names: &[
            "connection_id",
            "channel_id",
            "worker_id",
            "consumer",
            "consumer_id",
            "locked_by",
            "lock_by",
            "host",
            "hostname",
            "pod",
            "pid",
            "thread_id",
            "partition_leader_epoch",
            "node_id",
        ],
    },
    Family {
        sureness: Sureness::Sure,
        in_bodies: false,
        is: "changes when a secret is rotated or a link runs out",
        names: &["hmac", "signing_cert_url", "unsubscribe_url", "presigned_url"],
    },
    Family {
        sureness: Sureness::Doubtful,
        in_bodies: false,
        is: "changes when a secret is rotated",
        names: &["signature"],
    },
];

/// Variables of a loop over a range that count tries.
pub(super) static TRIES: &[&str] =
    &["attempt", "attempt_no", "retry", "try_no", "tries", "attempts", "retries"];

/// A broker, its names for what differs per delivery, and what to use there.
pub(crate) struct ToldBy {
    pub(crate) broker: &'static str,
    /// What to put into the key there.
    pub(crate) instead: &'static str,
    pub(super) names: &'static [&'static str],
}

pub(super) static BROKERS: &[ToldBy] = &[
    ToldBy {
        broker: "RabbitMQ",
        instead: "`properties.message_id()`, which the publisher has to set, or a header of your own",
        names: &[
            "delivery_tag",
            "redelivered",
            "consumer_tag",
            "acker",
            "x_delivery_count",
            "x_acquired_count",
            "x_death",
        ],
    },
    ToldBy {
        broker: "SQS",
        instead: "the publisher's own id from `message_attributes`, which outlives a redrive, or `message_id`",
        names: &["receipt_handle", "receive_count", "approximate_receive_count", "aws_trace_header"],
    },
    ToldBy {
        broker: "Pub/Sub",
        instead: "the publisher's own id from `attributes`, or `message_id`",
        names: &["ack_id", "delivery_attempt"],
    },
    ToldBy {
        broker: "Azure Service Bus",
        instead: "`message_id()`, which the sender has to set",
        names: &["lock_token", "locked_until", "delivery_count"],
    },
    ToldBy {
        broker: "Azure Queue Storage",
        instead: "`message_id`, or an id of the publisher's in the body",
        names: &["pop_receipt"],
    },
    ToldBy {
        broker: "NATS JetStream",
        instead: "the header `Nats-Msg-Id` if the publisher derives it, or `stream` with `stream_sequence`",
        names: &["consumer_sequence", "reply", "reply_subject"],
    },
    ToldBy {
        broker: "Redis Streams",
        instead: "an `event_id` in the entry, or the stream's key with the entry's id",
        names: &[
            "delivered_count",
            "times_delivered",
            "last_delivered_ms",
            "milliseconds_elapsed_from_delivery",
        ],
    },
    ToldBy {
        broker: "MQTT",
        instead: "an id in the user properties, or in the payload under MQTT 3.1.1",
        names: &["pkid", "packet_id", "dup"],
    },
    ToldBy {
        broker: "Pulsar",
        instead: "`topic` with `ledger_id`, `entry_id`, `partition` and `batch_index`, or a property of your own",
        names: &["ack_set"],
    },
    ToldBy { broker: "pgmq", instead: "the queue's name with `msg_id`", names: &["read_ct", "vt"] },
    ToldBy {
        broker: "Kafka",
        instead: "a header of your own, or `topic`, `partition` and `offset` together",
        names: &["partition_leader_epoch"],
    },
    ToldBy {
        broker: "AWS Lambda",
        instead: "the id of the record in the event, not of the invocation",
        names: &["aws_request_id", "lambda_request_id", "xray_trace_id"],
    },
    ToldBy { broker: "Celery", instead: "the task's `id`, which a retry keeps", names: &["eta"] },
    ToldBy { broker: "Sidekiq", instead: "the job's `jid`, which a retry keeps", names: &["retried_at"] },
    ToldBy {
        broker: "apalis",
        instead: "`idempotency_key()`, or `task_id()`",
        names: &["lock_at", "lock_by", "done_at"],
    },
];

/// What people call that which a queue hands over, in a place or as the prefix of a key.
pub(super) static ENVELOPES: &[&str] = &[
    "message",
    "msg",
    "m",
    "event",
    "evt",
    "ev",
    "e",
    "delivery",
    "job",
    "task",
    "record",
    "rec",
    "envelope",
    "packet",
    "meta",
    "metadata",
    "ctx",
    "context",
    "info",
    "headers",
    "header",
    "properties",
    "props",
    "attributes",
    "publish",
    "notification",
    "command",
    "cmd",
    "request",
    "req",
    "input",
    "webhook",
    "body",
    "payload",
    "data",
];
