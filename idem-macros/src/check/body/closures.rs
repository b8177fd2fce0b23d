//! Bodies that run later: closures, `async` blocks, functions inside of the body.

use syn::ExprClosure;

use super::flow::Flow;
use super::value::Value;

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
