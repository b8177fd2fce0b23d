//! What a broker says about one delivery: another value when the message comes again.

/// Fields, and getters without arguments.
static NAMES: &[&str] = &[
    "ack_id",
    "ack_token",
    "approximate_receive_count",
    "aws_request_id",
    "aws_trace_header",
    "consumer_sequence",
    "consumer_tag",
    "delivered_count",
    "delivery_attempt",
    "delivery_count",
    "delivery_tag",
    "lambda_request_id",
    "last_delivered_ms",
    "lease_token",
    "lock_token",
    "pop_receipt",
    "read_ct",
    "receipt_handle",
    "receive_count",
    "redelivered",
    "redelivery_count",
    "retry_count",
    "span_id",
    "times_delivered",
    "traceparent",
    "xray_trace_id",
];

/// Loop variables that count tries.
static TRIES: &[&str] = &["attempt", "attempt_no", "retry", "try_no", "tries", "attempts", "retries"];

pub(crate) fn is_per_delivery(name: &str) -> bool {
    NAMES.contains(&name)
}

pub(crate) fn counts_tries(name: &str) -> bool {
    TRIES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::names::{Sureness, per_delivery};

    #[test]
    fn what_is_refused_in_a_body_is_refused_in_a_key() {
        for name in super::NAMES {
            assert!(per_delivery(name).is_some_and(|known| known.sureness == Sureness::Sure), "{name}");
        }
    }
}
