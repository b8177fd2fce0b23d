//! Ways that are taken or not: branches, arms, loops.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Block, Expr};

use super::flow::Flow;
use super::scopes::Scopes;
use super::value::{Source, Value};
use crate::known::Kind;
use crate::known::names::counts_tries;

impl Flow {
    /// Something that may happen or not.
    pub(super) fn maybe(&mut self, way: impl FnOnce(&mut Self) -> Value) -> Value {
        let before = self.scopes.clone();
        let value = way(self);
        let after = std::mem::replace(&mut self.scopes, before);
        if !value.is_never() {
            self.scopes.join(after);
        }
        value
    }

    /// One of several ways.
    pub(super) fn one_of(
        &mut self,
        ways: impl IntoIterator<Item = impl FnOnce(&mut Self) -> Value>,
    ) -> Value {
        let before = self.scopes.clone();
        let mut joined: Option<Scopes> = None;
        let mut value = Value::Never;
        for way in ways {
            self.scopes = before.clone();
            let one = way(self);
            if !one.is_never() {
                match &mut joined {
                    Some(joined) => joined.join(self.scopes.clone()),
                    None => joined = Some(self.scopes.clone()),
                }
            }
            value = value.or(one);
        }
        self.scopes = joined.unwrap_or(before);
        value
    }

    /// A loop is walked twice: what one round leaves behind is there in the next.
    pub(super) fn repeated(&mut self, mut round: impl FnMut(&mut Self)) -> Value {
        self.breaks.push(Value::Never);
        if self.quiet == 0 {
            self.quiet += 1;
            self.maybe(|flow| {
                round(flow);
                Value::Clean
            });
            self.quiet -= 1;
        }
        self.maybe(|flow| {
            round(flow);
            Value::Clean
        });
        self.breaks.pop().unwrap_or(Value::Never)
    }

    pub(super) fn labelled(&mut self, is_target: bool, block: &Block) -> Value {
        if !is_target {
            return self.block(block);
        }
        self.breaks.push(Value::Never);
        let value = self.block(block);
        let broken = self.breaks.pop().unwrap_or(Value::Never);
        value.or(broken)
    }

    pub(super) fn branch(&mut self, branch: &syn::ExprIf) -> Value {
        self.scopes.open();
        self.expr(&branch.cond);
        let ways: [&mut dyn FnMut(&mut Self) -> Value; 2] =
            [&mut |flow| flow.block(&branch.then_branch), &mut |flow| match &branch.else_branch {
                Some((_, other)) => flow.expr(other),
                None => Value::Clean,
            }];
        let value = self.one_of(ways);
        self.scopes.close();
        value
    }

    pub(super) fn matched(&mut self, matched: &syn::ExprMatch) -> Value {
        let scrutinee = self.expr(&matched.expr);
        if scrutinee.is_never() {
            return Value::Never;
        }
        let ways = matched.arms.iter().map(|arm| {
            let scrutinee = &scrutinee;
            move |flow: &mut Self| {
                flow.scopes.open();
                flow.bind(&arm.pat, scrutinee);
                let value = flow.expr(&arm.body);
                flow.scopes.close();
                value
            }
        });
        self.one_of(ways)
    }

    pub(super) fn for_loop(&mut self, repeated: &syn::ExprForLoop) -> Value {
        let items = self.expr(&repeated.expr);
        let counter = matches!(&*repeated.expr, Expr::Range(_)).then(|| try_counter(&repeated.pat)).flatten();
        self.repeated(|flow| {
            flow.scopes.open();
            flow.bind(&repeated.pat, &items);
            if let Some(counter) = counter {
                let value = Value::Fresh(Rc::new(Source {
                    at: counter.into(),
                    shown: counter.to_string(),
                    gives: "another number at each try",
                    kind: Kind::Fresh,
                    shown_where_used: true,
                }));
                flow.scopes.declare(&counter.unraw().to_string(), value);
            }
            flow.each_of(&items, |flow| flow.block(&repeated.body));
            flow.scopes.close();
        });
        Value::Clean
    }
}

/// The variable of `for attempt in 0..3`, if its name says that it counts tries.
fn try_counter(pattern: &syn::Pat) -> Option<&syn::Ident> {
    match pattern {
        syn::Pat::Ident(name) if counts_tries(&name.ident.unraw().to_string()) => Some(&name.ident),
        _ => None,
    }
}
