//! Follows values through statements and expressions.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{BinOp, Block, Expr, Lit, Member, Stmt};

use super::at;
use super::methods::{known_method, last_name};
use super::order;
use super::scopes::Scopes;
use super::sinks::Finding;
use super::value::{Source, Value};
use crate::diagnostics::At;
use crate::known::names::{is_per_delivery_in_bodies, snake_case};
use crate::known::{Form, Kind, Mention};

/// How deep expressions are followed. The compiler's stack is what limits it.
const DEEPEST: usize = 200;

/// The walk through one body.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) scopes: Scopes,
    pub(super) found: Vec<Finding>,
    /// Above zero nothing is reported: in the first round of a loop, which is walked twice, and in what goes to a log.
    pub(super) quiet: usize,
    /// How many expressions stand around this one.
    depth: usize,
    /// The loops around over collections without an order.
    pub(super) any_order: Vec<super::order::Loop>,
    /// The values of `break` in the loops around.
    pub(super) breaks: Vec<Value>,
    /// The values of `return` in the closures around.
    pub(super) returns: Vec<Value>,
    /// Names that stand for a path here: `use rand::random as fresh;`, `type Id = ulid::Ulid;`.
    pub(super) renamed: super::renamed::Renamed,
    /// How many of the body's own functions are walked within one another.
    pub(super) within: usize,
}

impl Flow {
    pub(super) fn statements(&mut self, statements: &[Stmt]) -> Value {
        self.local_items(statements);
        let mut last = Value::Clean;
        let mut returns = true;
        for statement in statements {
            last = self.statement(statement);
            returns &= !last.is_never();
        }
        if returns { last } else { Value::Never }
    }

    /// A block, whose bindings end with it.
    pub(super) fn block(&mut self, block: &Block) -> Value {
        self.scopes.open();
        let value = self.statements(&block.stmts);
        self.scopes.close();
        value
    }

    /// Functions and constants of a block are in sight before they are written.
    fn local_items(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match statement {
                Stmt::Item(syn::Item::Const(constant)) => {
                    let value = self.expr(&constant.expr);
                    self.scopes.declare(&constant.ident.unraw().to_string(), value);
                }
                Stmt::Item(syn::Item::Use(imported)) => self.renamed.import(&imported.tree),
                Stmt::Item(syn::Item::Type(alias)) => self.renamed.alias(alias),
                _ => {}
            }
        }
        for statement in statements {
            if let Stmt::Item(syn::Item::Fn(function)) = statement {
                let made = self.local_function(function);
                self.scopes.declare(&function.sig.ident.unraw().to_string(), made);
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) -> Value {
        match statement {
            // It is there or not, and another one of the name with it.
            Stmt::Local(local) if local.attrs.iter().any(|attr| attr.path().is_ident("cfg")) => {
                self.maybe(|flow| flow.local(local))
            }
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, semi) => {
                let value = self.expr(expr);
                if semi.is_some() && !value.is_never() { Value::Clean } else { value }
            }
            Stmt::Macro(statement) => {
                let value = self.macro_call(&statement.mac);
                if statement.semi_token.is_some() && !value.is_never() { Value::Clean } else { value }
            }
            Stmt::Item(_) => Value::Clean,
        }
    }

