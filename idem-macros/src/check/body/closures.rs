//! Bodies that run later: closures, `async` blocks, functions inside of the body.

use std::rc::Rc;

use syn::{Expr, ExprClosure, Pat};

use super::flow::Flow;
use super::scopes::Scopes;
use super::value::{Source, Value};

impl Flow {
    /// What a closure gives when it is given `argument`.
    pub(super) fn closure(&mut self, closure: &ExprClosure, argument: &Value) -> Value {
        self.body_of(|flow| {
            for (at, pattern) in closure.inputs.iter().enumerate() {
                // `fold(init, |sum, item| …)` and its like: only the first is known.
                let value = if at == 0 { argument.clone() } else { Value::Clean };
                flow.bind(pattern, &value);
            }
            flow.expr(&closure.body)
        })
    }

    /// A body of its own: it may run or not, and its `return` is its own.
    pub(super) fn body_of(&mut self, body: impl FnOnce(&mut Self) -> Value) -> Value {
        self.returns.push(Value::Never);
        let mut value = Value::Never;
        self.maybe(|flow| {
            flow.scopes.open();
            value = body(flow);
            flow.scopes.close();
            Value::Clean
        });
        let returned = self.returns.pop().unwrap_or(Value::Never);
        value.or(returned)
    }
}

/// How many functions of the body may be walked within one another.
const DEEPEST: usize = 4;

/// A closure that has a name, or a function of the body.
pub(super) struct Function {
    parameters: Vec<Pat>,
    body: Expr,
    /// What is in sight where it is written.
    scopes: Scopes,
    /// What it gives when nothing is wrong with what it is given.
    pub(super) gives: Value,
}

impl Flow {
    pub(super) fn local_closure(&mut self, closure: &ExprClosure) -> Value {
        let gives = self.closure(closure, &Value::Clean);
        let parameters = closure.inputs.iter().cloned().collect();
        let body = Expr::clone(&closure.body);
        Value::Function(Rc::new(Function { parameters, body, scopes: self.scopes.clone(), gives }))
    }

    pub(super) fn local_function(&mut self, function: &syn::ItemFn) -> Value {
        let typed = |input: &syn::FnArg| match input {
            syn::FnArg::Typed(typed) => Some(Pat::clone(&typed.pat)),
            syn::FnArg::Receiver(_) => None,
        };
        let parameters: Vec<Pat> = function.sig.inputs.iter().filter_map(typed).collect();
        let gives = self.body_of(|flow| {
            for parameter in &parameters {
                flow.bind(parameter, &Value::Clean);
            }
            flow.block(&function.block)
        });
        if parameters.is_empty() {
            return gives;
        }
        let block = syn::Block::clone(&function.block);
        let body = Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block });
        Value::Function(Rc::new(Function { parameters, body, scopes: self.scopes.clone(), gives }))
    }

    /// What it gives when it is given these. What is wrong with them is reported; the rest was, where it is written.
    pub(super) fn called(&mut self, function: &Function, values: &[Value]) -> Value {
        let given: Vec<Rc<Source>> = values.iter().filter_map(Value::fresh).map(Rc::clone).collect();
        if given.is_empty() || self.within == DEEPEST {
            return function.gives.clone();
        }
        self.within += 1;
        let around = std::mem::replace(&mut self.scopes, function.scopes.clone());
        let before = self.found.len();
        let value = self.body_of(|flow| {
            for (parameter, value) in function.parameters.iter().zip(values) {
                flow.bind(parameter, value);
            }
            flow.expr(&function.body)
        });
        let found = self.found.split_off(before);
        self.found.extend(found.into_iter().filter(|finding| finding.is_of(&given)));
        self.scopes = around;
        self.within -= 1;
        value
    }
}
