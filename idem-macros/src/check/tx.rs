//! The transaction that a handler is given, and writes its record in.

use proc_macro2::{Ident, TokenStream, TokenTree};

use super::names::Names;
use super::options::{Options, TxOption};
use crate::diagnostics::{Diagnostics, list};
use crate::item::{Argument, ArgumentKind, Helper, Item};
use crate::model::{Shadow, Transaction};
use crate::place::{Place, Root};
use crate::rules;
use crate::shape::Shape;
use crate::tokens::{is_ident, is_punct, source, unwrapped};

mod left_out;

pub(super) use left_out::left_out;

/// The transaction, if there is to be one.
pub(super) fn transaction(
    options: &Options,
    item: &Item,
    shape: &Shape,
    names: &Names,
    cx: &mut Diagnostics,
) -> Option<Transaction> {
    let tx = options.tx.as_ref()?;
    attempt(item, cx);
    waiting(options, shape, cx);
    let place = tx.place.as_ref()?;
    let Some((root, argument)) = root(place, item, names) else {
        unknown(place, tx, item, names, cx);
        return None;
    };
    let borrowed = argument.map_or(Borrowed::Unknown, Borrowed::of);
    let mutable = argument.is_some_and(|argument| is_mut(argument, root));
    if let (true, Some(argument)) = (place.is_bare(), argument)
        && !is_borrowed(place, argument, tx, shape, cx)
    {
        return None;
    }
    // Only a name can be bound anew, and `self` is none. A plain function's body can do without.
    let anew = match borrowed {
        Borrowed::Mut => true,
        Borrowed::Unknown => place.is_bare() && !matches!(shape, Shape::Sync),
        Borrowed::Shared | Borrowed::Owned => false,
    };
    let shadow = (anew && root != "self").then(|| Shadow { name: root.clone(), mutable });
    let span = tx.tokens.clone().into_iter().next().map_or_else(|| root.span(), |token| token.span());
    let root: TokenStream = TokenTree::Ident(root.clone()).into();
    Some(Transaction { place: place.read(&root, span), bare: place.is_bare(), shadow, at: span })
}

/// How a handler has an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Borrowed {
    Mut,
    Shared,
    Owned,
    /// Its type is not to be seen: it is an alias, or another macro has bound the argument anew.
    Unknown,
}

impl Borrowed {
    fn of(argument: &Argument) -> Self {
        let tokens = type_of(argument);
        // `self: &mut Self`
        let from = match &tokens[..] {
            [this, colon, ..] if is_ident(this, "self") && is_punct(colon, ':') => 2,
            _ => 0,
        };
        match behind_reference(&tokens[from..]) {
            None if is_transaction(&tokens) => Self::Owned,
            None => Self::Unknown,
            Some([word, ..]) if is_ident(word, "mut") => Self::Mut,
            Some(_) => Self::Shared,
        }
    }
}

fn type_of(argument: &Argument) -> Vec<TokenTree> {
    let ty = match &argument.kind {
        ArgumentKind::Typed { ty, .. } => unwrapped(ty.clone()),
        _ => argument.tokens.clone(),
    };
    ty.into_iter().collect()
}

/// What comes behind `&` and a lifetime.
fn behind_reference(ty: &[TokenTree]) -> Option<&[TokenTree]> {
    let [and, rest @ ..] = ty else { return None };
    match rest {
        _ if !is_punct(and, '&') => None,
        [quote, _, rest @ ..] if is_punct(quote, '\'') => Some(rest),
        rest => Some(rest),
    }
}

/// Whether a type is called as those of the databases are. What is called otherwise may be an alias, of a reference too.
fn is_transaction(ty: &[TokenTree]) -> bool {
    let end = ty.iter().position(|token| is_punct(token, '<')).unwrap_or(ty.len());
    left_out::is_named(&ty[..end], left_out::NAMES)
}

fn is_mut(argument: &Argument, name: &Ident) -> bool {
    let ArgumentKind::Typed { pattern, .. } = &argument.kind else { return false };
    let tokens: Vec<TokenTree> = pattern.clone().into_iter().collect();
    matches!(&tokens[..], [word, TokenTree::Ident(bound)] if is_ident(word, "mut") && bound == name)
}

/// The name that the place begins with, and the argument that it is of, if that is to be seen.
fn root<'i>(place: &Place, item: &'i Item, names: &'i Names) -> Option<(&'i Ident, Option<&'i Argument>)> {
    if let Root::Name(name) = &place.root {
        let root = names.argument(name)?;
        return Some((root, item.given().find(|argument| argument.bindings().contains(root))));
    }
    let is_receiver = |argument: &&Argument| matches!(argument.kind, ArgumentKind::Receiver(_));
    Some((names.this.as_ref()?, item.arguments.iter().find(is_receiver)))
}

fn unknown(place: &Place, tx: &TxOption, item: &Item, names: &Names, cx: &mut Diagnostics) {
    let function = &item.name;
    let root = match &place.root {
        Root::Name(name) => name.to_string(),
        _ => "self".to_owned(),
    };
    let help = if names.bindings.is_empty() {
        format!("add the transaction to the arguments of `{function}`, and name it: `tx = tx`")
    } else {
        format!("add the transaction to its arguments, or name the one that it is: {}", list(&names.bindings))
    };
    let what = format!("`{root}` is not an argument of `{function}`");
    cx.report(&rules::TX_NOT_AN_ARGUMENT, tx.at, what, help);
}

/// An owned transaction would be rolled back when the handler returns, or be committed by its body before the end was recorded.
fn is_borrowed(
    place: &Place,
    argument: &Argument,
    tx: &TxOption,
    shape: &Shape,
    cx: &mut Diagnostics,
) -> bool {
    let (what, reference) = match (Borrowed::of(argument), shape) {
        (Borrowed::Owned, Shape::Sync) => ("is taken by value", "&"),
        (Borrowed::Owned, _) => ("is taken by value", "&mut "),
        (Borrowed::Shared, Shape::Async | Shape::Future(_)) => {
            ("is a shared reference, which nothing can be awaited on", "&mut ")
        }
        _ => return true,
    };
    let ty = type_of(argument);
    let ty = source(&behind_reference(&ty).unwrap_or(&ty).iter().cloned().collect()).replace(',', ", ");
    cx.report(
        &rules::TX_NOT_BORROWED,
        tx.at,
        format_args!("`{place}` {what}"),
        format_args!("borrow it: `{}: {reference}{ty}`", place.to_string().trim_start_matches("r#")),
    );
    false
}

/// What an attempt is asked for is not there.
fn attempt(item: &Item, cx: &mut Diagnostics) {
    for argument in &item.arguments {
        if let Some((Helper::Attempt, name)) = &argument.helper {
            cx.report(
                &rules::TX_ATTEMPT,
                name,
                format_args!("`#[attempt]` has nothing to tell beside `tx`"),
                format_args!("leave the argument out"),
            );
        }
    }
}

/// In SQLite a plain function waits for any other writer, as long as its connection says.
fn waiting(options: &Options, shape: &Shape, cx: &mut Diagnostics) {
    if let (Some(at), Shape::Sync) = (options.wait_at, shape) {
        cx.report(
            &rules::OPTION_IDLE,
            at,
            format_args!("`on_duplicate` does nothing beside `tx` in a plain `fn`"),
            format_args!(
                "leave it out; SQLite waits for any other writer, for the `busy_timeout` of the connection"
            ),
        );
    }
}
