//! Values that change where they are.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Expr, ExprAssign};

use super::flow::{Flow, member};
use super::value::Value;

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
            let Expr::Reference(reference) = argument else { continue };
            if reference.mutability.is_none() {
                continue;
            }
            // `entry.hash(&mut hasher)`, `append(&mut text, entry)`.
            self.appended(&reference.expr, "write");
            let others = values.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, value)| value);
            let given = Value::out_of(others);
            let fresh = match result {
                Value::Fresh(_) => result.part(),
                _ => None,
            };
            if let Some(source) = fresh.or_else(|| given.part()) {
                let source = Rc::clone(source);
                if values.get(at).is_none_or(|value| value.part().is_none()) {
                    self.mixed_into(&reference.expr, &Value::Fresh(source));
                }
            }
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
