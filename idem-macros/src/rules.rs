//! The rules: a name, and why it matters. What is wrong and what to write instead is said where a rule is checked.
//!
//! A rule has one name in four places: here, in `tests/ui`, as a page of `idem::errors`, and in the last line of the message.

/// A rule.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $why:literal;)*) => {
        $($(#[$doc])* pub(crate) static $constant: Rule = Rule { name: $name, why: $why };)*

        /// All of them.
        pub(crate) static ALL: &[&Rule] = &[$(&$constant),*];
    };
}

rules! {
    KEY_MISSING = "key_missing", "without a key, idem cannot tell a second delivery from another message";
    KEY_NOT_LITERAL = "key_not_literal", "the key is read at compile time, and only a string literal can be read there";
    KEY_PREFIX = "key_prefix", "the prefix says where the key came from, and keeps the keys of different sources apart";
    KEY_CONSTANT = "key_constant", "every message after the first would be answered with the first one's result";
    KEY_UNKNOWN_ARGUMENT = "key_unknown_argument", "the key and the payload are read from the arguments, before the body runs";
    KEY_NO_RECEIVER = "key_no_receiver", "only a method with a receiver has a `self` to read";
    KEY_AMBIGUOUS = "key_ambiguous", "(1, 23) and (12, 3) would have one key, and the second message would get the first one's answer";
    KEY_OVERLAP = "key_overlap", "a message without the first id, whose second one is another message's first, would get that message's answer";
    KEY_UNCLOSED = "key_unclosed", "a place runs from `<` to `>`; written twice, they stand for themselves";
    KEY_EMPTY_PLACE = "key_empty_place", "a place of the key is an expression that reads the message";
    KEY_NOT_A_PLACE = "key_not_a_place", "the key and the payload read the message and do nothing else: arguments, fields, indices, and methods without arguments";
    KEY_PER_ATTEMPT = "key_per_attempt", "a redelivery would get another key, and the work would be done again";
    KEY_DEFAULT = "key_default", "messages without an id would answer for one another, or be worked on again at each delivery";
    KEY_UNWRAP = "key_unwrap", "a message without it would panic at every delivery, before an attempt is counted, and never be parked";
    KEY_PER_DELIVERY_NAME = "key_per_delivery_name", "a redelivery would get another key, and the work would be done again";
    KEY_PAYLOAD_ONLY = "key_payload_only", "two messages that are meant to be two would be taken for one, and the second would get the first one's answer";
    KEY_POSITION_ALONE = "key_position_alone", "a position is counted anew in each partition, batch or order, so two messages would have one key, and the second would get the first one's answer";
    FACTS_PER_DELIVERY = "facts_per_delivery", "a redelivery would get another key, and the work would be done again";
    FACTS_NO_IDENTITY = "facts_no_identity", "two messages with equal payloads would be taken for one, and the second would get the first one's answer";
    PAYLOAD_PER_ATTEMPT = "payload_per_attempt", "a redelivery would look like another message under the same key, and be refused";
    BODY_FRESH_KEY = "body_fresh_key", "the API knows a repeated request by this key: the next attempt would send another one, and the work would be done again";
    BODY_FRESH_DEDUP_ID = "body_fresh_dedup_id", "the broker drops a repeated message by this id: the next attempt would send another one, and both would be delivered";
    BODY_FRESH_MESSAGE_ID = "body_fresh_message_id", "whoever receives this message knows it again by its id: the next attempt would send the same news as another message";
    BODY_DEFAULT_KEY = "body_default_key", "messages without an id would all be sent under one key, and all but the first dropped or answered with its result";
    BODY_CONSTANT_KEY = "body_constant_key", "every message after the first would be dropped, or answered with the first one's result";
    BODY_TOKEN_MINTED_BY_SDK = "body_token_minted_by_sdk", "a client that is given no token makes a new one at each call: the next attempt would be another request, and the work would be done again";
    KEY_UNPROVED = "key_unproved", "a method may read a clock, a counter or a random source; only of a `const fn` on a type that it can name does the compiler prove that it reads none";
    MESSAGE_ITEM = "message_item", "a message is what arrives: fields, of which one is its identity";
    MESSAGE_NO_IDENTITY = "message_no_identity", "without an identity a second delivery cannot be told from another message";
    MESSAGE_TWO_IDENTITIES = "message_two_identities", "of two, a key might be made from either, and they need not come and go together";
    MESSAGE_ATTRIBUTE = "message_attribute", "what a field is decides what a key may read and what is compared, so a mark that does nothing would mislead";
    MESSAGE_IDENTITY_DEFAULT = "message_identity_default", "a message that came without an id would get a fresh one at each parse, or share one with all others";
    TX_NOT_AN_ARGUMENT = "tx_not_an_argument", "the record commits with the handler's rows only if both are written in the transaction that the handler was given";
    TX_NOT_BORROWED = "tx_not_borrowed", "the caller commits the transaction once the handler has returned, so it has to keep it";
    TX_ATTEMPT = "tx_attempt", "in a transaction of the handler's own there is no lease to lose, and no count of attempts: one that is rolled back leaves nothing behind";
    TX_LEFT_OUT = "tx_left_out", "the record says that the work is done, whatever becomes of the transaction: rolled back, its rows would be gone and the message never handled again";
    SCOPE_MISSING = "scope_missing", "a method or a generic function has no name of its own that lasts: two types, or two instances, would share one record";
    OPTION_UNKNOWN = "option_unknown", "an option that idem does not know would do nothing";
    OPTION_REPEATED = "option_repeated", "of two values, one would do nothing";
    OPTION_IDLE = "option_idle", "it asks for a protection that this handler does not have";
    OPTION_VALUE = "option_value", "options are read at compile time, and no other value has a meaning there";
    OPTION_RANGE = "option_range", "outside of its range the option would stop the handler or its protection from working";
    OPTION_SYNTAX = "option_syntax", "options are separated by commas: `name = value` or `name(…)`";
    OPTION_LATER = "option_later", "this version of idem does not have it yet, and ignoring it would weaken what was asked for";
    WINDOW_KEEP = "window_keep", "the record would be forgotten before the queue has given the message up, and the work would be done again";
    WINDOW_TTL = "window_ttl", "the queue could deliver a message whose result is no longer there to be replayed";
    WINDOW_TTL_KEEP = "window_ttl_keep", "a result cannot outlive the record that holds it";
    WINDOW_LEASE = "window_lease", "a lease longer than the longest hold could never be renewed";
    ITEM_NOT_A_FUNCTION = "item_not_a_function", "one key stands for one call of one function";
    ITEM_NO_BODY = "item_no_body", "there is no work here that could run twice";
    ITEM_REPEATED = "item_repeated", "the inner attribute would wait for the claim that the outer one holds, and no message would ever be handled";
    ITEM_CONST = "item_const", "a `const fn` can ask no store";
    ITEM_TRACK_CALLER = "item_track_caller", "the body of such a function runs inside of idem, and `Location::caller()` would silently mean a line there";
    RETURN_MISSING = "return_missing", "the result is stored and replayed, and a store that fails has to come out as an error";
    RETURN_BORROWED = "return_borrowed", "a replayed result is read from the store, and there is nothing that it could borrow from";
    RETURN_NEVER = "return_never", "a function that never returns has no result to store";
    ARGUMENT_HELPER = "argument_helper", "idem supplies this argument: the caller does not pass it";
    STORE_NONE_WITHOUT_KEY = "store_none_without_key", "with `store = none` nothing is remembered here: only an API that gets the key can refuse to repeat the work";
    FUTURE_REBOUND = "future_rebound", "the key would be read from the new value and not from the argument";
    PART_NOTHING = "part_nothing", "a part that is always the same tells no message from another";
    PART_UNNAMED = "part_unnamed", "fields without names can change places unseen, and every key would change with them";
    PART_DATA = "part_data", "which variant it is and what it holds would both be text, and `Number(7)` and `Text(\"7\")` are easily one";
    PART_REPEATED = "part_repeated", "two values with one text are one key, and the second message would get the first one's answer";
    PART_OPTION = "part_option", "`#[key(…)]` gives variants their text with `rename`, and types the place of idem with `crate`; anything else would do nothing";
    REASON_MISSING = "reason_missing", "whoever reviews this needs to know why the rule does not apply";
    TRUST_UNUSED = "trust_unused", "a trust that covers nothing hides that something else is not covered";
    ALLOW_UNKNOWN = "allow_unknown", "an allowance for a rule that knows no exceptions would do nothing";
    ALLOW_UNUSED = "allow_unused", "an allowance that covers nothing hides that something else is not covered";
}

/// Those that go by names, which can lie: `allow(rule, reason = "…")` is the way out.
pub(crate) static WITH_EXCEPTIONS: &[&Rule] = &[
    &KEY_PER_ATTEMPT,
    &KEY_PER_DELIVERY_NAME,
    &KEY_PAYLOAD_ONLY,
    &KEY_POSITION_ALONE,
    &FACTS_PER_DELIVERY,
    &FACTS_NO_IDENTITY,
    &PAYLOAD_PER_ATTEMPT,
    &BODY_FRESH_KEY,
    &BODY_FRESH_DEDUP_ID,
    &BODY_FRESH_MESSAGE_ID,
    &BODY_DEFAULT_KEY,
    &BODY_CONSTANT_KEY,
    &BODY_TOKEN_MINTED_BY_SDK,
    &TX_LEFT_OUT,
];

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_unique_and_begin_with_their_area() {
        for (at, rule) in ALL.iter().enumerate() {
            assert!(rule.name.contains('_'), "{} has an area and a what", rule.name);
            assert!(ALL[..at].iter().all(|other| other.name != rule.name), "{} is there twice", rule.name);
            assert!(!rule.why.ends_with('.'), "{}: no full stop", rule.name);
        }
    }
}
