//! Calls of methods.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Expr, ExprMethodCall};

use super::flow::{Flow, is_of_a_try, per_delivery_value};
use super::order;
use super::random::{drawn, swapped};
use super::value::{Builder, Value};
use crate::diagnostics::At;
use crate::known::{Family, Form, Kind, Mention, conversions, minted};

impl Flow {
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Value {
        let name = call.method.unraw().to_string();
        let receiver = self.expr(&call.receiver);
        let mapping = conversions::maps(&name) || conversions::visits(&name);
        let values: Vec<Value> = call
            .args
            .iter()
            .map(|argument| match argument {
                Expr::Closure(closure) if name == "for_each" => {
                    let entry = match &receiver {
                        Value::Unordered(_) => Value::Clean,
                        list => list.clone(),
                    };
                    self.each_of(&receiver, |flow| flow.closure(closure, &entry))
                }
                Expr::Closure(closure) => {
                    let given = match &receiver {
                        // An entry has no order of its own.
                        Value::Unordered(_) => Value::Clean,
                        receiver if mapping => receiver.clone(),
                        _ => Value::Clean,
                    };
                    self.closure(closure, &given)
                }
                argument => self.expr(argument),
            })
            .collect();
        self.sent_by_method(call, &name, &values);
        if receiver.is_never() {
            return Value::Never;
        }
        if let Some(builder) = self.request(call, &name, &receiver) {
            return builder;
        }
        if let Value::Unordered(source) = &receiver
            && let Some(value) = self.method_without_order(call, &name, source, &values)
        {
            return value;
        }
        let value = match self.result(call, &name, &receiver, &values) {
            Value::Clean if name == "collect" => order::collected(call, Value::Clean),
            value => value,
        };
        let part = Value::made_of(values.iter());
        if name == "insert" && values.len() == 2 {
            self.inserted(&call.receiver, &values);
        } else if conversions::mutates(&name)
            || (values.len() == 1 && ["insert", "replace"].contains(&&*name))
        {
            let drawn = if name.ends_with("shuffle") { drawn(call, &name, &values) } else { None };
            self.mixed_into(&call.receiver, drawn.as_ref().unwrap_or(&part));
            self.appended(&call.receiver, &name);
        }
        let receiver = if name == "hash" { order::shown(receiver) } else { receiver };
        let given = if name == "hash" { &receiver } else { &value };
        self.written_by_call(call.args.iter(), &values, given);
        value
    }

    /// The request of an operation whose client makes a token of its own.
    fn request(&mut self, call: &ExprMethodCall, name: &str, receiver: &Value) -> Option<Value> {
        let at = At::from(call.method.span());
        if let Value::Builder(builder) = receiver {
            if name == "send" || name == "send_with" {
                if !builder.has_token {
                    self.sent_without_token(builder);
                }
                return Some(Value::Clean);
            }
            let has_token = builder.has_token || minted::sets_token(name);
            return Some(Value::Builder(Rc::new(Builder { has_token, ..Builder::clone(builder) })));
        }
        if let Expr::MethodCall(api) = &*call.receiver
            && name == "create"
            && api.method == "message"
            && call.args.len() == 3
            && matches!(call.args.last(), Some(Expr::Path(none)) if none.path.is_ident("None"))
        {
            self.minted(
                at,
                "`create` sends a message without a key, and the client of `svix` makes one".to_owned(),
                "give it options whose `idempotency_key` is `{key}.as_str()`".to_owned(),
            );
        }
        let operation = if call.args.is_empty() { minted::operation(name)? } else { return None };
        Some(Value::Builder(Rc::new(Builder { operation, at, has_token: false })))
    }

