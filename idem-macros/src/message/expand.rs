//! The implementation of `Message`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Member};

use super::fields::{Mark, MessageField, Role, Shape};
use crate::names;
use crate::paths::Paths;
use crate::tokens::any_ident;

/// Without shapes, an implementation that says nothing.
pub(super) fn implementation(
    name: &Ident,
    generics: &Generics,
    shapes: &[Shape],
    paths: &Paths,
) -> TokenStream {
    let site = names::site();
    let private = paths.private();
    let facts = shapes.iter().filter(|shape| shape.variant.is_none()).flat_map(|shape| &shape.fields);
    let facts = facts.map(|field| {
        let (name, role) = (&field.name, role(field));
        quote_spanned!(site=> (#name, #private::Role::#role))
    });
    let arms = shapes.iter().map(|shape| arm(shape, private));
    let to = Ident::new("__idem_to", site);
    let payload = if shapes.is_empty() {
        quote_spanned!(site=> let _ = #to;)
    } else {
        quote_spanned!(site=> match self { #(#arms)* })
    };
    let bounds: Vec<TokenStream> = shapes.iter().flat_map(|shape| bounds(shape, generics, private)).collect();
    let (parameters, arguments, declared) = generics.split_for_impl();
    let declared = declared.map(|clause| &clause.predicates).into_iter();
    let declared = declared.map(|predicates| {
        if predicates.trailing_punct() || predicates.is_empty() {
            quote!(#predicates)
        } else {
            quote!(#predicates,)
        }
    });
    quote_spanned!(site=>
        #[automatically_derived]
        impl #parameters #private::Message for #name #arguments where #(#declared)* #(#bounds,)* {
            const __FACTS: &'static #private::Facts = &#private::Facts::new(&[#(#facts),*]);

            fn __payload(&self, #to: &mut #private::Payload) {
                #payload
            }
        }
    )
}

/// The variant of `Role` that a field has.
fn role(field: &MessageField) -> Ident {
    let role = match field.mark {
        Some(Mark { role: Role::Id, .. }) => "Id",
        Some(Mark { role: Role::Event, .. }) => "Event",
        Some(Mark { role: Role::PerDelivery, .. }) => "PerDelivery",
        Some(Mark { role: Role::PublishedAt, .. }) => "PublishedAt",
        Some(Mark { role: Role::Skip, .. }) => "Skipped",
        Some(Mark { role: Role::Payload, .. }) | None => "Payload",
    };
    Ident::new(role, names::site())
}

/// One arm of the match: binds the payload, and adds it in the order of its declaration.
fn arm(shape: &Shape, private: &TokenStream) -> TokenStream {
    let site = names::site();
    let to = Ident::new("__idem_to", site);
    let payload: Vec<(usize, &MessageField)> =
        shape.fields.iter().enumerate().filter(|(_, field)| field.is_payload()).collect();
    let bindings = payload.iter().map(|(at, field)| {
        let (member, binding) = (member(&field.member), binding(*at));
        quote_spanned!(site=> #member: #binding,)
    });
    let of = if let Some(variant) = &shape.variant {
        quote_spanned!(site=> Self::#variant)
    } else {
        quote_spanned!(site=> Self)
    };
    let open = if let Some(name) = &shape.wire_name {
        quote_spanned!(site=> #private::Payload::open_variant(#to, #name);)
    } else {
        quote_spanned!(site=> #private::Payload::open(#to);)
    };
    let fields = payload.iter().map(|(at, field)| write(&binding(*at), field, private));
    quote_spanned!(site=>
        #of { #(#bindings)* .. } => {
            #open
            #(#fields)*
            #private::Payload::close(#to);
        }
    )
}

fn write(binding: &Ident, field: &MessageField, private: &TokenStream) -> TokenStream {
    let site = names::site();
    // Shown at the field's type, so that one which cannot be compared is blamed itself.
    let at = names::site_at(field.ty.span());
    let to = Ident::new("__idem_to", site);
    let name = field.serde.rename.as_ref().unwrap_or(&field.name);
    let shown = names::shown_at(private, at);
    let binding = Ident::new(&binding.to_string(), at);
    let write = if let Some(with) = &field.serde.with {
        let encoder = Ident::new("__idem_encoder", site);
        quote_spanned!(at=> #shown::Payload::field_with(#to, #name, |#encoder| #with(#binding, #encoder));)
    } else {
        quote_spanned!(at=> #shown::Payload::field(#to, #name, #binding);)
    };
    match &field.serde.skip_if {
        Some(skip) => quote_spanned!(site=> if !#skip(#binding) { #write }),
        None => write,
    }
}

/// What a generic message asks of its payload, so that other types are no messages, and no mistake.
fn bounds(shape: &Shape, generics: &Generics, private: &TokenStream) -> Vec<TokenStream> {
    let types: Vec<&Ident> = generics.type_params().map(|parameter| &parameter.ident).collect();
    let site = names::site();
    let payload = shape.fields.iter().filter(|field| field.is_payload() && field.serde.with.is_none());
    payload
        .filter_map(|field| {
            let ty = &field.ty;
            let generic = any_ident(quote!(#ty), &mut |ident| types.contains(&ident));
            generic.then(|| quote_spanned!(site=> #ty: #private::PayloadField))
        })
        .collect()
}

fn binding(at: usize) -> Ident {
    format_ident!("__idem_field{at}", span = names::site())
}

fn member(member: &Member) -> TokenStream {
    quote!(#member)
}
