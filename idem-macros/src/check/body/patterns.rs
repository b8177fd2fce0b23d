//! What a pattern binds.

use syn::Pat;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;

use super::flow::{Flow, member};
use super::value::Value;

impl Flow {
    pub(super) fn bind(&mut self, pattern: &Pat, value: &Value) {
        match pattern {
            Pat::Ident(bound) => {
                let name = bound.ident.unraw().to_string();
                let constant = bound.by_ref.is_none()
                    && bound.mutability.is_none()
                    && bound.subpat.is_none()
                    && name.starts_with(|first: char| first.is_ascii_uppercase());
                if !constant {
                    self.scopes.declare(&name, value.clone());
                }
                if let Some((_, inner)) = &bound.subpat {
                    self.bind(inner, value);
                }
            }
            Pat::Type(typed) => self.bind(&typed.pat, value),
            Pat::Reference(inner) => self.bind(&inner.pat, value),
            Pat::Paren(inner) => self.bind(&inner.pat, value),
            Pat::Guard(guarded) => {
                self.bind(&guarded.pat, value);
                self.expr(&guarded.guard);
            }
            Pat::Or(or) => or.cases.iter().for_each(|case| self.bind(case, value)),
            Pat::Tuple(tuple) => self.elements(&tuple.elems, value),
            Pat::TupleStruct(tuple) => {
                let variant =
                    tuple.path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
                match (variant.as_str(), tuple.elems.first()) {
                    ("Some" | "Ok", Some(inner)) => self.bind(inner, value),
                    ("Err" | "None", Some(inner)) => self.bind(inner, &Value::Clean),
                    _ => self.elements(&tuple.elems, value),
                }
            }
            Pat::Struct(fields) => {
                for field in &fields.fields {
                    self.bind(&field.pat, &value.field(&member(&field.member)));
                }
            }
            Pat::Slice(slice) => slice.elems.iter().for_each(|element| self.bind(element, value)),
            _ => {}
        }
    }

    /// Elements by their place, as far as they can be counted.
    fn elements(&mut self, elements: &Punctuated<Pat, syn::Token![,]>, value: &Value) {
        let rest = elements.iter().position(|element| matches!(element, Pat::Rest(_)));
        for (at, element) in elements.iter().enumerate() {
            let known = rest.is_none_or(|rest| at < rest);
            let value = if known { value.field(&at.to_string()) } else { Value::Clean };
            self.bind(element, &value);
        }
    }
}
