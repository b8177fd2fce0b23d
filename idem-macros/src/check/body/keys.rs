//! `key!("…")` in a body: by itself it sees only its own tokens, and not how a variable in it was made.

use proc_macro2::TokenStream;
use syn::Expr;
use syn::ext::IdentExt;

use super::at;
use super::flow::Flow;
use super::sinks::KEY_MACRO;
use super::value::Value;
use crate::args::Value as Written;
use crate::known::carriers::Carries;
use crate::place::{Place, Root, lex};
use crate::template::{Piece, split};
use crate::tokens::{any_ident, split_commas};

impl Flow {
    /// A key is made of the places of its templates: of bindings, fresh ones among them.
    pub(super) fn key_macro(&mut self, tokens: TokenStream) -> Value {
        let mut parts = split_commas(tokens).into_iter();
        let template = Written::Assigned(parts.next().unwrap_or_default());
        let templates = template.string().map(|one| vec![one]).or_else(|| template.strings());
        // Whoever vouches for a place has looked at it.
        let vouched = parts.any(|part| any_ident(part, &mut |ident| ident == "trust"));
        let mut values = Vec::new();
        for template in templates.into_iter().flatten() {
            for piece in split(&template.value()).unwrap_or_default() {
                let Piece::Place(text) = piece else { continue };
                let place = lex(&text, template.span());
                if let Some(value) = place.and_then(|place| self.place_of_key(place, vouched)) {
                    self.sent(Carries::Key, KEY_MACRO, &value, at(&template));
                    values.push(value);
                }
            }
        }
        Value::made_of(&values)
    }

    /// What is known of a place that begins with a binding which is not clean. All others are judged by `key!` itself.
    fn place_of_key(&mut self, tokens: TokenStream, vouched: bool) -> Option<Value> {
        let place = Place::parse(tokens.clone()).ok()?;
        let Root::Name(root) = &place.root else { return None };
        self.scopes.get(&root.unraw().to_string())?.fresh()?;
        if vouched && place.calls() {
            return None;
        }
        let expr: Expr = syn::parse2(tokens).ok()?;
        let value = self.expr(&expr);
        value.fresh().is_some().then_some(value)
    }
}
