//! Which handler the records belong to.

use proc_macro2::{TokenStream, TokenTree};

use super::mentions_generics;
use super::options::Options;
use crate::args::string;
use crate::diagnostics::{At, Diagnostics};
use crate::item::{ArgumentKind, Item};
use crate::model::{Identity, Scope};
use crate::rules;
use crate::tokens::{any_ident, is_ident};

/// The scope. A method sees neither the type nor the trait of its impl block, and a type's name may change with the compiler,
/// so where there is either, a person has to give the name.
pub(super) fn of(options: &Options, item: &Item, cx: &mut Diagnostics) -> Scope {
    let Some(scope) = &options.scope else {
        let name = &item.name;
        let what = if item.receiver().is_some() {
            Some("a method")
        } else if !item.types.is_empty() || !item.consts.is_empty() || opaque_arguments(item).next().is_some()
        {
            Some("generic")
        } else {
            None
        };
        if let Some(what) = what {
            cx.report(
                &rules::SCOPE_MISSING,
                name,
                format_args!("`{name}` is {what}, so it needs a `scope`"),
                format_args!("add a name that stays when the code moves: `scope = \"billing.{name}\"`"),
            );
        }
        return Scope::Path;
    };
    if let Some(text) = string(scope.clone()) {
        if text.value().trim().is_empty() {
            cx.report(
                &rules::OPTION_VALUE,
                At::tokens(scope),
                format_args!("`scope` is empty"),
                format_args!("write a name that no other handler has: `scope = \"billing.{}\"`", item.name),
            );
        }
        return Scope::Constant(scope.clone());
    }
    if mentions_generics(scope.clone(), item) {
        Scope::Dependent(scope.clone())
    } else {
        Scope::Constant(scope.clone())
    }
}

/// What has to be the same at each call with one scope, as that has one set of keys. A scope that depends on type parameters is
/// asked too: it may name one of them, and answer for all that there are of the others.
pub(super) fn identity(options: &Options, item: &Item) -> Vec<Identity> {
    let mut identity = Vec::new();
    if has_self(options, item) {
        identity.push(Identity::Type(
            TokenTree::Ident(proc_macro2::Ident::new("Self", crate::names::site())).into(),
        ));
    }
    identity.extend(item.types.iter().map(|ty| Identity::Type(TokenTree::Ident(ty.clone()).into())));
    if !item.consts.is_empty() {
        identity.push(Identity::Consts);
    }
    identity.extend(opaque_arguments(item).map(Identity::TypeOf));
    identity
}

/// Whether `Self` exists here, as far as the macro can see.
fn has_self(options: &Options, item: &Item) -> bool {
    let mentions = |tokens: TokenStream| any_ident(tokens, &mut |ident| ident == "Self");
    item.receiver().is_some()
        || mentions(item.parens.stream())
        || mentions(item.output.clone())
        || mentions(item.where_clause.clone())
        || options.scope.clone().is_some_and(mentions)
}

/// The arguments of type `impl Trait`, by their names.
fn opaque_arguments(item: &Item) -> impl Iterator<Item = proc_macro2::Ident> {
    item.given().filter_map(|argument| match &argument.kind {
        ArgumentKind::Typed { pattern, ty, bindings } => {
            let opaque = any_ident(ty.clone(), &mut |ident| ident == "impl");
            let simple = pattern.clone().into_iter().all(|token| {
                is_ident(&token, "mut")
                    || matches!(&token, TokenTree::Ident(ident) if bindings.contains(ident))
            });
            (opaque && simple).then(|| bindings.first().cloned()).flatten()
        }
        _ => None,
    })
}
