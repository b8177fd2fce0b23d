//! What the names in a key tell: that a part is another one at each delivery, or that no part is an identity.
//!
//! Names lie both ways, so a name is refused only where little speaks for it, and each rule here can be allowed with a reason.

use proc_macro2::Span;

use super::options::Options;
use crate::diagnostics::{Diagnostics, list};
use crate::known::is_conversion;
use crate::known::names::{Sort, Sureness, is_envelope, payload, per_delivery, snake_case};
use crate::place::{Named, Place};
use crate::rules::{self, Rule};

/// One template, as a row of names.
pub(super) struct NamedKey<'a> {
    pub(super) prefix: &'a str,
    /// The places, and whether each comes from an argument: `self` and constants only qualify.
    pub(super) places: &'a [(&'a Place, bool)],
    pub(super) options: &'a Options,
    /// A place of this function's, for the message.
    pub(super) example: Option<String>,
    /// Where the template is.
    pub(super) at: Span,
}

impl NamedKey<'_> {
    /// Reports what the names tell; gives back the rules that were allowed to be broken.
    pub(super) fn check(&self, cx: &mut Diagnostics) -> Vec<&'static Rule> {
        let mut excused = Vec::new();
        let mut clean = true;
        for (place, _) in self.places {
            if self.is_per_delivery(place) {
                if self.options.allows(&rules::KEY_PER_DELIVERY_NAME) {
                    excused.push(&rules::KEY_PER_DELIVERY_NAME);
                } else {
                    self.per_delivery(place, cx);
                }
                clean = false;
            }
        }
        // With a part that has to go, the rest is not yet the key.
        if clean
            && let Some(found) = self.not_enough()
            && self.options.once_per.is_none()
        {
            let rule = found.rule();
            if self.options.allows(rule) {
                excused.push(rule);
            } else {
                self.report(&found, cx);
            }
        }
        excused
    }

    fn is_per_delivery(&self, place: &Place) -> bool {
        if self.options.trusts(place) {
            return false;
        }
        let names = place.names();
        let Some((last, before)) = told(&names) else { return false };
        let Some(known) = per_delivery(&snake_case(&last.text)) else { return false };
        let envelope =
            is_envelope(self.prefix) || before.iter().any(|name| is_envelope(&snake_case(&name.text)));
        match known.sureness {
            Sureness::Sure => true,
            Sureness::Handler => before.is_empty() || envelope,
            // A method has been proved to read nothing but the message.
            Sureness::Doubtful => envelope && !last.called,
        }
    }

    fn per_delivery(&self, place: &Place, cx: &mut Diagnostics) {
        let names = place.names();
        let Some((last, _)) = told(&names) else { return };
        let Some(known) = per_delivery(&snake_case(&last.text)) else { return };
        let rule = &rules::KEY_PER_DELIVERY_NAME;
        let override_it = format!("`allow({}, reason = \"…\")`", rule.name);
        let example = self.example.as_deref().filter(|example| *example != place.to_string());
        let instead = match (known.told_by, example) {
            (Some(told_by), _) => format!("on {} use {}", told_by.broker, told_by.instead),
            (None, Some(example)) => {
                format!("use the id that the publisher gave the message, such as `<{example}>`")
            }
            (None, None) => "use the id that the publisher gave the message".to_owned(),
        };
        let help = match known.sureness {
            Sureness::Sure => format!("{instead}; if the name lies, say so: {override_it}"),
            Sureness::Handler | Sureness::Doubtful => {
                format!("{instead}; if it is the same at each delivery, say so: {override_it}")
            }
        };
        let is = known.is;
        let broker = known.told_by.map_or_else(String::new, |told_by| format!(" ({})", told_by.broker));
        cx.report(rule, self.at, format_args!("`<{place}>` in the key {is}{broker}"), help);
    }

    /// What is missing for an identity; `None` if one of the parts could be one.
    fn not_enough(&self) -> Option<NotEnough> {
        let places: Vec<&Place> =
            self.places.iter().filter(|(_, of_message)| *of_message).map(|(place, _)| *place).collect();
        let sorts: Vec<Sort> = places.iter().map(|place| sort(place)).collect::<Option<_>>()?;
        let has = |wanted: &[Sort]| sorts.iter().any(|sort| wanted.contains(sort));
        let shown = || list(places.iter().map(|place| format!("<{place}>")));
        if has(&[Sort::Position]) {
            let scoped = has(&[Sort::Entity, Sort::Operation, Sort::Row]);
            return (!scoped).then(|| {
                let position = places.iter().zip(&sorts).find(|(_, sort)| **sort == Sort::Position);
                let position = position.map(|(place, _)| place.to_string()).unwrap_or_default();
                let of = if position.ends_with("offset") { "<topic>:<partition>" } else { "<order_id>" };
                NotEnough::Position { places: shown(), example: format!("{}:{of}:<{position}>", self.prefix) }
            });
        }
        // A meter and the time of its reading; an order and what happened to it.
        let enough = has(&[Sort::Entity, Sort::Operation]) && has(&[Sort::Time])
            || has(&[Sort::Operation]) && (has(&[Sort::Kind]) || !is_envelope(self.prefix));
        if enough {
            return None;
        }
        let once = places.iter().zip(&sorts).find_map(|(place, sort)| {
            let name = snake_case(&place.names().last()?.text);
            let entity = name.strip_suffix("_id")?;
            match sort {
                Sort::Entity => Some(Once::Entity(entity.to_owned())),
                Sort::Operation => Some(Once::Operation(format!("{entity}-created:<{place}>"))),
                _ => None,
            }
        });
        Some(NotEnough::Payload { places: shown(), once: once.unwrap_or(Once::Unknown) })
    }

    fn report(&self, found: &NotEnough, cx: &mut Diagnostics) {
        let rule = found.rule();
        let what = match found {
            NotEnough::Position { places, .. } => {
                format!("the key says at which position, {places}, but not of what")
            }
            NotEnough::Payload { places, .. } => format!("the key is made of payload alone: {places}"),
        };
        let help = match found {
            NotEnough::Position { example, .. } => format!(
                "add what it is counted in, such as `{example}`, or use the publisher's id; if there is only one, say so: `allow({}, reason = \"…\")`",
                rule.name
            ),
            NotEnough::Payload { once: Once::Operation(example), .. } => format!(
                "add the message's own id; or say in the prefix what happens to it once, such as `{example}`"
            ),
            NotEnough::Payload { once: Once::Entity(entity), .. } => format!(
                "add the message's own id; if one effect per {entity} is meant, say so: `once_per = \"{entity}\"`"
            ),
            NotEnough::Payload { once: Once::Unknown, .. } => {
                "add the message's own id; if one effect for equal payloads is meant, say for each what: `once_per = \"…\"`".to_owned()
            }
        };
        cx.report(rule, self.at, what, help);
    }
}

