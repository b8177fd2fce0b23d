//! The handler's entry in the table of all: what the handler itself does not know at run time, as it was written.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote_spanned;

use super::handler;
use crate::model::{Declared, Function, Scope, Store};
use crate::names;
use crate::tokens::source;

/// The entry. It is a macro's, which makes nothing of it where nobody asks for the table; so there are few tokens, and none for what was
/// not said.
pub(super) fn entry(function: &Function) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let name = function.item.name.to_string();
    let name = name.trim_start_matches("r#");
    let keys = &function.declared.keys;
    let said = said(function);
    let settings = match &function.scope {
        Scope::Path | Scope::Constant(_) => {
            let handler = names::handler();
            quote_spanned!(site=> #handler)
        }
        // No `static` knows what it is, so the table has its text.
        Scope::Dependent(scope) => {
            let scope = source(scope);
            let settings = handler::with_scope(function, &quote_spanned!(site=> #scope));
            quote_spanned!(site=> (#settings))
        }
    };
    quote_spanned!(site=> #private::register! { #settings #name [#(#keys),*] #said })
}

fn said(function: &Function) -> TokenStream {
    let site = names::site();
    let Declared { keys: _, redelivery, payload, once_per, trusts, allows } = &function.declared;
    let mut said = TokenStream::new();
    let mut say = |method: &str, value: TokenStream| {
        let method = Ident::new(method, site);
        said.extend(quote_spanned!(site=> .#method(#value)));
    };
    match &function.store {
        Store::Installed => {}
        Store::Nowhere => say("in_store", quote_spanned!(site=> "none")),
        Store::In(store) => {
            let store = source(store);
            say("in_store", quote_spanned!(site=> #store));
        }
    }
    if let Some(transaction) = &function.transaction {
        let place = source(&transaction.place);
        say("in_transaction", quote_spanned!(site=> #place));
    }
    if let Some(redelivery) = redelivery {
        let (seconds, nanos) = (redelivery.as_secs(), redelivery.subsec_nanos());
        say("redelivered_for", quote_spanned!(site=> #seconds, #nanos));
    }
    if let Some(places) = payload {
        say("compares", quote_spanned!(site=> &[#(#places),*]));
    }
    if let Some(path) = &function.final_error {
        // Located where the path ends, so that an editor which completes it there knows that its text is here too: the path itself comes
        // after this entry, with the body.
        let end = path.clone().into_iter().last().map_or(site, |token| names::site_at(token.span()));
        let mut path = Literal::string(&source(path));
        path.set_span(end);
        say("keeps_errors", quote_spanned!(site=> #path));
    }
    if let Some(entity) = once_per {
        say("once_for", quote_spanned!(site=> #entity));
    }
    for (method, escapes) in [("trusting", trusts), ("allowing", allows)] {
        if !escapes.is_empty() {
            let escapes = escapes.iter().map(|(what, reason)| quote_spanned!(site=> (#what, #reason)));
            say(method, quote_spanned!(site=> &[#(#escapes),*]));
        }
    }
    said
}
