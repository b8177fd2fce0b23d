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
pub(crate) fn shared_scopes() -> Vec<SharedScope> {
    in_table(handlers()).collect()
}

/// Handlers of one place are one: a crate that is tested links itself a second time if what it tests with depends on it. Where one macro
/// makes several at one place, `answers_for` tells their types apart.
fn in_table(table: &'static [&'static RegisteredHandler]) -> impl Iterator<Item = SharedScope> {
    let same = |pair: &&[&'static RegisteredHandler]| {
        let [one, other] = pair else { return false };
        one.scope() == other.scope()
            && !one.scope_is_expression
            && !other.scope_is_expression
            && one.handler.place() != other.handler.place()
    };
    table.windows(2).filter(same).map(|pair| SharedScope(pair[0], pair[1]))
}

/// The place of another handler with this scope.
pub(crate) fn other_of_scope(scope: &str, place: (&str, u32)) -> Option<(&'static str, u32)> {
    let table = handlers();
    let from = table.partition_point(|handler| handler.scope() < scope);
    let same = table[from..].iter().take_while(|handler| handler.scope() == scope);
    let mut places =
        same.filter(|handler| !handler.scope_is_expression).map(|handler| handler.handler.place());
    places.find(|other| *other != place)
}

/// Stops a program whose handlers would skip each other's messages, before the first of them.
#[track_caller]
pub(crate) fn refuse_shared_scopes() {
    if let Some(shared) = in_table(handlers()).next() {
        panic!("{shared}");
    }
}