    fn result(&mut self, call: &ExprMethodCall, name: &str, receiver: &Value, values: &[Value]) -> Value {
        if conversions::forgets(name) || name.starts_with("is_") || name.starts_with("has_") {
            return Value::Clean;
        }
        if conversions::maps(name) {
            return call.args.iter().zip(values).fold(Value::Never, |value, (argument, given)| {
                let given = given.clone();
                // Of a function that is passed by its name, only that it may be fresh is known.
                let made = if matches!(argument, Expr::Path(_)) { given.or(receiver.clone()) } else { given };
                value.or(made)
            });
        }
        if let Value::Fresh(source) = receiver
            && source.kind == Kind::Fresh
        {
            return receiver.clone();
        }
        // The same numbers on every attempt.
        if matches!(receiver, Value::Seeded) {
            return if conversions::is_transparent(name) { Value::Seeded } else { Value::Clean };
        }
        if let Value::Record(_) = receiver
            && conversions::picks(name)
        {
            return match values {
                [Value::Text(entry)] => receiver.field(entry),
                _ => receiver.clone(),
            };
        }
        if let Some(held) = receiver.held()
            && call.args.is_empty()
        {
            return held.clone();
        }
        if let Some(value) = drawn(call, name, values).or_else(|| swapped(call, name)) {
            return value;
        }
        if let Some(family) = known_method(call) {
            let fallback_of_a_fresh = receiver.part().is_some();
            if fallback_of_a_fresh && family.kind == Kind::Default {
                return receiver.clone();
            }
            let at = At::between(call.method.span(), call.paren_token.span.close());
            if let Some(value) = self.source(&mention(call), at) {
                return value;
            }
        }
        if call.args.is_empty()
            && matches!(receiver, Value::Clean | Value::Mixed(_))
            && let Some(value) = per_delivery_value(
                name,
                is_of_a_try(&call.receiver, name),
                At::between(call.method.span(), call.paren_token.span.close()),
            )
        {
            return value;
        }
        if conversions::falls_back(name) {
            return values.iter().cloned().fold(receiver.clone(), Value::or);
        }
        let combined = || Value::made_of(std::iter::once(receiver).chain(values));
        if conversions::combines(name) && values.iter().any(|value| value.part().is_some()) {
            return combined();
        }
        if conversions::is_transparent(name) {
            return receiver.clone();
        }
        if values.iter().any(is_generator) {
            return combined();
        }
        match receiver {
            Value::Mixed(_) if conversions::renders(name) => receiver.clone(),
            receiver if conversions::renders(name) => Value::made_of([receiver]),
            _ => Value::Clean,
        }
    }
}

/// Whether waiting for a method gives what its closure gives, and nothing that was fetched.
pub(super) fn waits_for_closure(call: &ExprMethodCall) -> bool {
    conversions::falls_back(&call.method.to_string())
}

/// The family of a method that is known by its name.
pub(super) fn known_method(call: &ExprMethodCall) -> Option<&'static Family> {
    mention(call).family_in_body()
}

/// Whether a value is a source of random numbers: what a method makes with one is random.
fn is_generator(value: &Value) -> bool {
    match value {
        Value::Fresh(source) => {
            source.shown.contains("rng") || source.shown.contains("Rng") || source.shown.contains("entropy")
        }
        _ => false,
    }
}

pub(super) fn mention(call: &ExprMethodCall) -> Mention {
    Mention {
        segments: vec![call.method.unraw().to_string()],
        form: Form::Method,
        called: true,
        arguments: !call.args.is_empty(),
        on: last_name(&call.receiver),
        none: false,
    }
}

/// The last name of what a method is called on: `rng` of `self.rng` and of `rng()`.
pub(super) fn last_name(expr: &Expr) -> String {
    match expr {
        // `Clock::new().raw()` is called on a clock.
        Expr::Call(call) if constructed(&call.func).is_some() => constructed(&call.func).unwrap_or_default(),
        Expr::Path(path) => path.path.segments.last().map_or_else(String::new, |last| last.ident.to_string()),
        Expr::Field(field) => super::flow::member(&field.member),
        Expr::Call(call) => last_name(&call.func),
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            // `rng.lock()`, `rng.borrow_mut()`, `generator.as_mut()`.
            let through = ["lock", "borrow_mut", "as_mut", "unwrap", "expect", "get_mut", "write"];
            if through.contains(&name.as_str()) { last_name(&call.receiver) } else { name }
        }
        Expr::Paren(inner) => last_name(&inner.expr),
        Expr::Group(inner) => last_name(&inner.expr),
        Expr::Reference(inner) => last_name(&inner.expr),
        Expr::Try(inner) => last_name(&inner.expr),
        Expr::Await(inner) => last_name(&inner.base),
        Expr::Unary(inner) => last_name(&inner.expr),
        _ => String::new(),
    }
}

/// The type of `Type::new`.
fn constructed(function: &Expr) -> Option<String> {
    let Expr::Path(path) = function else { return None };
    let mut segments = path.path.segments.iter().rev();
    segments.next().filter(|last| last.ident == "new" || last.ident == "default")?;
    let ty = segments.next()?.ident.to_string();
    ty.starts_with(|first: char| first.is_ascii_uppercase()).then_some(ty)
}
