//! Two handlers with one scope: each would skip the other's messages.

use std::fmt;

use super::{RegisteredHandler, handlers};

/// Two handlers that have the same scope, or of which the second has a scope that was the first one's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedScope(&'static RegisteredHandler, &'static RegisteredHandler);

impl fmt::Display for SharedScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(one, other) = self;
        let scope = other.scope();
        if one.scope() == scope && !one.scope_is_expression {
            write!(f, "two handlers have the scope `{scope}`: ")?;
            write!(f, "`{}` at {}:{}", one.function, one.file(), one.line())?;
            write!(f, " and `{}` at {}:{}", other.function, other.file(), other.line())?;
            return f.write_str("; give one of them another `scope`");
        }
        write!(f, "`{}` at {}:{} ", one.function, one.file(), one.line())?;
        write!(f, "names `{scope}` in its `scope_was`, and that is the scope of ")?;
        write!(f, "`{}` at {}:{}: ", other.function, other.file(), other.line())?;
        f.write_str("what the second has done would count as done by the first; take it out of `scope_was`")
    }
}

/// All handlers that would share records.
#[cfg(feature = "testing")]
pub(crate) fn shared_scopes() -> Vec<SharedScope> {
    in_table(handlers()).collect()
}

/// Entries of one place and function are one handler: a crate that is tested is linked a second time if what it tests with depends on it.
/// Methods that one macro makes for several types look the same, and `answers_for` tells those apart.
fn in_table(table: &'static [&'static RegisteredHandler]) -> impl Iterator<Item = SharedScope> {
    let same = table.windows(2).map(|pair| SharedScope(pair[0], pair[1]));
    let same = same.filter(|SharedScope(one, other)| {
        one.scope() == other.scope() && !one.scope_is_expression && are_two(one, other)
    });
    let was = table.iter().flat_map(move |one| {
        one.handler.other_scopes().filter_map(move |former| {
            let other = of_scope(table, former).find(|other| are_two(one, other))?;
            Some(SharedScope(one, other))
        })
    });
    same.chain(was)
}

/// Whether neither is the other linked once more, and the second has a scope that can be known.
fn are_two(one: &RegisteredHandler, other: &RegisteredHandler) -> bool {
    !other.scope_is_expression
        && (one.function, one.handler.place()) != (other.function, other.handler.place())
}

/// The entries with this scope; the table is sorted by it.
fn of_scope<'t>(
    table: &'t [&'static RegisteredHandler],
    scope: &'t str,
) -> impl Iterator<Item = &'static RegisteredHandler> + use<'t> {
    let from = table.partition_point(|handler| handler.scope() < scope);
    table[from..].iter().copied().take_while(move |handler| handler.scope() == scope)
}

/// The place of another handler with this scope.
#[cfg(feature = "registry")]
pub(crate) fn other_of_scope(scope: &str, place: (&str, u32)) -> Option<(&'static str, u32)> {
    let same = of_scope(handlers(), scope);
    let same = same.filter(|handler| !handler.scope_is_expression && !is_of_a_doctest(handler));
    same.map(|handler| handler.handler.place()).find(|other| *other != place)
}

/// The place of another handler that had this scope.
#[cfg(feature = "registry")]
pub(crate) fn heir_of_scope(scope: &str, place: (&str, u32)) -> Option<(&'static str, u32)> {
    let heirs = handlers().iter().filter(|handler| !is_of_a_doctest(handler));
    let heirs = heirs.filter(|handler| handler.handler.other_scopes().any(|former| former == scope));
    heirs.map(|handler| handler.handler.place()).find(|other| *other != place)
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
    fn a_former_scope_that_another_handler_has_is_named_with_both_places() {
        static HEIR: Handler = Handler::new("billing.pay").at("src/pay.rs", 5).scope_was(&[
            "billing.charge",
            "billing.pay",
            "gone",
        ]);
        let heir = || RegisteredHandler::new(&HEIR, "billing::pay", &[]);
        let charge = RegisteredHandler::new(&CHARGE, "billing::charge", &[]);
        assert_eq!(
            shared(vec![charge, heir()]),
            [
                "`billing::pay` at src/pay.rs:5 names `billing.charge` in its `scope_was`, and that is the scope of `billing::charge` at \
              src/charge.rs:12: what the second has done would count as done by the first; take it out of `scope_was`"
            ]
        );
        assert_eq!(shared(vec![heir(), heir()]), [""; 0], "its own scope, and one that nobody has");
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
