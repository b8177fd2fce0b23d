//! What the names in a key tell: that a part is another one at each delivery, or that no part is an identity.
//!
//! Names lie both ways, so a name is refused only where little speaks for it, and each rule here can be allowed with a reason.

use proc_macro2::Span;

use super::options::Options;
use crate::diagnostics::{self, Diagnostics, list};
use crate::known::is_conversion;
use crate::known::names::{Sort, Sureness, is_envelope, payload, per_delivery, snake_case};
use crate::model::TypedField;
use crate::place::{Named, Place};
use crate::rules::{self, Rule};

/// One template, as a row of names.
pub(super) struct NamedKey<'a> {
    pub(super) prefix: &'a str,
    /// The places, and whether each comes from an argument: `self` and constants only qualify.
    pub(super) places: &'a [(&'a Place, bool)],
    pub(super) options: &'a Options,
    /// Whether it is to be the identity of a message.
    pub(super) is_of_handler: bool,
    /// A place of this function's, for the message.
    pub(super) example: Option<String>,
    /// The field that a place reads, if its type can be asked what it is.
    pub(super) asked: &'a dyn Fn(&Place) -> Option<TypedField>,
    /// Where the template is.
    pub(super) at: Span,
}

/// What the names told.
#[derive(Default)]
pub(super) struct Told {
    /// The rules that were allowed to be broken.
    pub(super) excused: Vec<&'static Rule>,
    /// Fields of which their message may say that they stay the same, and what is said if it does not.
    pub(super) named: Vec<(TypedField, String)>,
    /// Fields of which their message may say that one is its identity, and what is said if it does not.
    pub(super) enough: Option<(Vec<TypedField>, String)>,
}

impl NamedKey<'_> {
    /// Reports what the names tell.
    pub(super) fn check(&self, cx: &mut Diagnostics) -> Told {
        let mut told = Told::default();
        let mut clean = true;
        for (place, _) in self.places {
            if self.is_per_delivery(place) {
                if self.options.allows(&rules::KEY_PER_DELIVERY_NAME) {
                    told.excused.push(&rules::KEY_PER_DELIVERY_NAME);
                } else if let Some((what, help)) = self.per_delivery(place) {
                    let rule = &rules::KEY_PER_DELIVERY_NAME;
                    match self.asked(place) {
                        Some(field) => told.named.push((field, diagnostics::text(rule, &what, &help))),
                        None => cx.report(rule, self.at, what, help),
                    }
                }
                clean = false;
            }
        }
        // With a part that has to go, the rest is not yet the key.
        if clean
            && self.is_of_handler
            && let Some(found) = self.not_enough()
            && self.options.once_per.is_none()
        {
            let rule = found.rule();
            let (what, help) = Self::text(&found);
            if self.options.allows(rule) {
                told.excused.push(rule);
            } else if let Some(fields) = self.may_be_marked() {
                told.enough = Some((fields, diagnostics::text(rule, &what, &help)));
            } else {
                cx.report(rule, self.at, what, help);
            }
        }
        told
    }

    /// The field that a name which a business uses too is of: then its message has the last word. A queue's own words are refused at
    /// once, and under every compiler alike.
    fn asked(&self, place: &Place) -> Option<TypedField> {
        let names = place.names();
        let (last, before) = told(&names)?;
        let sure = per_delivery(&snake_case(&last.text))?.sureness == Sureness::Sure;
        let is_first = before.len() == 1 && !last.called;
        if sure || !is_first { None } else { (self.asked)(place) }
    }

    /// The fields, if all have names that an identity could have too, and their types can be asked: then the message has the last word.
    /// No message is known by an amount, a person or a time, whatever stands beside it.
    fn may_be_marked(&self) -> Option<Vec<TypedField>> {
        let mut one = false;
        let mut fields = Vec::new();
        for (place, _) in self.places.iter().filter(|(_, of_message)| *of_message) {
            match sort(place)? {
                Sort::Entity | Sort::Operation | Sort::Content | Sort::Position => one = true,
                Sort::Kind | Sort::Row => {}
                Sort::Value | Sort::Person | Sort::Time | Sort::Text => return None,
            }
            let is_first = place.names().len() == 2 && !place.calls();
            fields.push(if is_first { (self.asked)(place)? } else { return None });
        }
        one.then_some(fields)
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

    fn per_delivery(&self, place: &Place) -> Option<(String, String)> {
        let names = place.names();
        let (last, _) = told(&names)?;
        let known = per_delivery(&snake_case(&last.text))?;
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
        Some((format!("`<{place}>` in the key {is}{broker}"), help))
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

    /// What is wrong, and what to do.
    fn text(found: &NotEnough) -> (String, String) {
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
        (what, help)
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
mod tests;
