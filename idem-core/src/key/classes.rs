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
}

/// The part of a part that a macro reads, with its type for the compiler to judge.
pub fn part_of<P: KeyPart>(part: &P) -> &dyn KeyPart {
    part
}