    fn local(&mut self, local: &syn::Local) -> Value {
        let Some(init) = &local.init else {
            self.bind(&local.pat, &Value::Never);
            return Value::Clean;
        };
        let value = match &*init.expr {
            Expr::Closure(closure) if !closure.inputs.is_empty() => self.local_closure(closure),
            init => self.expr(init),
        };
        if let Some((_, other)) = &init.diverge {
            self.maybe(|flow| flow.expr(other));
        }
        let value = match &local.pat {
            syn::Pat::Type(typed) => {
                let ty = &typed.ty;
                order::of_type(&quote::quote!(#ty), value, at(&typed.pat))
            }
            _ => value,
        };
        let never = value.is_never();
        self.named_by_its_binding(&local.pat, &value);
        self.bind(&local.pat, &value);
        if never { Value::Never } else { Value::Clean }
    }

    pub(super) fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Value> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// Chains may be long; what is deeper than people write is not followed.
    pub(super) fn expr(&mut self, expr: &Expr) -> Value {
        if self.depth == DEEPEST {
            return Value::Clean;
        }
        self.depth += 1;
        let value = self.value_of(expr);
        self.depth -= 1;
        value
    }

    fn value_of(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Value::Text(text.value().into()),
                _ => Value::Clean,
            },
            Expr::Path(path) => self.path(path),
            Expr::Paren(inner) => self.expr(&inner.expr),
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Reference(inner) => self.expr(&inner.expr),
            Expr::Try(inner) => self.expr(&inner.expr),
            Expr::Unary(unary) => self.expr(&unary.expr),
            Expr::Cast(cast) => {
                let value = self.expr(&cast.expr);
                match (Value::made_of([&value]), shown_address(cast)) {
                    (Value::Clean, Some(shown)) => address(at(cast), shown),
                    (value, _) => value,
                }
            }
            Expr::RawAddr(raw) => address(at(raw), "&raw"),
            Expr::Yield(yielded) => yielded.expr.as_ref().map_or(Value::Clean, |value| self.expr(value)),
            Expr::Await(waited) => self.awaited(&waited.base),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => self.assign(assign),
            Expr::Field(field) => self.field(field),
            Expr::Index(index) => {
                let (of, by) = (self.expr(&index.expr), self.expr(&index.index));
                match (&of, &by) {
                    (Value::Record(_), Value::Text(name)) => of.field(name),
                    // One entry of a list.
                    (Value::Record(_), by) if by.part().is_none() => of,
                    _ => Value::made_of([&of, &by]),
                }
            }
            Expr::Range(range) => {
                let ends = self.all(range.start.as_deref().into_iter().chain(range.end.as_deref()));
                Value::made_of(&ends)
            }
            Expr::Tuple(tuple) => {
                let values = self.all(&tuple.elems);
                self.pairs(tuple.elems.iter(), &values);
                Value::record(values.into_iter().enumerate().map(|(at, value)| (at.to_string(), value)))
            }
            Expr::Array(array) => {
                let values = self.all(&array.elems);
                Value::one_of(&values)
            }
            Expr::Repeat(repeat) => self.expr(&repeat.expr),
            Expr::Struct(literal) => self.struct_literal(literal),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            Expr::Macro(called) => self.macro_call(&called.mac),
            Expr::Closure(closure) => self.closure(closure, &Value::Clean),
            Expr::Block(block) => self.labelled(block.label.is_some(), &block.block),
            Expr::Unsafe(block) => self.block(&block.block),
            Expr::Const(block) => self.block(&block.block),
            Expr::TryBlock(block) => self.block(&block.block),
            Expr::Async(block) => self.body_of(|flow| flow.block(&block.block)),
            Expr::If(branch) => self.branch(branch),
            Expr::Match(matched) => self.matched(matched),
            Expr::Let(condition) => {
                let value = self.expr(&condition.expr);
                self.bind(&condition.pat, &value);
                Value::Clean
            }
            Expr::While(repeated) => {
                self.repeated(|flow| {
                    flow.scopes.open();
                    flow.expr(&repeated.cond);
                    flow.block(&repeated.body);
                    flow.scopes.close();
                });
                Value::Clean
            }
            Expr::Loop(repeated) => self.repeated(|flow| {
                flow.block(&repeated.body);
            }),
            Expr::ForLoop(repeated) => self.for_loop(repeated),
            Expr::Break(broken) => {
                let value = broken.expr.as_ref().map_or(Value::Clean, |value| self.expr(value));
                if let Some(last) = self.breaks.last_mut() {
                    *last = std::mem::replace(last, Value::Never).or(value);
                }
                Value::Never
            }
            Expr::Return(returned) => {
                let value = returned.expr.as_ref().map_or(Value::Clean, |value| self.expr(value));
                if let Some(last) = self.returns.last_mut() {
                    *last = std::mem::replace(last, Value::Never).or(value);
                }
                Value::Never
            }
            Expr::Continue(_) => Value::Never,
            _ => Value::Clean,
        }
    }

    /// A name: of a binding, or of a function that is passed on.
    fn path(&mut self, path: &syn::ExprPath) -> Value {
        if let Some(name) = path.path.get_ident()
            && let Some(value) = self.scopes.get(&name.unraw().to_string())
        {
            return match value {
                Value::Fresh(source) if source.shown_where_used => {
                    Value::Fresh(Rc::new(source.used_at(name.into())))
                }
                Value::Unordered(source) => Value::Unordered(Rc::new(Source {
                    shown: name.to_string(),
                    ..source.used_at(name.into())
                })),
                Value::Function(function) => function.gives.clone(),
                value => value.clone(),
            };
        }
        let mention = self.renamed.mention(&path.path);
        self.source(&mention, at(path)).unwrap_or(Value::Clean)
    }

