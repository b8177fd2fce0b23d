//! Names of fields that lie in a key: what differs per delivery, and what is not an identity by itself.
//!
//! Names say less than types do, so each family also says how much is known: a broker's own words are refused wherever they stand,
//! and words that a business uses too only where the key is about the message (see [`Sureness`]).

mod delivery;
mod payload;

pub(crate) use delivery::{Sureness, ToldBy};
pub(crate) use payload::Sort;

/// What is known of a name that differs per delivery or attempt.
pub(crate) struct PerDelivery {
    pub(crate) sureness: Sureness,
    /// What it is, for the message: "is a handle of one delivery".
    pub(crate) is: &'static str,
    /// The broker that the name is from, if it is from one.
    pub(crate) told_by: Option<&'static ToldBy>,
}

/// What is known of `name`, in snake case, if it differs per delivery or attempt.
pub(crate) fn per_delivery(name: &str) -> Option<PerDelivery> {
    let family = delivery::FAMILIES.iter().find(|family| family.names.contains(&name))?;
    let told_by = delivery::BROKERS.iter().find(|broker| broker.names.contains(&name));
    Some(PerDelivery { sureness: family.sureness, is: family.is, told_by })
}

/// Whether `name`, in snake case, is of a field or getter whose value is another one at each delivery, wherever it is read.
pub(crate) fn is_per_delivery_in_bodies(name: &str) -> bool {
    delivery::FAMILIES.iter().any(|family| family.in_bodies && family.names.contains(&name))
}

/// What `name`, in snake case, is, if a queue alone has it and fills it anew for each delivery. What belongs to a trace came with the
/// message, and is there again.
pub(crate) fn of_one_delivery(name: &str) -> Option<&'static str> {
    let family = delivery::FAMILIES.iter().find(|family| family.in_bodies && family.names.contains(&name))?;
    (family.is != delivery::OF_A_TRACE).then_some(family.is)
}

/// Whether a variable of that name, of a loop over a range, counts tries.
pub(crate) fn counts_tries(name: &str) -> bool {
    delivery::TRIES.contains(&name)
}

/// All names by which a body tells of a delivery or of a try.
pub(crate) fn in_bodies() -> impl Iterator<Item = &'static str> {
    let families = delivery::FAMILIES.iter().filter(|family| family.in_bodies);
    families.flat_map(|family| family.names).chain(delivery::TRIES).copied()
}

/// What sort of payload `name`, in snake case, is, if it is known to be payload.
pub(crate) fn payload(name: &str) -> Option<Sort> {
    payload::SORTS.iter().find(|(_, names)| names.contains(&name)).map(|(sort, _)| *sort)
}

/// Whether a name in a place, or the prefix of a key, stands for what a queue hands over, and not for a thing of the business.
pub(crate) fn is_envelope(name: &str) -> bool {
    delivery::ENVELOPES.contains(&name)
}

/// `deliveryTag`, `DeliveryTag`, `delivery-tag` and `DELIVERY_TAG` as `delivery_tag`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    let chars: Vec<char> = name.trim_start_matches("r#").chars().collect();
    for (at, &char) in chars.iter().enumerate() {
        if !char.is_alphanumeric() {
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|before| chars[before]);
        let ends_a_word = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        // `XRayTrace`: the last capital of a row begins the next word.
        let begins_a_word = before.is_some_and(char::is_uppercase)
            && chars.get(at + 1).is_some_and(|after| after.is_lowercase());
        if char.is_uppercase() && (ends_a_word || begins_a_word) && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(char.to_lowercase());
    }
    snake.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{delivery, payload, per_delivery, snake_case};

    #[test]
    fn names_are_compared_in_snake_case() {
        for written in
            ["deliveryTag", "DeliveryTag", "delivery-tag", "DELIVERY_TAG", "r#delivery_tag", "_delivery_tag"]
        {
            assert_eq!(snake_case(written), "delivery_tag", "{written}");
        }
        assert_eq!(snake_case("X-Amzn-Trace-Id"), "x_amzn_trace_id");
        assert_eq!(snake_case("ApproximateReceiveCount"), "approximate_receive_count");
        assert_eq!(snake_case("AWSRequestId"), "aws_request_id");
        assert_eq!(snake_case("B3"), "b3");
        assert_eq!(snake_case("größe"), "größe");
        assert_eq!(snake_case("__"), "");
    }

    #[test]
    fn the_tables_are_in_snake_case_and_a_name_is_in_each_once() {
        let delivery: Vec<&str> =
            delivery::FAMILIES.iter().flat_map(|family| family.names).copied().collect();
        let payload: Vec<&str> = payload::SORTS.iter().flat_map(|(_, names)| *names).copied().collect();
        for table in [&delivery, &payload] {
            for (at, name) in table.iter().enumerate() {
                assert_eq!(snake_case(name), *name);
                assert!(!table[..at].contains(name), "{name} is there twice");
            }
        }
        for name in &delivery {
            assert!(!payload.contains(name), "{name} is in both tables");
        }
    }

    #[test]
    fn what_is_refused_in_a_body_is_refused_in_a_key_wherever_it_stands() {
        for family in delivery::FAMILIES.iter().filter(|family| family.in_bodies) {
            assert_eq!(family.sureness, delivery::Sureness::Sure, "{:?}", family.names);
        }
    }

    #[test]
    fn what_a_broker_is_named_for_is_in_the_table() {
        for broker in delivery::BROKERS {
            for name in broker.names {
                assert!(per_delivery(name).is_some(), "{name} of {}", broker.broker);
            }
        }
    }

    #[test]
    fn what_identifies_is_in_neither_table() {
        let good = [
            "id",
            "message_id",
            "event_id",
            "uuid",
            "ulid",
            "dedup_id",
            "message_deduplication_id",
            "idempotency_key",
            "transaction_id",
            "invoice_number",
            "command_id",
            "nats_msg_id",
            "ce_id",
            "task_id",
            "jid",
            "msg_id",
            "number",
        ];
        for name in good {
            assert!(per_delivery(name).is_none() && super::payload(name).is_none(), "{name}");
        }
    }
}