/// A key without an identity, by its places.
enum NotEnough {
    /// And a key that would do.
    Position {
        places: String,
        example: String,
    },
    Payload {
        places: String,
        once: Once,
    },
}

/// What could be meant to happen once.
enum Once {
    /// One effect for each such entity.
    Entity(String),
    /// One of the steps of an operation: a key that says which.
    Operation(String),
    Unknown,
}

impl NotEnough {
    fn rule(&self) -> &'static Rule {
        match self {
            Self::Position { .. } => &rules::KEY_POSITION_ALONE,
            Self::Payload { .. } => &rules::KEY_PAYLOAD_ONLY,
        }
    }
}

/// The name that tells what a place is, and those before it: of `message.delivery_tag.to_string()`, `delivery_tag`.
fn told(names: &[Named]) -> Option<(&Named, &[Named])> {
    let form = |name: &Named| {
        name.called && (is_conversion(&name.text) || matches!(name.text.as_str(), "as_str" | "get"))
    };
    let len = names.iter().rposition(|name| !form(name))?;
    Some((&names[len], &names[..len]))
}

/// What a place is by a name of queues alone, which is another one at each delivery wherever it stands.
pub(super) fn surely_per_delivery(place: &Place) -> Option<&'static str> {
    let names = place.names();
    let (last, _) = told(&names)?;
    per_delivery(&snake_case(&last.text))
        .filter(|known| known.sureness == Sureness::Sure)
        .map(|known| known.is)
}