    /// The value of something that is known to give another one on every attempt.
    pub(super) fn source(&self, mention: &Mention, at: At) -> Option<Value> {
        let family = mention.family_in_body()?;
        let bare = mention.form == Form::Path && mention.segments.len() == 1;
        if bare && self.scopes.get(&mention.segments[0]).is_some() {
            return None;
        }
        Some(Value::Fresh(Rc::new(Source {
            at,
            shown: mention.to_string(),
            gives: family.gives,
            kind: family.kind,
            shown_where_used: false,
        })))
    }

    /// What a call brings back from elsewhere is not made of what was sent there.
    pub(super) fn awaited(&mut self, base: &Expr) -> Value {
        let value = self.expr(base);
        let fetched = match base {
            Expr::Call(call) => !self.passes_through(call),
            Expr::MethodCall(call) => {
                known_method(call).is_none() && !super::methods::waits_for_closure(call)
            }
            _ => false,
        };
        if fetched && !value.is_never() { Value::Clean } else { value }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Value {
        let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
        match &binary.op {
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => Value::made_of([&left, &right]),
            // The answer to a question is the same for most attempts.
            BinOp::And(_)
            | BinOp::Or(_)
            | BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_) => Value::Clean,
            // `+=` and its like.
            _ => {
                self.mixed_into(&binary.left, &right);
                self.counted(&binary.left);
                Value::Clean
            }
        }
    }

    fn field(&mut self, field: &syn::ExprField) -> Value {
        let base = self.expr(&field.base);
        let name = member(&field.member);
        match &base {
            Value::Clean | Value::Mixed(_) => {
                let of_a_try = is_of_a_try(&field.base, &name);
                per_delivery_value(&name, of_a_try, at(field)).unwrap_or(Value::Clean)
            }
            base => base.field(&name),
        }
    }

    fn struct_literal(&mut self, literal: &syn::ExprStruct) -> Value {
        let mut fields = std::collections::BTreeMap::new();
        if let Some(rest) = &literal.rest
            && let Value::Record(others) = self.expr(rest)
        {
            fields.extend(others.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        for field in &literal.fields {
            let value = self.expr(&field.expr);
            let name = member(&field.member);
            self.field_of(&literal.path, &name, &value, &field.expr);
            fields.insert(name, value);
        }
        self.header_of(literal, &fields);
        Value::record(fields)
    }
}

/// An address, another one in every process.
pub(super) fn address(at: At, shown: &str) -> Value {
    let gives = crate::known::family_of("Arc::as_ptr").map_or("an address", |family| family.gives);
    Value::Fresh(Rc::new(Source {
        at,
        shown: shown.to_owned(),
        gives,
        kind: Kind::Fresh,
        shown_where_used: false,
    }))
}

/// How a cast that shows an address is called: `text.as_ptr() as usize`, `&message as *const Message`.
fn shown_address(cast: &syn::ExprCast) -> Option<&'static str> {
    match (&*cast.ty, &*cast.expr) {
        (syn::Type::Ptr(_), _) => Some("as *const _"),
        (_, Expr::MethodCall(call)) if call.method == "as_ptr" => Some(".as_ptr()"),
        (_, Expr::MethodCall(call)) if call.method == "as_mut_ptr" => Some(".as_mut_ptr()"),
        _ => None,
    }
}

/// What [`is_of_a_try`] knows.
pub(super) const OF_A_TRY: [&str; 4] = ["request_id", "deadline", "attempt", "attempts"];

/// What a framework says of this try: `context.request_id` of a Lambda, `task.attempt()`. Elsewhere these words are the message's.
pub(super) fn is_of_a_try(of: &Expr, name: &str) -> bool {
    let one_of = |words: &[&str]| {
        let name = snake_case(&last_name(of));
        words.iter().any(|word| name == *word || name.ends_with(&format!("_{word}")))
    };
    // Of what a field holds, only that of Lambda's event is known.
    let beside_the_message = match of {
        Expr::Field(field) => snake_case(&last_name(&field.base)).ends_with("event"),
        of => matches!(of, Expr::Path(_)),
    };
    match name {
        "request_id" | "deadline" => beside_the_message && one_of(&["context", "ctx"]),
        "attempt" | "attempts" => beside_the_message && one_of(&["task", "job", "context", "ctx"]),
        _ => false,
    }
}

/// A field or a getter that a broker fills anew for each delivery, or a framework for each try.
pub(super) fn per_delivery_value(name: &str, of_a_try: bool, at: At) -> Option<Value> {
    (of_a_try || is_per_delivery_in_bodies(&snake_case(name))).then(|| {
        Value::Fresh(Rc::new(Source {
            at,
            shown: name.to_owned(),
            gives: "another value at each delivery",
            kind: Kind::Fresh,
            shown_where_used: false,
        }))
    })
}

/// The name or the number of a field.
pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
