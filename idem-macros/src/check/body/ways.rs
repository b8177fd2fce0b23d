//! Ways that are taken or not: branches, arms, loops.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Block, Expr, Pat};

use super::flow::Flow;
use super::scopes::Scopes;
use super::value::{Source, Value};
use crate::known::Kind;
use crate::known::names::counts_tries;

/// What a variable gives that counts tries.
pub(super) const ANOTHER_TRY: &str = "another number at each try";

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
        let counter = try_counter(&repeated.pat, &repeated.expr);
        let changed = changed_in_place(&repeated.pat, &repeated.expr);
        self.repeated(|flow| {
            flow.scopes.open();
            flow.bind(&repeated.pat, &items);
            if let Some(counter) = counter {
                let value = Value::Fresh(Rc::new(Source {
                    at: counter.into(),
                    shown: counter.to_string(),
                    gives: ANOTHER_TRY,
                    kind: Kind::Fresh,
                    shown_where_used: true,
                }));
                flow.scopes.declare(&counter.unraw().to_string(), value);
            }
            flow.each_of(&items, |flow| flow.block(&repeated.body));
            let after = changed.as_ref().and_then(|(name, _)| flow.scopes.get(name).cloned());
            flow.scopes.close();
            if let (Some((_, list)), Some(value)) = (&changed, after) {
                flow.mixed_into(list, &value);
            }
        });
        Value::Clean
    }
}

/// The variable of `for attempt in 0..3` or `for (attempt, delay) in delays.enumerate()`, if its name says that it counts tries.
fn try_counter<'p>(pattern: &'p Pat, over: &Expr) -> Option<&'p syn::Ident> {
    match (pattern, over) {
        (Pat::Ident(name), Expr::Range(_)) if counts_tries(&name.ident.unraw().to_string()) => {
            Some(&name.ident)
        }
        (Pat::Tuple(pair), Expr::MethodCall(call)) if paces_tries(call) => {
            pair.elems.iter().find_map(|part| match part {
                Pat::Ident(name) if counts_tries(&name.ident.unraw().to_string()) => Some(&name.ident),
                _ => None,
            })
        }
        _ => None,
    }
}

/// Whether what is counted are the pauses between tries, and nothing of the message.
fn paces_tries(call: &syn::ExprMethodCall) -> bool {
    let says_so = |ident: &proc_macro2::Ident| {
        let name = ident.to_string().to_lowercase();
        ["delay", "backoff", "retr", "interval", "pause", "wait"].iter().any(|word| name.contains(word))
    };
    (call.method == "enumerate" || call.method == "zip")
        && crate::tokens::any_ident(quote::quote!(#call), &mut |ident| says_so(ident))
}

/// The variable of `for byte in &mut bytes`, and the list: what it is made to be, the list is made of.
fn changed_in_place<'e>(pattern: &Pat, over: &'e Expr) -> Option<(String, &'e Expr)> {
    let Pat::Ident(name) = pattern else { return None };
    let list = match over {
        Expr::Reference(reference) if reference.mutability.is_some() => &reference.expr,
        Expr::MethodCall(call) if call.method == "iter_mut" => &call.receiver,
        _ => return None,
    };
    Some((name.ident.unraw().to_string(), list))
}
