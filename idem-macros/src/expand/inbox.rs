//! The body of a handler that records itself in its own transaction: between two statements on that.
//!
//! The body is not handed to the driver, as both need the transaction in turns. It gets a reference of its own, under the name that it
//! knows, and gives it back with its end.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use super::body::{codec, supplied, told};
use crate::check::simple_name;
use crate::item::{ArgumentKind, Helper, Item};
use crate::model::{Function, Shadow, Store, Transaction};
use crate::names;

/// A plain function.
pub(super) fn run_blocking(function: &Function, transaction: &Transaction, block: &Group) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let shadow = shadow(transaction);
    let supplied = supplied(function);
    let block = quote_spanned!(site=> { #shadow #supplied #block });
    let body = match &function.answer {
        Some(answer) if !function.answer_is_opaque => quote_spanned!(site=> || -> #answer #block),
        _ => quote_spanned!(site=> || #block),
    };
    around(function, transaction, &quote_spanned!(site=> #private::catch(#body)), Kind::Blocking)
}

/// A plain function that is to know its caller.
pub(super) fn run_tracked(function: &Function, transaction: &Transaction, block: &Group) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let (call, body) = (names::call(), names::body());
    let Item { generics, arguments, arrow, output, where_clause, .. } = &function.item;
    let declared = arguments.iter().map(|argument| &argument.tokens);
    let given = arguments.iter().filter_map(|argument| match (&argument.helper, &argument.kind) {
        (Some((Helper::Key, _)), _) => Some(quote_spanned!(site=> #private::Call::key(#call))),
        (_, ArgumentKind::Typed { pattern, .. }) => simple_name(pattern).map(ToTokens::into_token_stream),
        _ => None,
    });
    // Not caught, if it panics: called within a closure, it would take that for its caller.
    let body_call = quote_spanned!(site=> #private::Result::Ok(#body(#(#given),*)));
    let run = around(function, transaction, &body_call, Kind::Blocking);
    quote_spanned!(site=>
        #[track_caller]
        #[allow(clippy::unnecessary_wraps)]
        fn #body<#generics>(#(#declared),*) #arrow #output #where_clause #block
        return #run;
    )
}

/// A future.
pub(super) fn run(function: &Function, transaction: &Transaction, block: &Group) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let shadow = shadow(transaction);
    let supplied = supplied(function);
    let body = if transaction.shadow.is_some() {
        let told = told(function, true);
        quote_spanned!(site=> { #shadow #private::caught(#private::pin!(async move { #told #supplied #block })).await })
    } else {
        // It borrows what it mentions, or the transaction would go with it.
        let told = told(function, false);
        quote_spanned!(site=> #private::caught(#private::pin!(async { #told #supplied #block })).await)
    };
    around(function, transaction, &body, Kind::Async)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blocking,
    Async,
}

/// The expression that enters the message, runs `body` and settles the record.
fn around(function: &Function, transaction: &Transaction, body: &TokenStream, kind: Kind) -> TokenStream {
    let private = function.paths.private();
    // All shown at the option, so that what is no transaction is blamed there, and once.
    let at = names::site_at(transaction.at);
    let [call, answer, inside] = [names::call(), names::answer(), names::inside()].map(|mut name| {
        name.set_span(at);
        name
    });
    let shown = names::shown_at(private, at);
    let (codec, records) = (codec(function), records(function, at));
    let place = &transaction.place;
    let (enter, settle) = match kind {
        Kind::Blocking => {
            let tx =
                if transaction.bare { quote_spanned!(at=> &*#place) } else { quote_spanned!(at=> &#place) };
            (
                quote_spanned!(at=> #shown::enter_blocking(#call, #codec, #tx, #records)),
                quote_spanned!(at=> #shown::Inside::settle_blocking(#inside, #tx, #answer)),
            )
        }
        Kind::Async => {
            let tx = if transaction.bare {
                quote_spanned!(at=> &mut *#place)
            } else {
                quote_spanned!(at=> &mut #place)
            };
            (
                quote_spanned!(at=> #shown::enter(#call, #codec, #tx, #records).await),
                quote_spanned!(at=> #shown::Inside::settle_ended(#inside, #tx, #answer).await),
            )
        }
    };
    quote_spanned!(at=> match #enter {
        #shown::Entering::Answered(#answer) => #answer,
        #shown::Entering::Inside(#inside) => {
            let #answer = #body;
            #settle
        }
    })
}

/// Where the records are, if the handler names a store.
fn records(function: &Function, at: Span) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    match &function.store {
        Store::In(store) => {
            let at = store.clone().into_iter().next().map_or(site, |token| names::site_at(token.span()));
            let records = quote_spanned!(at=> (#store).idem_records());
            quote_spanned!(site=> {
                use #private::ToStoreHandle as _;
                #private::Some(#records)
            })
        }
        Store::Installed | Store::Nowhere => {
            let private = names::shown_at(private, at);
            quote_spanned!(at=> #private::None)
        }
    }
}

/// The statement that gives the body a reference of its own, by the name that it knows.
fn shadow(transaction: &Transaction) -> TokenStream {
    let site = names::site();
    let Some(Shadow { name, mutable }) = &transaction.shadow else { return TokenStream::new() };
    if *mutable {
        // Through the argument's own `mut`, which would be called needless otherwise.
        quote_spanned!(site=> #[allow(unused_variables, unused_mut)] let mut #name = &mut **(&mut #name);)
    } else {
        quote_spanned!(site=> #[allow(unused_variables)] let #name = &mut *#name;)
    }
}
