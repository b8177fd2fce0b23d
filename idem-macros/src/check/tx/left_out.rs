//! A transaction among the arguments, and nothing said about it.

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;

use super::{behind_reference, type_of};
use crate::check::key::Keys;
use crate::check::options::{Options, StoreOption};
use crate::diagnostics::{At, Diagnostics};
use crate::item::{Argument, ArgumentKind, Item};
use crate::place::Root;
use crate::rules::{self, Rule};
use crate::tokens::{angle_end, is_ident, is_punct, split_commas};

/// What drivers call their transactions.
pub(super) const NAMES: &[&str] = &["Transaction", "Savepoint", "PgTransaction", "SqliteTransaction"];

/// The crates of the transactions that idem can write in.
const OURS: &[&str] = &["sqlx", "sqlx_core", "sqlx_postgres", "sqlx_sqlite", "rusqlite"];

/// Crates with transactions that it cannot.
const OTHERS: &[&str] =
    &["deadpool_postgres", "mysql", "mysql_async", "postgres", "rocksdb", "sqlx_mysql", "tokio_postgres"];

/// sqlx's databases.
const DATABASES: &[&str] = &["Postgres", "Sqlite", "MySql", "Any"];

/// The caller's to commit or to roll back, while the record goes to a store that knows nothing of it. The rule, if it is broken and allowed.
///
/// A handler that owns its transaction ends it before its record is written, and so is not meant. One that the key reads is the message: banks
/// have transactions too. So has any type a `Transaction` that nothing tells to be a database's: a lifetime, as what borrows its connection has, the
/// crate, or the database.
pub(in crate::check) fn left_out(
    options: &Options,
    item: &Item,
    key: &Keys,
    cx: &mut Diagnostics,
) -> Option<&'static Rule> {
    let records_nothing = matches!(options.store, StoreOption::Nowhere(_));
    // There, what is rolled back is lost by what was asked for.
    let loses = options.mode == Some("AtMostOnce");
    // Of a key that could not be read nobody knows what is its message.
    if options.says_tx || records_nothing || loses || key.places.is_empty() {
        return None;
    }
    let (argument, kind) = item.given().find_map(|argument| {
        let kind = Kind::of(argument)?;
        (!is_read(argument, key)).then_some((argument, kind))
    })?;
    let rule = &rules::TX_LEFT_OUT;
    if options.allows(rule) {
        return Some(rule);
    }
    let function = &item.name;
    let (at, given) = match argument.bindings() {
        [name] => (At::from(name), format!("the transaction `{name}`")),
        _ => (At::tokens(&argument.tokens), "a transaction".to_owned()),
    };
    let cure = match (kind, argument.bindings()) {
        (Kind::Ours, [name]) => format!("write the record in it: `tx = {name}`"),
        (Kind::Ours, _) => {
            "give the argument a name, as in `tx`, and write the record in it: `tx = tx`".to_owned()
        }
        (Kind::Other, _) => {
            "idem cannot write in one of this kind, so begin and commit it in the body".to_owned()
        }
    };
    cx.report(
        rule,
        at,
        format_args!("`{function}` is given {given}, and its record is not written in it"),
        format_args!("{cure}; where a rollback is no loss, say why: `allow({}, reason = \"…\")`", rule.name),
    );
    None
}

/// Whose transaction it is.
#[derive(Clone, Copy)]
enum Kind {
    Ours,
    Other,
}

impl Kind {
    /// `None` if the argument is not to be known as a borrowed transaction of a database.
    fn of(argument: &Argument) -> Option<Self> {
        if !matches!(argument.kind, ArgumentKind::Typed { .. }) {
            return None;
        }
        let ty = type_of(argument);
        let ty = match behind_reference(&ty)? {
            [word, rest @ ..] if is_ident(word, "mut") => rest,
            rest => rest,
        };
        let open = ty.iter().position(|token| is_punct(token, '<')).unwrap_or(ty.len());
        if !is_named(&ty[..open], NAMES) {
            return None;
        }
        let krate = ty.iter().find_map(|token| match token {
            TokenTree::Ident(first) => Some(first),
            _ => None,
        });
        let is_of = |names: &[&str]| krate.is_some_and(|krate| names.iter().any(|name| krate == name));
        let inner = angle_end(&ty[open..]).map_or(&[][..], |end| &ty[open + 1..open + end]);
        let given = split_commas(inner.iter().cloned().collect());
        let given: Vec<Vec<TokenTree>> = given.into_iter().map(|one| one.into_iter().collect()).collect();
        let borrows = given.iter().any(|one| one.first().is_some_and(|quote| is_punct(quote, '\'')));
        let database = given.iter().find(|one| is_named(one, DATABASES));
        let is_ours = is_of(OURS);
        if is_of(OTHERS) || database.is_some_and(|name| is_named(name, &["MySql", "Any"])) {
            return Some(Self::Other);
        }
        (is_ours || borrows || database.is_some()).then_some(Self::Ours)
    }
}

/// Whether the last name of a path is one of these.
pub(super) fn is_named(path: &[TokenTree], names: &[&str]) -> bool {
    matches!(path.last(), Some(TokenTree::Ident(last)) if names.iter().any(|name| last == name))
}

/// Whether the key is made of it.
fn is_read(argument: &Argument, key: &Keys) -> bool {
    let same = |one: &Ident, other: &Ident| one.unraw() == other.unraw();
    key.places.iter().any(|read| match &read.place.root {
        Root::Name(root) => argument.bindings().iter().any(|bound| same(bound, root)),
        _ => false,
    })
}
