//! Two handlers with one scope: each would skip the other's messages.

use std::fmt;

use super::{RegisteredHandler, handlers};

/// Two handlers that have the same scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedScope(&'static RegisteredHandler, &'static RegisteredHandler);

impl fmt::Display for SharedScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(one, other) = self;
        write!(f, "two handlers have the scope `{}`: ", one.scope())?;
        write!(f, "`{}` at {}:{}", one.function, one.file(), one.line())?;
        write!(f, " and `{}` at {}:{}", other.function, other.file(), other.line())?;
        f.write_str("; give one of them another `scope`")
    }
}

/// All pairs of neighbours in the table that have one scope.
#[cfg(feature = "testing")]
pub(crate) fn shared_scopes() -> Vec<SharedScope> {
    in_table(handlers()).collect()
}

/// Entries of one place and function are one handler: a crate that is tested is linked a second time if what it tests with depends on it.
/// Methods that one macro makes for several types look the same, and `answers_for` tells those apart.
fn in_table(table: &'static [&'static RegisteredHandler]) -> impl Iterator<Item = SharedScope> {
    let same = |pair: &&[&'static RegisteredHandler]| {
        let [one, other] = pair else { return false };
        one.scope() == other.scope()
            && !one.scope_is_expression
            && !other.scope_is_expression
            && (one.function, one.handler.place()) != (other.function, other.handler.place())
    };
    table.windows(2).filter(same).map(|pair| SharedScope(pair[0], pair[1]))
}

/// The place of another handler with this scope.
#[cfg(feature = "registry")]
pub(crate) fn other_of_scope(scope: &str, place: (&str, u32)) -> Option<(&'static str, u32)> {
    let table = handlers();
    let from = table.partition_point(|handler| handler.scope() < scope);
    let same = table[from..].iter().take_while(|handler| handler.scope() == scope);
    let same = same.filter(|handler| !handler.scope_is_expression && !is_of_a_doctest(handler));
    same.map(|handler| handler.handler.place()).find(|other| *other != place)
}

/// Stops a program whose handlers would skip each other's messages, before the first of them.
#[cfg(feature = "registry")]
#[track_caller]
pub(crate) fn refuse_shared_scopes() {
    let shared =
        in_table(handlers()).find(|SharedScope(one, other)| !is_of_a_doctest(one) && !is_of_a_doctest(other));
    if let Some(shared) = shared {
        panic!("{shared}");
    }
}

/// rustdoc links examples that have nothing to do with each other into one program, and runs each in a process of its own.
#[cfg(feature = "registry")]
fn is_of_a_doctest(handler: &RegisteredHandler) -> bool {
    handler.function.starts_with("doctest_bundle_")
}

#[cfg(test)]
mod tests {
    use super::{RegisteredHandler, in_table};
    use crate::Handler;

    static CHARGE: Handler = Handler::new("billing.charge").at("src/charge.rs", 12);
    static REFUND: Handler = Handler::new("billing.charge").at("src/refund.rs", 7);
    static MAIL: Handler = Handler::new("billing.mail").at("src/mail.rs", 3);
    static GENERIC: Handler = Handler::new("T::NAME").at("src/generic.rs", 1);
    static OTHER_GENERIC: Handler = Handler::new("T::NAME").at("src/generic.rs", 9);

    fn shared(handlers: Vec<RegisteredHandler>) -> Vec<String> {
        let handlers: Vec<&'static RegisteredHandler> =
            handlers.into_iter().map(|handler| &*Box::leak(Box::new(handler))).collect();
        in_table(handlers.leak()).map(|shared| shared.to_string()).collect()
    }

    #[test]
    fn two_handlers_with_one_scope_are_named_with_their_places() {
        let one = RegisteredHandler::new(&CHARGE, "billing::charge", &[]);
        let other = RegisteredHandler::new(&REFUND, "billing::refund", &[]);
        let mail = RegisteredHandler::new(&MAIL, "billing::mail", &[]);
        assert_eq!(
            shared(vec![one, other, mail]),
            [
                "two handlers have the scope `billing.charge`: `billing::charge` at src/charge.rs:12 and `billing::refund` at \
              src/refund.rs:7; give one of them another `scope`"
            ]
        );
    }

    #[test]
    fn of_two_that_one_macro_made_at_one_place_the_names_differ() {
        let one = RegisteredHandler::new(&CHARGE, "billing::charge", &[]);
        let other = RegisteredHandler::new(&CHARGE, "billing::refund", &[]);
        assert_eq!(shared(vec![one, other]).len(), 1);
    }

    #[test]
    fn a_crate_that_is_linked_twice_has_each_handler_once() {
        let handler = || RegisteredHandler::new(&CHARGE, "billing::charge", &[]);
        assert_eq!(shared(vec![handler(), handler()]), [""; 0]);
    }

    #[test]
    fn the_same_expression_is_not_the_same_scope() {
        let one = RegisteredHandler::new(&GENERIC, "billing::one", &[]).expression();
        let other = RegisteredHandler::new(&OTHER_GENERIC, "billing::other", &[]).expression();
        assert_eq!(shared(vec![one, other]), [""; 0]);
    }
}
