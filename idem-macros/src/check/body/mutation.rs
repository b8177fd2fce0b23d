//! Values that change where they are.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Expr, ExprAssign};

use super::flow::{Flow, member};
use super::value::{Source, Value};
use super::ways::ANOTHER_TRY;
use crate::known::names::counts_tries;
use crate::known::{self, Kind};

/// Methods through which what they are called on can be changed.
fn leads_to_receiver(method: &str) -> bool {
    ["lock", "write", "borrow_mut", "get_mut", "as_mut", "deref_mut", "unwrap", "expect", "await"]
        .contains(&method)
}

/// The binding that a place is in.
pub(super) fn root(place: &Expr) -> Option<String> {
    match place {
        Expr::Path(path) => path.path.get_ident().map(|name| name.unraw().to_string()),
        Expr::Field(field) => root(&field.base),
        Expr::Reference(inner) => root(&inner.expr),
        Expr::Paren(inner) => root(&inner.expr),
        Expr::Group(inner) => root(&inner.expr),
        Expr::Unary(inner) => root(&inner.expr),
        _ => None,
    }
}

impl Flow {
    pub(super) fn assign(&mut self, assign: &ExprAssign) -> Value {
        let value = self.expr(&assign.right);
        if value.is_never() {
            return Value::Never;
        }
        self.assigned(&assign.left, &value, &assign.right);
        Value::Clean
    }

    fn assigned(&mut self, left: &Expr, value: &Value, written: &Expr) {
        self.sent_by_assignment(left, value, written);
        match left {
            Expr::Tuple(tuple) => {
                for (at, part) in tuple.elems.iter().enumerate() {
                    self.assigned(part, &value.field(&at.to_string()), written);
                }
            }
            left => self.place(left, &mut |_| value.clone()),
        }
    }

    /// `key += value`, `key.push_str(value)`: some of it is the value now.
    pub(super) fn mixed_into(&mut self, left: &Expr, value: &Value) {
        if let Some(source) = value.part() {
            let mixed = Value::Mixed(Rc::clone(source));
            self.place(left, &mut |known| match known {
                Value::Fresh(_) => known,
                _ => mixed.clone(),
            });
        }
    }

    /// `fill(&mut bytes)`, `append(&mut text, value)`: what a call can write to is made of what it was given.
    pub(super) fn written_by_call<'e>(
        &mut self,
        arguments: impl Iterator<Item = &'e Expr>,
        values: &[Value],
        result: &Value,
    ) {
        for (at, argument) in arguments.enumerate() {
            let target = match argument {
                Expr::Reference(reference) if reference.mutability.is_some() => &reference.expr,
                // `fill_bytes(bytes.as_mut_slice())`.
                Expr::MethodCall(call) if call.method.to_string().starts_with("as_mut") => &call.receiver,
                _ => continue,
            };
            // `entry.hash(&mut hasher)`, `append(&mut text, entry)`.
            self.appended(target, "write");
            let others = values.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, value)| value);
            let given = Value::out_of(others);
            let fresh = match result {
                Value::Fresh(_) => result.part(),
                _ => None,
            };
            if let Some(source) = fresh.or_else(|| given.part()) {
                let source = Rc::clone(source);
                if values.get(at).is_none_or(|value| value.part().is_none()) {
                    self.mixed_into(target, &Value::Fresh(source));
                }
            }
        }
    }

    /// `map.insert(name, value)`.
    pub(super) fn inserted(&mut self, map: &Expr, values: &[Value]) {
        let [name, value] = values else { return };
        if value.part().is_none() {
            return;
        }
        let entry = match name {
            Value::Text(name) => (name.to_string(), value.clone()),
            // What a loop over it gives: a name and a value.
            _ => ("1".to_owned(), value.clone()),
        };
        self.place(map, &mut |known| match known {
            Value::Record(_) => known.with_field(&entry.0, entry.1.clone()),
            Value::Clean | Value::Unordered(_) | Value::Text(_) => Value::record([entry.clone()]),
            known => known,
        });
    }

    /// `attempt += 1` in a loop, and `COUNTER += 1` of a `static mut`.
    pub(super) fn counted(&mut self, left: &Expr) {
        let Expr::Path(path) = left else { return };
        let Some(ident) = path.path.get_ident() else { return };
        let name = ident.unraw().to_string();
        let of_the_program = name.starts_with(|first: char| first.is_ascii_uppercase());
        let known = self.scopes.get(&name);
        let gives = match known {
            None if of_the_program => known::family_of(".fetch_add").map_or("", |family| family.gives),
            Some(Value::Clean) if !self.breaks.is_empty() && counts_tries(&name) => ANOTHER_TRY,
            _ => return,
        };
        let source = Source {
            at: ident.into(),
            shown: name.clone(),
            gives,
            kind: Kind::Fresh,
            shown_where_used: true,
        };
        let value = Value::Fresh(Rc::new(source));
        if known.is_some() {
            self.scopes.assign(&name, value);
        } else {
            self.scopes.declare_below(&name, value);
        }
    }

    /// Changes a binding, or a field of one.
    pub(super) fn place(&mut self, left: &Expr, change: &mut dyn FnMut(Value) -> Value) {
        match left {
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident() {
                    let name = name.unraw().to_string();
                    if let Some(known) = self.scopes.get(&name).cloned() {
                        self.scopes.assign(&name, change(known));
                    }
                }
            }
            Expr::Field(field) => {
                let name = member(&field.member);
                self.place(&field.base, &mut |base| {
                    let changed = change(base.field(&name));
                    base.with_field(&name, changed)
                });
            }
            // `*shared.lock().unwrap() = value`.
            Expr::MethodCall(call) if leads_to_receiver(&call.method.to_string()) => {
                self.place(&call.receiver, change);
            }
            Expr::Unary(inner) => self.place(&inner.expr, change),
            Expr::Paren(inner) => self.place(&inner.expr, change),
            Expr::Group(inner) => self.place(&inner.expr, change),
            Expr::Reference(inner) => self.place(&inner.expr, change),
            Expr::Index(inner) => self.place(&inner.expr, &mut |base| match change(Value::Clean) {
                Value::Fresh(source) | Value::Mixed(source) => match base {
                    Value::Clean | Value::Text(_) => Value::Mixed(source),
                    base => base,
                },
                _ => base,
            }),
            _ => {}
        }
    }
}
