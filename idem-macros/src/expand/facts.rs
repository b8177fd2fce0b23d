//! The questions to the types of the arguments, each a `const` that does not evaluate if the answer is wrong.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::model::{FactCheck, Function, TypedField};
use crate::names;

/// The items, or statements where a type depends on parameters, that ask.
pub(super) fn checks(function: &Function) -> TokenStream {
    let private = function.paths.private();
    function.facts.iter().map(|check| one(check, private)).collect()
}

fn one(check: &FactCheck, private: &TokenStream) -> TokenStream {
    let site = names::site();
    let at = names::site_at(check.at);
    // By names of their own, so that each question is shown at the key, and a wrong `crate = …` once.
    let (of, ask, key) = (names::facts_of("Of", site), names::facts_of("", at), names::facts_key(site));
    let facts = |TypedField { ty, .. }: &TypedField| quote_spanned!(site=> #of::<#ty>::__FACTS);
    let per_delivery = check.per_delivery.iter().map(|(field, text)| {
        let (facts, name) = (facts(field), &field.field);
        quote_spanned!(at=> #ask::demand(!#ask::is_per_delivery(#facts, #name), #text);)
    });
    let named = check.named.iter().map(|(field, text)| {
        let (facts, name) = (facts(field), &field.field);
        quote_spanned!(at=> #ask::demand(#ask::vouches_for(#facts, #name), #text);)
    });
    let identity = check.identity.iter().map(|(fields, text)| {
        let may = fields.iter().map(|field| {
            let (facts, name) = (facts(field), &field.field);
            quote_spanned!(at=> #ask::may_identify(#facts, #name))
        });
        quote_spanned!(at=> #ask::demand(#(#may)||*, #text);)
    });
    let enough = check.enough.iter().map(|(fields, text)| {
        let marked = fields.iter().map(|field| {
            let (facts, name) = (facts(field), &field.field);
            quote_spanned!(at=> #ask::vouches_for(#facts, #name))
        });
        quote_spanned!(at=> #ask::demand(#(#marked)||*, #text);)
    });
    let questions = match (&check.per_delivery[..], &check.identity) {
        // Most keys read one field, and each handler is compiled: one question instead of two.
        ([(field, per_delivery)], Some((fields, no_identity)))
            if fields.len() == 1 && check.named.is_empty() && check.enough.is_none() =>
        {
            let (facts, name) = (facts(field), &field.field);
            quote_spanned!(at=> #ask::demand_identity(#facts, #name, #per_delivery, #no_identity);)
        }
        _ => quote_spanned!(at=> #(#per_delivery)* #(#named)* #(#identity)* #(#enough)*),
    };
    let asked = quote_spanned!(site=>
        use #private::{Facts as #ask, FactsOf as #of, NoFacts as _};
        #questions
    );
    if check.generic {
        quote_spanned!(site=> const { #asked };)
    } else {
        // Not `const _`, which would make its types count as used where the handler is not.
        quote_spanned!(site=> { const #key: () = { #asked }; })
    }
}
