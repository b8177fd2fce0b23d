//! The compile-time rules of `#[idempotent]` and `#[derive(Message)]`, one page each: what the message means, why idem refuses, and
//! what to write.
//!
//! A message names its rule in its last line. What each page shows as refused is compiled, and its message compared, by idem's
//! own tests.
//!
//! Where a rule goes by names, which can lie, there is a way out with a reason: `allow(…)`. Where idem cannot see into a method,
//! a person can vouch for it: `trust(…)`. Both stand in the attribute, so that a review sees them.
//!
//! The rules of keys and places are those of [`key!`](crate::key!) too. Rules that begin with `part_` are about `#[derive(KeyPart)]`.
//!
//! Types are checked by the compiler's own traits, whose messages carry idem's words instead of a rule: [`KeyPart`](trait@crate::KeyPart)
//! for the parts of a key; [`Answer`], [`Stored`] and [`CarriesError`] for what a handler returns; [`StoredError`] for `final_error`;
//! [`AtLeast`] for `require`, where the type of `store = …` tells the store's class; and for `tx`, [`AsyncTransaction`] in an `async fn`,
//! [`BlockingTransaction`] in a plain one, and [`HoldsRecords`] where it has a `store` beside it.
//!
//! In a generic function, and in a method that mentions `Self`, what a `Message` says about its fields is asked when the code is
//! built, not by `cargo check`.
//!
//! [`Answer`]: crate::Answer
//! [`Stored`]: crate::Stored
//! [`CarriesError`]: crate::CarriesError
//! [`StoredError`]: crate::StoredError
//! [`AtLeast`]: crate::class::AtLeast
//! [`AsyncTransaction`]: crate::inbox::AsyncTransaction
//! [`BlockingTransaction`]: crate::inbox::BlockingTransaction
//! [`HoldsRecords`]: crate::inbox::HoldsRecords

/// The page of a rule: its first line, the refused code with its message, and the prose. A build reads none of the files.
macro_rules! pages {
    ($($(#[$summary:meta])* $rule:ident = $case:literal;)*) => {$(
        $(#[$summary])*
        #[cfg_attr(any(doc, doctest), doc = concat!(
            "\n# Refused\n\n```compile_fail\n", include_str!(concat!("../tests/ui/", $case, ".rs")), "```\n\n",
            "```text\n", include_str!(concat!("../tests/ui/", $case, ".stderr")), "```\n",
        ))]
        #[cfg_attr(any(doc, doctest), doc = include_str!(concat!("errors/", stringify!($rule), ".md")))]
        pub mod $rule {}
    )*};
}

