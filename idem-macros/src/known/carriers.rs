//! Where a key leaves a handler: the names of headers, setters, fields, map entries and constants that carry one.
//!
//! Names are compared by their letters and digits alone, in lower case: `Idempotency-Key`, `idempotency_key`, `idempotencyKey` and
//! `IDEMPOTENCY_KEY` are one name.

use crate::rules::{self, Rule};

/// What a name carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// An idempotency key, by which an API knows a repeated request.
    Key,
    /// A deduplication id, by which a broker drops a repeated message.
    DedupId,
    /// The id of a message that is sent, by which its receivers know it again.
    MessageId,
}

impl Carries {
    /// The rule that a fresh value in such a place breaks.
    pub(crate) fn rule(self) -> &'static Rule {
        match self {
            Self::Key => &rules::BODY_FRESH_KEY,
            Self::DedupId => &rules::BODY_FRESH_DEDUP_ID,
            Self::MessageId => &rules::BODY_FRESH_MESSAGE_ID,
        }
    }
}

/// Ends of names: `refund_idempotency_key` carries a key too.
static ENDS: &[(&str, Carries)] = &[
    ("idempotencykey", Carries::Key),
    ("idempotencetoken", Carries::Key),
    ("idempotencekey", Carries::Key),
    ("idempotencytoken", Carries::Key),
    ("idempotencyid", Carries::Key),
    ("paypalrequestid", Carries::Key),
    ("clienttoken", Carries::Key),
    ("clientrequesttoken", Carries::Key),
    ("messagededuplicationid", Carries::DedupId),
    ("deduplicationid", Carries::DedupId),
    ("deduplicationkey", Carries::DedupId),
    ("dedupid", Carries::DedupId),
    ("dedupkey", Carries::DedupId),
    ("dedupeid", Carries::DedupId),
    ("dedupekey", Carries::DedupId),
];

/// Whole names.
static WHOLE: &[(&str, Carries)] = &[
    // `IDEMPOTENCY_HEADER`, `.idempotency(key)`.
    ("idempotency", Carries::Key),
    // Whoever starts a workflow or a job under a known id starts nothing new.
    ("workflowid", Carries::Key),
    ("jobkey", Carries::Key),
    ("natsmsgid", Carries::DedupId),
    ("natsmessageid", Carries::DedupId),
    ("messageid", Carries::MessageId),
    ("msgid", Carries::MessageId),
    ("eventid", Carries::MessageId),
    ("eid", Carries::MessageId),
    ("ceid", Carries::MessageId),
    ("webhookid", Carries::MessageId),
];

/// What else is written around a name: `set_message_id`, `with_message_id`, `X-Message-Id`, `IDEMPOTENCY_KEY_HEADER`.
static BEFORE: &[&str] = &["set", "with", "and", "header", "hdr", "x"];
static AFTER: &[&str] = &["headername", "header", "hdr", "name"];

/// What a name carries, if it is one of ours.
pub(crate) fn carries(name: &str) -> Option<Carries> {
    if !ends_like_one(name.as_bytes()) {
        return None;
    }
    let mut name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect();
    for after in AFTER {
        if let Some(shorter) = name.strip_suffix(after) {
            name.truncate(shorter.len());
        }
    }
    if let Some((_, carries)) = ENDS.iter().find(|(end, _)| name.ends_with(end)) {
        return Some(*carries);
    }
    let whole = |name: &str| WHOLE.iter().find(|(whole, _)| name == *whole).map(|(_, carries)| *carries);
    whole(&name).or_else(|| BEFORE.iter().find_map(|before| whole(name.strip_prefix(before)?)))
}

/// Whether the last two letters are those of a key, a token, an id or `idempotency`, or of a header's or a constant's name: most names end
/// with others. (A plain loop, for a macro that is compiled without optimisations.)
fn ends_like_one(name: &[u8]) -> bool {
    let mut at = name.len();
    let mut last = 0;
    while at > 0 {
        at -= 1;
        let byte = name[at].to_ascii_lowercase();
        if !byte.is_ascii_alphanumeric() {
            continue;
        }
        if last != 0 {
            return matches!(
                (byte, last),
                (b'e', b'y' | b'n' | b'r') | (b'i', b'd') | (b'c', b'y') | (b'm', b'e') | (b'd', b'r')
            );
        }
        if !matches!(byte, b'y' | b'n' | b'r' | b'd' | b'e') {
            return false;
        }
        last = byte;
    }
    false
}

/// Whether a binding of that name is a key wherever it goes from there.
pub(crate) fn names_itself(name: &str) -> bool {
    matches!(carries(name), Some(Carries::Key | Carries::DedupId)) && !name.ends_with("workflow_id")
}

/// Structs that are written to a log: the id in one of them is nobody's to deduplicate by.
pub(crate) fn is_record_of(name: &str) -> bool {
    ["Log", "Audit", "Trace", "Metric", "Span"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{Carries, carries};

    #[test]
    fn names_are_compared_by_their_letters() {
        for name in [
            "Idempotency-Key",
            "idempotency-key",
            "X-Idempotency-Key",
            "Cko-Idempotency-Key",
            "PayPal-Request-Id",
            "Request-Idempotency-Key",
            "Idempotency-Token",
            "IDEMPOTENCY_KEY_HEADER",
            "HEADER_IDEMPOTENCY_KEY",
            "set_idempotency_key",
            "with_client_token",
            "client_request_token",
            "ClientRequestToken",
            "idempotencyKey",
        ] {
            assert_eq!(carries(name), Some(Carries::Key), "{name}");
        }
        for name in ["message_deduplication_id", "MessageDeduplicationId", "Nats-Msg-Id", "NATS_MESSAGE_ID"] {
            assert_eq!(carries(name), Some(Carries::DedupId), "{name}");
        }
        for name in ["set_message_id", "with_message_id", "X-Message-Id", "event_id", "eventId"] {
            assert_eq!(carries(name), Some(Carries::MessageId), "{name}");
        }
    }

    #[test]
    fn ids_that_nobody_deduplicates_by_are_no_carriers() {
        for name in [
            "X-Request-Id",
            "correlation_id",
            "traceparent",
            "id",
            "key",
            "Authorization",
            "last_event_id",
            "parent_message_id",
            "token",
            "header",
            "",
        ] {
            assert_eq!(carries(name), None, "{name}");
        }
    }
}
