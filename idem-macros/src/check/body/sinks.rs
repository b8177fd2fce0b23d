//! Where a key leaves the body, and what is said about it.

use std::collections::BTreeMap;
use std::rc::Rc;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprMethodCall, ExprStruct, Lit, Pat, Token};

use super::at;
use super::flow::{Flow, member};
use super::value::{Builder, Source, Value};
use crate::diagnostics::At;
use crate::known::carriers::{Carries, carries, is_record_of, names_itself};
use crate::known::{Kind, minted};
use crate::rules::{self, Rule};

/// How the macro is shown that makes a key of what it is given.
pub(super) const KEY_MACRO: &str = "key!";

/// Builders whose `id(…)` is the id of an event.
pub(super) const BUILDERS_OF_EVENTS: [&str; 2] = ["EventBuilderV10", "EventBuilderV03"];

/// Methods that put a name and a value into a log, a metric or a query.
const NOTING: [&str; 9] =
    ["record", "field", "label", "tag", "set_tag", "add_field", "set_attribute", "bind", "filter"];

/// What the names of functions and methods have in them that put a name and a value into something that is sent.
const SENDING: [&str; 14] = [
    "header",
    "attribute",
    "propert",
    "metadata",
    "insert",
    "append",
    "set",
    "add",
    "put",
    "push",
    "entry",
    "param",
    "query",
    "with",
];

/// A mistake.
pub(super) struct Finding {
    pub(super) rule: &'static Rule,
    pub(super) at: At,
    pub(super) what: String,
    pub(super) cure: Cure,
    source: Option<Rc<Source>>,
}

impl Finding {
    /// Whether it tells of one of these.
    pub(super) fn is_of(&self, sources: &[Rc<Source>]) -> bool {
        self.source.as_ref().is_some_and(|own| sources.iter().any(|source| Rc::ptr_eq(own, source)))
    }
}

/// What to do about it.
pub(super) enum Cure {
    /// Send the key of the handler.
    Pass,
    /// For a token that the client would make: how to set it, with `{key}` for the name of the key.
    Set(String),
    /// Name another value in a `key!`.
    Name,
}

impl Flow {
    /// Something that carries a key gets a value. `at` is where the value is written.
    pub(super) fn sent(&mut self, carries: Carries, name: &str, value: &Value, at: At) {
        let Some(source) = value.fresh() else { return self.sent_as_text(name, value, at) };
        let known =
            |finding: &Finding| finding.source.as_ref().is_some_and(|known| Rc::ptr_eq(known, source));
        // One cause, one error: the first place that it goes to.
        if self.quiet > 0 || self.found.iter().any(known) {
            return;
        }
        let rule = match source.kind {
            Kind::Fresh => carries.rule(),
            Kind::Default => &rules::BODY_DEFAULT_KEY,
        };
        self.found.push(Finding {
            rule,
            at: source.at,
            what: format!("`{}` in `{name}` gives {}", source.shown, source.gives),
            cure: if name == KEY_MACRO { Cure::Name } else { Cure::Pass },
            source: Some(Rc::clone(source)),
        });
    }

    /// A key that is written out is the same for every message.
    fn sent_as_text(&mut self, name: &str, value: &Value, at: At) {
        if let Value::Text(text) = value
            && self.quiet == 0
            && !text.is_empty()
            && carries(text).is_none()
        {
            self.found.push(Finding {
                rule: &rules::BODY_CONSTANT_KEY,
                at,
                what: format!("`{text}` in `{name}` is the same for every message"),
                cure: Cure::Pass,
                source: None,
            });
        }
    }