/// What sort of payload a place is; `None` if it may be an identity.
fn sort(place: &Place) -> Option<Sort> {
    let names = place.names();
    let (last, before) = told(&names)?;
    let name = snake_case(&last.text);
    let sort = payload(&name)?;
    let argument = before.is_empty();
    match sort {
        // An argument by itself: the nominal date of a run, the position in a row that the prefix names, the message as an id.
        Sort::Time | Sort::Position | Sort::Content if argument => None,
        // An argument of that name is more often a key that somebody made than the one of Kafka.
        Sort::Entity if argument && name == "key" => None,
        // A getter of the user's own, proved or vouched for.
        Sort::Position | Sort::Row if last.called => None,
        sort => Some(sort),
    }
}

#[cfg(test)]
mod tests {
    use crate::expanded;

    /// The rules that a key breaks, in a function with these arguments.
    fn rules(arguments: &str, key: &str, options: &str) -> Vec<String> {
        let attribute = format!("key = \"{}\"{options}", key.replace('"', "\\\""));
        let function = format!("fn handle({arguments}) -> Result<(), idem::Error> {{ Ok(()) }}");
        let out = expanded(attribute.parse().unwrap(), function.parse().unwrap()).to_string();
        out.split("rule: idem::errors::")
            .skip(1)
            .map(|rule| rule.split('"').next().unwrap_or_default().to_owned())
            // What is asked of types is in each expansion.
            .filter(|rule| !rule.starts_with("facts_"))
            .collect()
    }

    fn of_message(key: &str) -> Vec<String> {
        rules("message: Message", key, "")
    }

    const DELIVERY: &str = "key_per_delivery_name";
    const PAYLOAD: &str = "key_payload_only";
    const POSITION: &str = "key_position_alone";

    #[test]
    fn what_differs_per_delivery_is_refused_in_every_spelling() {
        for place in [
            "message.delivery_tag",
            "message.deliveryTag",
            "message.DeliveryTag",
            "message.meta.delivery_tag",
            "message.delivery_tag()",
            "message.delivery_tag.0",
            "message.receipt_handle.as_str()",
            "message.headers[\"x-delivery-count\"]",
            "message.attributes[\"ApproximateReceiveCount\"]",
            "message.properties.lock_token",
            "message.attempt_id",
            "message.request_id",
            "message.hostname",
        ] {
            for key in [format!("msg:<{place}>"), format!("msg:<message.id>:<{place}>")] {
                assert_eq!(of_message(&key), [DELIVERY], "{key}");
            }
        }
        assert_eq!(rules("delivery_tag: u64", "msg:<delivery_tag>", ""), [DELIVERY]);
        assert_eq!(rules("id: u64, attempt: u32", "msg:<id>:<attempt>", ""), [DELIVERY]);
    }

    #[test]
    fn a_word_of_the_business_is_left_alone_where_the_key_is_about_the_business() {
        for (arguments, key) in [
            ("exam: Exam", "exam:<exam.attempt_id>"),
            ("payment: Payment", "transfer:<payment.nonce>"),
            ("parcel: Parcel", "parcel:<parcel.id>:<parcel.received_at>"),
            ("offer: Offer", "offer:<offer.id>:<offer.expires_at>"),
            ("booking: Booking", "booking:<booking.id>:<booking.host>"),
            ("run_id: String", "run:<run_id>"),
            ("request_id: String", "mint:<request_id>"),
            ("message: Message", "api:<message.idempotency_key>"),
            ("message: Message", "msg:<message.idempotency_key>"),
            ("message: Message", "msg:<message.nats_msg_id>"),
        ] {
            assert_eq!(rules(arguments, key, ""), [""; 0], "{key}");
        }
    }

    #[test]
    fn payload_alone_is_refused_and_beside_an_id_it_is_not() {
        for key in [
            "charge:<message.customer_id>:<message.amount>",
            "charge:<message.customerId>",
            "welcome:<message.email>",
            "msg:<message.created_at>",
            "msg:<message.type>:<message.status>",
            "msg:<message.order_id>",
            "evt:<message.order_id>:<message.amount>",
            "msg:<message.md5_of_body>",
            "charge:<message.customer_id.to_string()>",
        ] {
            // A conversion has no proof, which is another mistake.
            assert!(of_message(key).contains(&PAYLOAD.to_owned()), "{key}: {:?}", of_message(key));
        }
        assert_eq!(rules("amount: u64", "charge:<amount>", ""), [PAYLOAD]);
        for key in [
            "charge:<message.id>",
            "charge:<message.customer_id>:<message.id>",
            "charge:<message.amount>:<message.uuid>",
            "charge:<message.charge_reference>:<message.amount>",
            "order-created:<message.order_id>",
            "order:<message.order_id>:<message.status>",
            "msg:<message.order_id>:<message.event_type>",
            "msg:<message.order_id>:<message.version>",
            "account:<message.account_id>:<message.date>",
            "order:<message.number>",
            "msg:<message.headers[\"event-id\"]>",
            "ce:<message.source>:<message.id>",
            "s3:<message.bucket>:<message.key>:<message.version_id>",
        ] {
            assert_eq!(of_message(key), [""; 0], "{key}");
        }
        assert_eq!(rules("date: Date", "run:<date>", ""), [""; 0]);
        assert_eq!(rules("message: Uuid", "msg:<message>", ""), [""; 0]);
    }

