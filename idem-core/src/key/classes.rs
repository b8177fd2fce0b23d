//! Why a type is no part, for the classes of types that people try. The macros pick the class by the type's name as it is written;
//! whether it is a part is decided by [`KeyPart`] alone, so a type of the same name that is one passes.

use super::KeyPart;

/// Classes of types: each trait is implemented for all parts, and says in its own words why others are none.
macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident: $label:literal, $why:literal, $instead:literal;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Self}` cannot be part of an idempotency key",
            label = $label,
            note = $why,
            note = $instead
        )]
        pub trait $class {
            /// The part.
            fn part(&self) -> &dyn KeyPart;
        }

        // Otherwise the compiler tells of `KeyPart`, which is not implemented, in general words.
        #[diagnostic::do_not_recommend]
        impl<P: KeyPart> $class for P {
            fn part(&self) -> &dyn KeyPart {
                self
            }
        }
    )*};
}

classes! {
    /// Floating-point numbers.
    FloatPart: "a float has no one text",
        "why: `0.1 + 0.2` is not `0.3`, `-0` equals `0`, `NaN` does not equal itself, and a sender may round: one amount, several keys",
        "help: use whole minor units (`amount_cents: u64`), a `rust_decimal::Decimal`, or the text as it was sent";
    /// Clocks and moments.
    ClockPart: "a moment says when, not which",
        "why: it may be the time of this attempt; even the event's own time is shared by two events, and has several texts",
        "help: use the message's id; for a date of business, a date (`chrono::NaiveDate`); for the event's own time beside an id, `idem::EventTime`";
    /// Maps, lists and sets.
    ListPart: "several values have no one text",
        "why: a map has no order, and where one element of a list ends and the next begins would be a guess",
        "help: use the message's id, one element, or a struct of named parts with `#[derive(idem::KeyPart)]`";
    /// What belongs to a process, or to one build.
    ProcessPart: "this is something of one process or one build",
        "why: the next attempt may run in another process, after a deploy: pointers, thread ids, counters and type ids are others there",
        "help: use a value that came with the message, such as its id";
    /// Random sources and hashers.
    RandomPart: "this makes another value each time",
        "why: a random source gives each attempt a key of its own, and so do hashers that are seeded by the process",
        "help: use the message's id; where a shorter text is wanted, a digest of it by a fixed algorithm (SHA-256)";
    /// Values of any shape.
    AnyShapePart: "a value that may be anything has no one text",
        "why: an object's members come in an order that another crate's features decide (`preserve_order`), and a number may be a float",
        "help: give the message a field with a type of its own, such as `id: String`, and read that";
    /// What is behind a lock or in a cell.
    LockedPart: "what is in here may change at any time",
        "why: the key is read once, before the body runs, and has to be the same when the message comes again",
        "help: use a value that came with the message, such as its id";
    /// Results.
    ResultPart: "an error is no identity",
        "why: a part that could not be read on one attempt may be read on the next, and the key would be another one",
        "help: deal with the error before the call, and pass what is in the `Ok`";
    /// The unit.
    UnitPart: "there is nothing in it",
        "why: it is the same for every message, so it tells none from another",
        "help: name what the message says about its identity, or leave this part out";
}

/// The part of a part that a macro reads, with its type for the compiler to judge.
pub fn part_of<P: KeyPart>(part: &P) -> &dyn KeyPart {
    part
}