pages! {
    /// A handler without a key.
    key_missing = "key/missing";
    /// A key that is not written as a string literal.
    key_not_literal = "key/not_literal";
    /// A key that does not say where it came from.
    key_prefix = "key/prefix";
    /// A key that is the same for every message.
    key_constant = "key/constant";
    /// A key or a payload that begins with a name which the function does not have.
    key_unknown_argument = "key/unknown_argument";
    /// A key that reads `self` in a function without one.
    key_no_receiver = "key/no_receiver";
    /// A key in which two different messages can have one text.
    key_ambiguous = "key/ambiguous";
    /// A list of keys in which two of them can have one text.
    key_overlap = "key/overlap";
    /// A key with a bracket that has no partner.
    key_unclosed = "key/unclosed";
    /// A key with nothing between `<` and `>`.
    key_empty_place = "key/empty_place";
    /// A key or a payload that does more than read an argument.
    key_not_a_place = "key/not_a_place";
    /// A key with a value that is another one on every attempt.
    key_per_attempt = "key/per_attempt";
    /// A key that fills in for a missing id.
    key_default = "key/default";
    /// A key or a payload that panics where a part of it is missing.
    key_unwrap = "key/unwrap";
    /// A key with a part whose name says that it is another one at each delivery.
    key_per_delivery_name = "key/per_delivery_name";
    /// A key that is made of payload alone.
    key_payload_only = "key/payload_only";
    /// A key with a position, and without what it is counted in.
    key_position_alone = "key/position_alone";
    /// A key with a field that its message marks as another one at each delivery.
    facts_per_delivery = "facts/per_delivery";
    /// A key without the field that its message marks as its identity.
    facts_no_identity = "facts/no_identity";
    /// A payload with a value that is another one on every attempt.
    payload_per_attempt = "payload/per_attempt";
    /// A key that calls a method which nothing proves to be the same on every attempt.
    key_unproved = "key/unproved";
    /// A key that leaves the body and is another one on every attempt.
    body_fresh_key = "body/fresh_key";
    /// A deduplication id that is another one on every attempt.
    body_fresh_dedup_id = "body/fresh_dedup_id";
    /// A message that is sent under another id on every attempt.
    body_fresh_message_id = "body/fresh_message_id";
    /// A key that leaves the body and fills in for a missing one.
    body_default_key = "body/default_key";
    /// A key that leaves the body and is the same for every message.
    body_constant_key = "body/constant_key";
    /// A request whose client makes a token of its own at each call.
    body_token_minted_by_sdk = "body/token_minted_by_sdk";
    /// `store = none` in a handler that does not take the key.
    store_none_without_key = "store/none_without_key";
    /// A message of no fields.
    message_item = "message/item";
    /// A message without an identity.
    message_no_identity = "message/no_identity";
    /// A message with two identities of one kind.
    message_two_identities = "message/two_identities";
    /// A `#[message(…)]` that marks nothing.
    message_attribute = "message/attribute";
    /// An identity that is filled in where it was not sent.
    message_identity_default = "message/identity_default";
    /// A transaction that is not the handler's argument.
    tx_not_an_argument = "tx/not_an_argument";
    /// A transaction that the caller would not keep.
    tx_not_borrowed = "tx/not_borrowed";
    /// An attempt asked for in a transaction of the handler's own.
    tx_attempt = "tx/attempt";
    /// A transaction that the record is not written in.
    tx_left_out = "tx/left_out";
    /// A method or a generic function without a `scope`.
    scope_missing = "scope/missing";
    /// An option that idem does not know.
    option_unknown = "option/unknown";
    /// An option that is there twice.
    option_repeated = "option/repeated";
    /// An option that does nothing beside another one.
    option_idle = "option/idle";
    /// An option with a value that means nothing.
    option_value = "option/value";
    /// An option with a value out of its range.
    option_range = "option/range";
    /// Something in the attribute that is not an option.
    option_syntax = "option/syntax";
    /// Something that a later version of idem will have.
    option_later = "option/later";
    /// A record that ends before the queue has given the message up.
    window_keep = "window/keep";
    /// A result that ends before the queue has given the message up.
    window_ttl = "window/ttl";
    /// A result that would outlive its record.
    window_ttl_keep = "window/ttl_keep";
    /// A lease that is longer than the longest hold.
    window_lease = "window/lease";
    /// The attribute on something that is no function.
    item_not_a_function = "item/not_a_function";
    /// The attribute on a function that is only declared.
    item_no_body = "item/no_body";
    /// The attribute twice on one function.
    item_repeated = "item/repeated";
    /// The attribute on a `const fn`.
    item_const = "item/const";
    /// `#[track_caller]` where it cannot be kept.
    item_track_caller = "item/track_caller";
    /// A key whose argument is bound anew before a future made by hand.
    future_rebound = "future/rebound";
    /// A handler that returns nothing.
    return_missing = "return/missing";
    /// A handler that returns a reference.
    return_borrowed = "return/borrowed";
    /// A handler that never returns.
    return_never = "return/never";
    /// An argument of idem's own that cannot be supplied.
    argument_helper = "argument/helper";
    /// A derived part that has one value only.
    part_nothing = "part/nothing";
    /// A derived part with several fields that have no names.
    part_unnamed = "part/unnamed";
    /// A derived part with variants that hold data.
    part_data = "part/data";
    /// A derived part in which two variants have one text.
    part_repeated = "part/repeated";
    /// A derived part with a `#[key(…)]` that means nothing.
    part_option = "part/option";
    /// An escape that does not say why.
    reason_missing = "reason/missing";
    /// A `trust` that covers nothing.
    trust_unused = "trust/unused";
    /// An `allow` for something that cannot be allowed.
    allow_unknown = "allow/unknown";
    /// An `allow` that covers nothing.
    allow_unused = "allow/unused";
}