    #[test]
    fn a_position_needs_its_row() {
        for key in [
            "msg:<message.offset>",
            "msg:<message.topic>:<message.offset>",
            "evt:<message.sequence>",
            "msg:<message.batch_index>",
            "evt:<message.event_type>:<message.version>",
        ] {
            assert_eq!(of_message(key), [POSITION], "{key}");
        }
        for key in [
            "kafka:<message.topic>:<message.partition>:<message.offset>",
            "js:<message.stream>:<message.stream_sequence>",
            "kinesis:<message.shard_id>:<message.sequence_number>",
            "order:<message.order_id>:<message.version>",
            "msg:<message.id>:<message.index>",
        ] {
            assert_eq!(of_message(key), [""; 0], "{key}");
        }
        assert_eq!(
            rules("topic: &str, partition: i32, offset: i64", "kafka:<topic>:<partition>:<offset>", ""),
            [""; 0]
        );
    }

    #[test]
    fn each_rule_has_its_way_out_and_one_that_is_not_needed_is_told() {
        for (key, rule) in [
            ("msg:<message.delivery_tag>", DELIVERY),
            ("charge:<message.customer_id>:<message.amount>", PAYLOAD),
            ("msg:<message.offset>", POSITION),
        ] {
            let allow = format!(", allow({rule}, reason = \"the publisher says so\")");
            assert_eq!(rules("message: Message", key, &allow), [""; 0], "{key}");
            assert_eq!(rules("message: Message", "msg:<message.id>", &allow), ["allow_unused"], "{key}");
        }
        let once = ", once_per = \"customer\"";
        assert_eq!(rules("message: Message", "charge:<message.customer_id>:<message.amount>", once), [""; 0]);
        assert_eq!(rules("message: Message", "msg:<message.delivery_tag>", once), [DELIVERY]);
        let trust = ", trust(message.delivery_tag(), reason = \"it is ours\")";
        assert_eq!(rules("message: Message", "msg:<message.delivery_tag()>", trust), [""; 0]);
    }

    #[test]
    fn what_is_known_from_a_broker_says_what_to_use_there() {
        let out = expanded(
            "key = \"msg:<delivery.delivery_tag>\"".parse().unwrap(),
            "fn handle(delivery: Delivery) -> Result<(), idem::Error> { Ok(()) }".parse().unwrap(),
        )
        .to_string();
        assert!(out.contains("is a handle of one delivery (RabbitMQ)"), "{out}");
        assert!(out.contains("on RabbitMQ use `properties.message_id()`"), "{out}");
    }

    #[test]
    fn a_payload_has_nothing_of_the_delivery_either() {
        let payload = |place: &str| format!(", payload(message.amount, {place})");
        let of = |options: &str| rules("message: Message", "msg:<message.id>", options);
        assert_eq!(of(&payload("message.delivery_tag")), ["payload_per_attempt"]);
        assert_eq!(of(&payload("message.attempt_id")), [""; 0]);
        let allow = ", allow(payload_per_attempt, reason = \"a word of the courier's\")";
        assert_eq!(of(&(payload("message.delivery_tag") + allow)), [""; 0]);
    }

    #[test]
    fn of_several_templates_each_is_looked_at() {
        let out = expanded(
            "key = [\"evt:<message.event>\", \"msg:<message.receipt_handle>\", \"c:<message.customer_id>\"]"
                .parse()
                .unwrap(),
            "fn handle(message: Message) -> Result<(), idem::Error> { Ok(()) }".parse().unwrap(),
        )
        .to_string();
        assert_eq!(out.matches("compile_error").count(), 2, "{out}");
    }
}