    /// A name and a value side by side: the arguments of `header("Idempotency-Key", key)`.
    ///
    /// Beside the id of a message, a value is as often what is wrong with it, or how long it took.
    pub(super) fn named_argument<'e>(
        &mut self,
        function: &str,
        exprs: impl IntoIterator<Item = &'e Expr>,
        values: &[Value],
    ) {
        if values.iter().skip(1).all(|value| value.fresh().is_none()) {
            return;
        }
        let function = function.to_lowercase();
        let sends = SENDING.iter().any(|word| function.contains(word));
        let found = self.found.len();
        self.pairs(exprs, values);
        if !sends {
            let mut at = found;
            while at < self.found.len() {
                if self.found[at].rule.name == rules::BODY_FRESH_MESSAGE_ID.name {
                    self.found.remove(at);
                } else {
                    at += 1;
                }
            }
        }
    }

    /// A name and a value side by side, as in a pair.
    pub(super) fn pairs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, values: &[Value]) {
        let exprs: Vec<&Expr> = exprs.into_iter().collect();
        for (at, expr) in exprs.iter().enumerate() {
            if let (Some(value), Some(written)) = (values.get(at + 1), exprs.get(at + 1))
                // Two texts side by side are as often a field and what is wrong with it.
                && value.fresh().is_some()
            {
                self.entry(expr, value, written);
            }
        }
    }

    /// `name: value` and `name => value` in a macro.
    pub(super) fn member(&mut self, name: &Expr, value: &Value, written: &impl ToTokens) {
        if value.fresh().is_some() {
            self.entry(name, value, written);
        }
    }

    /// A name and its value.
    fn entry(&mut self, name: &Expr, value: &Value, written: &impl ToTokens) {
        if matters(value)
            && let Some(name) = self.name_of(name)
            && let Some(carried) = carries(&name)
        {
            self.sent(carried, &name, value, at(written));
        }
    }

    /// `.idempotency_key(value)`, `.header("Idempotency-Key", value)`, `.entry("Idempotency-Key").or_insert_with(value)`.
    pub(super) fn sent_by_method(&mut self, call: &ExprMethodCall, name: &str, values: &[Value]) {
        if !NOTING.contains(&name) {
            self.named_argument(name, &call.args, values);
        }
        // `start_workflow(input, task_queue, workflow_id, …)` of Temporal's client.
        if name == "start_workflow"
            && let ([_, _, id, _, _, _], Some(written)) = (values, call.args.iter().nth(2))
        {
            self.sent(Carries::Key, "workflow_id", id, at(written));
        }
        let (Some(last), Some(written)) = (values.last(), call.args.last()) else { return };
        if !matters(last) {
            return;
        }
        if name.ends_with("header")
            && let (Some(header), Value::Text(_)) = (call.args.first(), last)
        {
            self.entry(header, last, written);
        }
        if let Some(carried) = carries(name) {
            self.sent(carried, name, last, at(written));
        }
        if name == "id" && BUILDERS_OF_EVENTS.iter().any(|builder| begins_with(&call.receiver, builder)) {
            self.sent(Carries::MessageId, "id", last, at(written));
        }
        if let Expr::MethodCall(entry) = &*call.receiver
            && entry.method == "entry"
            && let Some(key) = entry.args.first()
        {
            self.member(key, last, written);
        }
    }

    /// `Header { key: "Idempotency-Key", value }`.
    pub(super) fn header_of(&mut self, literal: &ExprStruct, fields: &BTreeMap<String, Value>) {
        let named = |wanted: &[&str]| {
            literal.fields.iter().find(|field| wanted.contains(&member(&field.member).as_str()))
        };
        let what = literal.path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
        if let (Some(name), Some(value)) = (named(&["key", "name"]), named(&["value"]))
            && what.contains("Header")
            && let Some(sent) = fields.get("value")
        {
            self.member(&name.expr, sent, &value.expr);
        }
    }

    /// `IdempotencyKey::new(value)`.
    pub(super) fn sent_by_call(&mut self, path: &syn::Path, call: &ExprCall, values: &[Value]) {
        if values.is_empty()
            && let mention = self.renamed.mention(path)
            && let Some(minted) = minted::key(&mention)
        {
            self.found.extend((self.quiet == 0).then(|| Finding {
                rule: &rules::BODY_FRESH_KEY,
                at: at(call),
                what: format!("`{mention}()` gives {minted}"),
                cure: Cure::Set(minted::INSTEAD.to_owned()),
                source: None,
            }));
        }
        let (Some(value), Some(written)) = (values.last(), call.args.last()) else { return };
        let mut names = path.segments.iter().rev().take(2).map(|segment| segment.ident.unraw().to_string());
        // `JobBuilder::new_with_id(id, …)`.
        if path.segments.last().is_some_and(|last| last.ident == "new_with_id")
            && let (Some(id), Some(written)) = (values.first(), call.args.first())
        {
            self.sent(Carries::MessageId, "new_with_id", id, at(written));
        }
        let carried = names.find_map(|name| match carries(&name) {
            Some(carried @ (Carries::Key | Carries::DedupId)) => Some((carried, name)),
            _ if name == "Idempotent" => Some((Carries::Key, name)),
            _ => None,
        });
        if let Some((carried, name)) = carried {
            self.sent(carried, &name, value, at(written));
        }
    }

    /// A field of a struct, as it is written in a literal.
    pub(super) fn field_of(&mut self, of: &syn::Path, name: &str, value: &Value, written: &Expr) {
        let noted = of.segments.last().is_some_and(|last| is_record_of(&last.ident.to_string()));
        match carries(name) {
            Some(Carries::MessageId) if noted => {}
            Some(carried) => self.sent(carried, name, value, at(written)),
            None => {}
        }
    }

    /// What is assigned to.
    pub(super) fn sent_by_assignment(&mut self, left: &Expr, value: &Value, written: &Expr) {
        match left {
            Expr::Field(field) => {
                let name = member(&field.member);
                if let Some(carried) = carries(&name) {
                    self.sent(carried, &name, value, at(written));
                }
            }
            Expr::Index(index) => self.member(&index.index, value, written),
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident() {
                    self.named(&name.unraw().to_string(), value);
                }
            }
            _ => {}
        }
    }

    /// `let idempotency_key = …;`: wherever it goes from here, its name says what it is.
    pub(super) fn named_by_its_binding(&mut self, pattern: &Pat, value: &Value) {
        match pattern {
            Pat::Ident(name) => self.named(&name.ident.unraw().to_string(), value),
            Pat::Type(typed) => self.named_by_its_binding(&typed.pat, value),
            _ => {}
        }
    }

    fn named(&mut self, name: &str, value: &Value) {
        // A text is as often the name of the header.
        if names_itself(name)
            && let (Some(carried), Some(source)) = (carries(name), value.fresh())
        {
            self.sent(carried, name, value, source.at);
        }
    }

    /// A request is sent whose client makes a token of its own.
    pub(super) fn sent_without_token(&mut self, builder: &Builder) {
        let operation = builder.operation;
        self.minted(
            builder.at,
            format!("`{}` is sent without a token, and {} makes one", operation.name, operation.client),
            // As long as these tokens may be, and the same for the same key.
            format!(
                "write `.{}(Uuid::new_v5(&NAMESPACE, {{key}}.as_str().as_bytes()))` before `.send()`",
                operation.setter
            ),
        );
    }

    pub(super) fn minted(&mut self, at: At, what: String, setter: String) {
        if self.quiet == 0 {
            self.found.push(Finding {
                rule: &rules::BODY_TOKEN_MINTED_BY_SDK,
                at,
                what,
                cure: Cure::Set(setter),
                source: None,
            });
        }
    }

    /// The name that an expression stands for: a literal, a constant whose name says it, or something made from one.
    fn name_of(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value()),
                Lit::ByteStr(text) => String::from_utf8(text.value()).ok(),
                _ => None,
            },
            Expr::Path(path) => {
                let last = path.path.segments.last()?.ident.unraw().to_string();
                match path.path.get_ident().and_then(|_| self.scopes.get(&last)) {
                    Some(Value::Text(text)) => Some(text.to_string()),
                    Some(_) => None,
                    None => last.starts_with(|first: char| first.is_ascii_uppercase()).then_some(last),
                }
            }
            Expr::Reference(inner) => self.name_of(&inner.expr),
            Expr::Paren(inner) => self.name_of(&inner.expr),
            Expr::Group(inner) => self.name_of(&inner.expr),
            Expr::Try(inner) => self.name_of(&inner.expr),
            Expr::Call(call) => self.name_of(only(&call.args)?),
            Expr::MethodCall(call) => self.name_of(&call.receiver),
            _ => None,
        }
    }
}

/// Whether anything could be said about it.
fn matters(value: &Value) -> bool {
    matches!(value, Value::Text(_)) || value.fresh().is_some()
}

fn only(arguments: &Punctuated<Expr, Token![,]>) -> Option<&Expr> {
    if arguments.len() == 1 { arguments.first() } else { None }
}

/// Whether a chain of methods begins with a path that names `what`.
fn begins_with(chain: &Expr, what: &str) -> bool {
    match chain {
        Expr::MethodCall(call) => begins_with(&call.receiver, what),
        Expr::Call(call) => begins_with(&call.func, what),
        Expr::Path(path) => path.path.segments.iter().any(|segment| segment.ident == what),
        _ => false,
    }
}
