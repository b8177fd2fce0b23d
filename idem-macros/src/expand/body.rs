//! The body under its guard.
//!
//! The body's tokens pass through in one group. Its braces here are ours, shown where the user's are.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::{call, facts, handler, inbox, registered};
use crate::check::simple_name;
use crate::item::{ArgumentKind, Helper, inner_attributes};
use crate::model::Function;
use crate::names;
use crate::shape::{Future, Shape};

/// All between the function's braces.
pub(super) fn guarded(function: &Function) -> TokenStream {
    let site = names::site();
    let (body, text) = (&function.item.body, function.item.text());
    let (attributes, work) = inner_attributes(&function.item, body.stream());
    let guarded = match (&function.shape, &function.transaction) {
        (Shape::Sync, Some(tx)) if function.tracked => {
            inbox::run_tracked(function, tx, &block(work, body, text))
        }
        (Shape::Sync, Some(tx)) => {
            let run = inbox::run_blocking(function, tx, &block(work, body, text));
            quote_spanned!(site=> return #run;)
        }
        (Shape::Sync, None) if function.tracked => run_tracked(function, &block(work, body, text)),
        (Shape::Sync, None) => {
            let run = run_blocking(function, &block(work, body, text));
            quote_spanned!(site=> return #run;)
        }
        (Shape::Async, _) => {
            let run = run(function, &block(work, body, text));
            quote_spanned!(site=> return #run;)
        }
        // Inside of the future: what is outside of it runs at the call.
        (Shape::Future(future), _) => return followed(function, future),
    };
    let call = called(function);
    quote!(#attributes #call #guarded)
}

/// The settings, the proofs, the call, and the handler's entry in the table. That has options as text, and comes after their tokens: an
/// editor completes a name by comparing an expansion with a longer one, and counts on both being equal up to the name. Not after the
/// body: an entry that does not resolve would be called unreachable.
fn called(function: &Function) -> TokenStream {
    let handler = handler::statement(function);
    let entry = registered::entry(function);
    let proofs = call::proofs(&function.proofs, function.paths.private());
    let facts = facts::checks(function);
    let call = call::statements(function);
    quote!(#handler #proofs #facts #call #entry)
}

/// A plain function: its body as a closure that borrows, so that arguments are dropped where they always were.
fn run_blocking(function: &Function, block: &Group) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let call = names::call();
    let codec = codec(function);
    let supplied = supplied(function);
    let block = if let Some(supplied) = supplied {
        quote_spanned!(site=> { #supplied #block })
    } else {
        quote_spanned!(site=> #block)
    };
    let body = match &function.answer {
        // A closure with a type needs a block.
        Some(answer) if !function.answer_is_opaque => quote_spanned!(site=> || -> #answer #block),
        _ => quote_spanned!(site=> || #block),
    };
    quote_spanned!(site=> #private::run_blocking(#call, #codec, #body))
}

/// A plain function that is to know its caller: its body as a function, called from here.
fn run_tracked(function: &Function, block: &Group) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let (call, body, running, answer) = (names::call(), names::body(), names::running(), names::answer());
    let codec = codec(function);
    let crate::item::Item { generics, arguments, arrow, output, where_clause, .. } = &function.item;
    let declared = arguments.iter().map(|argument| &argument.tokens);
    let given = arguments.iter().filter_map(|argument| match (&argument.helper, &argument.kind) {
        (Some((Helper::Key, _)), _) => Some(quote_spanned!(site=> #private::Call::key(#call))),
        (Some((Helper::Attempt, _)), _) => Some(quote_spanned!(site=> #private::Call::attempt(#call))),
        (_, ArgumentKind::Typed { pattern, .. }) => simple_name(pattern).map(ToTokens::into_token_stream),
        _ => None,
    });
    // That it could do without `Result` is no news: the function around it could not.
    quote_spanned!(site=>
        #[track_caller]
        #[allow(clippy::unnecessary_wraps)]
        fn #body<#generics>(#(#declared),*) #arrow #output #where_clause #block
        return match #private::start_blocking(#call, #codec) {
            #private::Started::Answered(#answer) => #answer,
            #private::Started::Running(#running) => #private::Running::end(#running, #body(#(#given),*)),
        };
    )
}

/// A future: its body as an `async` block of its own.
fn run(function: &Function, block: &Group) -> TokenStream {
    if let Some(transaction) = &function.transaction {
        return inbox::run(function, transaction, block);
    }
    let site = names::site();
    let private = function.paths.private();
    let call = names::call();
    let codec = codec(function);
    let supplied = supplied(function);
    let told = told(function, true);
    quote_spanned!(site=> #private::run(#call, #codec, async move { #told #supplied #block }).await)
}

/// A statement that never runs. It tells the compiler what the block returns, and which arguments the block owns in which
/// order: a block drops what it owns first to last, a function drops its arguments last to first.
pub(super) fn told(function: &Function, owns: bool) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let never = names::never();
    let names: &[_] = if owns { &function.used } else { &[] };
    let used = names.iter().rev();
    let owned = (!names.is_empty()).then(|| quote_spanned!(site=> let _ = (#(&#used,)*);));
    // Clippy blames whoever reads `_guard`; nobody does, here.
    let underscore = names.iter().any(|name| name.to_string().starts_with('_'));
    let allow = underscore.then(|| quote_spanned!(site=> #[allow(clippy::used_underscore_binding)]));
    match &function.answer {
        Some(answer) => quote_spanned!(site=>
            #allow
            if let #private::Some(#never) = #private::None::<#answer> {
                #owned
                return #never;
            }
        ),
        None if names.is_empty() => TokenStream::new(),
        None => quote_spanned!(site=> #allow if false { #owned }),
    }
}

/// How the answer is stored and replayed: the one place where its type is asked for anything.
pub(super) fn codec(function: &Function) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let codec = if let Some(answer) = &function.answer {
        quote_spanned!(site=> #private::codec::<#answer>())
    } else {
        quote_spanned!(site=> #private::codec())
    };
    match &function.final_error {
        Some(is_final) => {
            // Shown at the option, so that an error type which cannot be stored is blamed there.
            let first = is_final.clone().into_iter().next();
            let at = first.map_or(site, |token| names::site_at(token.span()));
            let path = names::shown_at(private, at);
            quote_spanned!(at=> #path::Codec::final_error(#codec, #is_final))
        }
        None => codec,
    }
}

/// The arguments that idem supplies.
pub(super) fn supplied(function: &Function) -> Option<TokenStream> {
    let site = names::site();
    let private = function.paths.private();
    let call = names::call();
    let supplied: TokenStream = function
        .item
        .arguments
        .iter()
        .filter_map(|argument| {
            let (helper, word) = argument.helper.as_ref()?;
            let argument = &argument.tokens;
            let value = match helper {
                Helper::Key => quote_spanned!(site=> #private::Call::key(#call)),
                Helper::Attempt => quote_spanned!(site=> #private::Call::attempt(#call)),
                Helper::Steps => return None,
            };
            // There the compiler says what it is, if its type is another one.
            let value = names::shown_at(&value, word.span());
            Some(quote_spanned!(site=> let #argument = #value;))
        })
        .collect();
    (!supplied.is_empty()).then_some(supplied)
}

/// A body that makes a future: the same body, with the guard inside of the future.
fn followed(function: &Function, future: &Future) -> TokenStream {
    let site = names::site();
    let call = called(function);
    let Future { before, pin, block: whole, rebinding, .. } = future;
    let inside = if let Some(rebinding) = rebinding {
        let answer = names::answer();
        let work = rebinding.work.stream();
        let text = work.to_string();
        let run = run(function, &block(work, &rebinding.work, &text));
        let (before, binding, after) = (&rebinding.before, &rebinding.binding, &rebinding.after);
        // Bound before it is returned, so that the call outlives it in every edition.
        let work = quote_spanned!(site=> { #call let #answer = #run; #answer });
        quote!(#before #binding #work #after)
    } else {
        let work = whole.stream();
        let text = work.to_string();
        let run = run(function, &block(work, whole, &text));
        quote_spanned!(site=> #call return #run;)
    };
    let mut guarded = Group::new(Delimiter::Brace, inside);
    guarded.set_span(whole.span());
    // Also if the user's has no `move`: it is returned, so it borrows nothing of the function, and the key reads what the body may
    // not mention.
    let guarded = quote_spanned!(site=> async move #guarded);
    if let Some((path, parens)) = pin {
        let mut pinned = Group::new(Delimiter::Parenthesis, guarded);
        pinned.set_span(parens.span());
        quote!(#before #path #pinned)
    } else {
        quote!(#before #guarded)
    }
}

/// The body in braces that lints know to be ours, and errors show where the user's are. Around a body that is not written to its
/// end they stay the user's, so that the compiler, which has complained about it already, recognises its complaint.
fn block(body: TokenStream, user: &Group, text: &str) -> Group {
    let mut block = Group::new(Delimiter::Brace, body);
    if !is_half_written(text) {
        block.set_span(names::site_at(user.span()));
        return block;
    }
    user.clone()
}

/// Whether a body with this text ends in the middle of an expression, as `message.` does while somebody types it.
fn is_half_written(text: &str) -> bool {
    let last = text.trim_end().bytes().last();
    last.is_some_and(|last| last.is_ascii_punctuation() && !b";?>)]}\"'_".contains(&last))
}
