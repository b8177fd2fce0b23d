//! A key outside of attributes.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::call;
use crate::model::OutsideKey;
use crate::names;

/// The expression of type `Result<Key, Error>`.
pub(crate) fn key(outside: &OutsideKey) -> TokenStream {
    let site = names::site();
    let private = outside.paths.private();
    let key = names::key_text();
    let proofs = call::proofs(&outside.proofs, private);
    // What is proved is proved of these types, so the variables are read through them and not as they may be.
    let typed = outside.typed.iter().map(|typed| {
        let (name, bound, ty) = (&typed.name, typed.bound(), &typed.ty);
        quote_spanned!(site=> let #bound: &#ty = &#name;)
    });
    let render = call::render(&outside.templates, call::Types::Open, private);
    let allow = call::allowed(&outside.templates);
    quote_spanned!(site=> {
        #proofs
        #(#typed)*
        let mut #key = #private::KeyText::new();
        #allow
        {
            let #key = &mut #key;
            #render
        }
        #private::KeyText::to_key(&#key)
    })
}
