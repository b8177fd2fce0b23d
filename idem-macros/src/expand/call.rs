//! The call: its key, what its payload is, where its record lives.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

use super::handler;
use crate::item::{Argument, Helper};
use crate::model::{Function, Identity, MaybeMessage, Part, Proof, Store, Template};
use crate::names;

/// The items and statements that make the call.
pub(super) fn statements(function: &Function) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let (call, key) = (names::call(), names::key_text());
    let handler = handler::reference(function);
    let keeps_key = asks_for(function, Helper::Key);
    let render = render(&function.templates, Types::Written, private);
    let told_apart = !function.identity.is_empty();
    let derive = Ident::new(if told_apart { "derive" } else { "derive_here" }, site);
    let made = quote_spanned!(site=> #private::Call::#derive(#handler, #keeps_key, |#key| { #render }));
    let allow = allowed(&function.templates);
    let asks = asks(function);
    if asks.is_empty() {
        return quote_spanned!(site=> #allow let #call = &#made;);
    }
    // Where it will stay: a call is large, and is not handed from step to step.
    quote_spanned!(site=> #allow let mut #call = #made; #allow { #asks } let #call = &#call;)
}

/// What the call has to know besides its key, a statement each.
fn asks(function: &Function) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let call = names::call();
    let mut asks = TokenStream::new();
    if asks_for(function, Helper::Attempt) {
        asks.extend(quote_spanned!(site=> #private::Call::ask_attempt(&mut #call);));
    }
    if let Some(identity) = identity(function) {
        asks.extend(quote_spanned!(site=> #private::Call::answers_for(&mut #call, #identity);));
    }
    if let (Some(store), None) = (store(function), &function.transaction) {
        asks.extend(quote_spanned!(site=> #private::Call::use_store(&mut #call, #store);));
    }
    if !function.payload.is_empty() {
        // Shown at the payload, so that what cannot be compared is blamed there.
        let first = function.payload.iter().cloned().flatten().next();
        let at = first.map_or(site, |token: TokenTree| names::site_at(token.span()));
        let (fingerprint, payload) = (names::shown_at(private, at), payload(&function.payload, at));
        let fingerprint = quote_spanned!(at=> #fingerprint::Fingerprint::of(&#payload));
        asks.extend(quote_spanned!(site=> #private::Call::check_fingerprint(&mut #call, #fingerprint);));
    }
    asks.extend(message_payload(&function.messages, private));
    asks
}

/// Whether an argument is idem's to supply, as this one.
fn asks_for(function: &Function, helper: Helper) -> bool {
    let is_it = |argument: &Argument| argument.helper.as_ref().is_some_and(|(own, _)| *own == helper);
    function.item.arguments.iter().any(is_it)
}

/// The payload of the arguments that are messages: asked so that the compiler finds out which are. Of one by its type, as each handler is
/// compiled, and most have one.
fn message_payload(messages: &[MaybeMessage], private: &TokenStream) -> Option<TokenStream> {
    let site = names::site();
    let call = names::call();
    match messages {
        [] => None,
        [MaybeMessage { name, ty: Some(ty) }] => Some(quote_spanned!(site=>
            use #private::NotTold as _;
            #private::Told::<#ty>::payload(&mut #call, &#name);
        )),
        several => {
            let payload = names::payload();
            let names = several.iter().map(|message| &message.name);
            Some(quote_spanned!(site=>
                use #private::{NoPayload as _, PayloadOf as _};
                let mut #payload = #private::Payload::new();
                #((&#private::Probe(&#names)).idem_payload(&mut #payload);)*
                #private::Call::check_payload(&mut #call, #payload);
            ))
        }
    }
}

/// Clippy blames whoever reads `_message`; it was the user who named it, and the key is their wish.
pub(super) fn allowed(templates: &[Template]) -> Option<TokenStream> {
    let underscore = templates
        .iter()
        .flat_map(|template| &template.parts)
        .any(|part| matches!(part, Part::Place { underscore: true, .. }));
    underscore.then(|| quote_spanned!(names::site()=> #[allow(clippy::used_underscore_binding)]))
}

/// The functions that compile only if the key's places are read the same on every attempt.
pub(super) fn proofs(proofs: &[Proof], private: &TokenStream) -> TokenStream {
    let site = names::site();
    let one = |(at, proof): (usize, &Proof)| {
        let name = names::pure(at);
        let Proof { cfgs, generics, where_clause, pattern, ty, reads, others } = proof;
        let others = (!others.is_empty()).then(|| quote_spanned!(site=> let _ = (#(&#others,)*);));
        quote_spanned!(site=>
            #cfgs
            const fn #name<#generics>(#pattern: &#ty) #where_clause {
                #(let _ = #private::ManuallyDrop::new(#reads);)*
                #others
            }
        )
    };
    proofs.iter().enumerate().map(one).collect()
}

/// The statements that render the first template whose parts are all there.
pub(super) fn render(templates: &[Template], types: Types, private: &TokenStream) -> TokenStream {
    let site = names::site();
    let key = names::key_text();
    let mut render = TokenStream::new();
    for (at, template) in templates.iter().enumerate() {
        let parts = parts(template, types, private);
        render = if at == 0 {
            parts
        } else {
            quote_spanned!(site=>
                #render
                if #private::KeyText::is_missing(#key) {
                    #private::KeyText::restart(#key);
                    #parts
                }
            )
        };
    }
    let by_type = |part: &Part| matches!(part, Part::Place { class: None, .. });
    let any_by_type = templates.iter().flat_map(|template| &template.parts).any(by_type);
    if any_by_type && matches!(types, Types::Written) {
        // The function by a name, so that where idem is not to be found there is one error, and not another one for each place.
        let place = names::place(site);
        quote_spanned!(site=> use #private::{place as #place, read::*}; #render)
    } else {
        render
    }
}

/// What the compiler knows of the types of places when it comes to them.
#[derive(Clone, Copy)]
pub(super) enum Types {
    /// All, as an argument's type is written.
    Written,
    /// Those of some variables only later.
    Open,
}

fn parts(template: &Template, types: Types, private: &TokenStream) -> TokenStream {
    let site = names::site();
    let key = names::key_text();
    let part = |part: &Part| match part {
        Part::Literal(text) => quote_spanned!(site=> #private::KeyText::literal(#key, #text);),
        Part::Place { name, read, end, class, .. } => {
            // The place's own location, so that a type which cannot be a part is shown at the key.
            let at =
                read.clone().into_iter().last().map_or(site, |token| names::site_at(TokenTree::span(&token)));
            let read = if let Some(class) = class {
                let (private, class) = (names::shown_at(private, at), class.name());
                quote_spanned!(at=> #private::#class::part(&#read))
            } else if matches!(types, Types::Written) {
                let place = names::place(at);
                quote_spanned!(at=> #place(&#read).idem_part())
            } else {
                quote_spanned!(at=> &#read)
            };
            let end = if let Some(byte) = end {
                quote_spanned!(site=> #private::Some(#byte))
            } else {
                quote_spanned!(site=> #private::None)
            };
            quote_spanned!(site=> #private::KeyText::part(#key, #name, #read, #end);)
        }
    };
    template.parts.iter().map(part).collect()
}

fn identity(function: &Function) -> Option<TokenStream> {
    let site = names::site();
    let private = function.paths.private();
    match &function.identity[..] {
        [] => None,
        [Identity::Type(ty)] => Some(quote_spanned!(site=> #private::type_name::<#ty>())),
        several => {
            let parts = several.iter().map(|part| match part {
                Identity::Type(ty) => quote_spanned!(site=> #private::PhantomData::<#ty>),
                Identity::TypeOf(argument) => quote_spanned!(site=> &#argument),
                Identity::Consts => {
                    let ty = names::consts();
                    let consts = function.item.consts.iter();
                    let (declared, given): (Vec<_>, Vec<_>) = consts
                        .map(|(name, ty)| {
                            (quote_spanned!(site=> const #name: #ty), quote_spanned!(site=> #name))
                        })
                        .unzip();
                    quote_spanned!(site=> { struct #ty<#(#declared),*>; #ty::<#(#given),*> })
                }
            });
            Some(quote_spanned!(site=> #private::type_name_of_val(&(#(#parts,)*))))
        }
    }
}

fn store(function: &Function) -> Option<TokenStream> {
    let site = names::site();
    let private = function.paths.private();
    match &function.store {
        Store::Installed => None,
        Store::Nowhere => Some(quote_spanned!(site=>
            #private::ToStoreHandle::idem_store(&#private::KeyOnly)
        )),
        // As a method call, so that the compiler goes through references and smart pointers; shown where the expression is, so
        // that one which is no store is blamed itself.
        Store::In(store) => {
            let at = store.clone().into_iter().next().map_or(site, |token| names::site_at(token.span()));
            let call = if let Some(class) = function.settings.require {
                let class = Ident::new(class, at);
                quote_spanned!(at=> (#store).idem_typed_store().at_least::<#private::class::#class>())
            } else {
                quote_spanned!(at=> (#store).idem_store())
            };
            Some(quote_spanned!(site=> {
                use #private::{ToStoreHandle as _, UnclassedStore as _};
                #call
            }))
        }
    }
}

/// A tuple of references; serde knows tuples of up to 16.
fn payload(places: &[TokenStream], at: Span) -> TokenStream {
    let parts: Vec<TokenStream> = if places.len() > 16 {
        places.chunks(16).map(|chunk| payload(chunk, at)).collect()
    } else {
        places.iter().map(|place| quote_spanned!(at=> &#place)).collect()
    };
    quote_spanned!(at=> (#(#parts,)*))
}
