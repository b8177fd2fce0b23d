//! From the model to tokens. Nothing here can fail.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};

use super::item::Item;
use super::model::{Field, Form, Part};
use crate::names;
use crate::paths::Paths;

/// The impl.
pub(super) fn part(part: &Part<'_>) -> TokenStream {
    let site = names::site();
    let private = part.paths.private();
    let out = names::out();
    let (body, bounds) = match &part.form {
        Form::Fields(fields) => {
            let parts = fields.iter().map(|field| read(field, private));
            let generic = fields.iter().filter(|field| field.generic).map(|field| &field.ty);
            (
                quote_spanned!(site=> #private::KeyWriter::parts(#out, &[#(#parts),*]);),
                quote_spanned!(site=> #(#generic: #private::KeyPart,)*),
            )
        }
        Form::Words(words) => {
            let (variants, words): (Vec<_>, Vec<_>) = words.iter().map(|(own, word)| (own, word)).unzip();
            (
                quote_spanned!(site=>
                    #private::KeyWriter::text(#out, match *self { #(Self::#variants => #words,)* });
                ),
                TokenStream::new(),
            )
        }
    };
    implementation(part.item, private, &bounds, &body)
}

/// One field, shown at its type, which is what has to change if it is no part.
fn read(field: &Field, private: &TokenStream) -> TokenStream {
    let Field { member, ty, class, .. } = field;
    let at = ty.clone().into_iter().next().map_or_else(names::site, |token| names::site_at(token.span()));
    let this = quote_spanned!(names::site()=> self);
    if let Some(class) = class {
        let class = class.name();
        quote_spanned!(at=> <#ty as #private::#class>::part(&#this.#member))
    } else {
        quote_spanned!(at=> #private::part_of::<#ty>(&#this.#member))
    }
}

/// An impl beside mistakes: without it, whatever uses the type as a part would be an error too.
pub(super) fn standing(item: &Item, paths: &Paths) -> TokenStream {
    implementation(item, paths.private(), &TokenStream::new(), &TokenStream::new())
}

fn implementation(
    item: &Item,
    private: &TokenStream,
    bounds: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let site = names::site();
    let (name, out) = (&item.name, names::out());
    let (generics, arguments, declared) = item.generics.split_for_impl();
    let declared = declared.map(|declared| {
        let mut predicates = declared.predicates.to_token_stream();
        if !declared.predicates.trailing_punct() && !declared.predicates.is_empty() {
            predicates.extend(quote_spanned!(site=> ,));
        }
        predicates
    });
    let where_clause =
        (declared.is_some() || !bounds.is_empty()).then(|| quote_spanned!(site=> where #declared #bounds));
    quote_spanned!(site=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl #generics #private::KeyPart for #name #arguments #where_clause {
            fn write(&self, #out: &mut #private::KeyWriter<'_>) {
                #body
            }
        }
    )
}
