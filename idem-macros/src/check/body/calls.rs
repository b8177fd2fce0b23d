//! Calls of functions.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{Expr, ExprCall};

use super::at;
use super::flow::Flow;
use super::order;
use super::value::{Source, Value};
use crate::known::{self, HOST_VARIABLES, Kind, Mention};

/// Functions and variants that hold what they are given.
const WRAPPERS: [&str; 24] = [
    "Some",
    "Ok",
    "Ready",
    "Borrowed",
    "Owned",
    "Reverse",
    "Box::new",
    "Box::pin",
    "Arc::new",
    "Rc::new",
    "Mutex::new",
    "RwLock::new",
    "Cell::new",
    "RefCell::new",
    "Cow::from",
    "identity",
    // What they repeat is each of the entries.
    "iter::once",
    "iter::once_with",
    "iter::repeat",
    "iter::repeat_n",
    "iter::repeat_with",
    "iter::from_fn",
    "array::from_fn",
    "stream::iter",
];

/// Functions that begin a generator with what they are given.
const SEEDING: [&str; 3] = ["seed_from_u64", "from_seed", "with_seed"];

/// How the names of functions begin that give their argument in another form.
const CONVERSIONS: [&str; 10] =
    ["from", "try_from", "parse", "encode", "to_", "into_", "digest", "hash", "new", "sha"];

/// Functions that run what they are given, and give what it gives.
const RUNNERS: [&str; 4] = ["ready", "spawn_blocking", "block_in_place", "spawn"];

/// Whether a function of that name may give what it is given.
pub(super) fn may_give_back(name: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| wrapper.rsplit("::").next() == Some(name))
        || RUNNERS.contains(&name)
        || name == "new_with_id"
}

impl Flow {
    pub(super) fn call(&mut self, call: &ExprCall) -> Value {
        let values = self.all(&call.args);
        let value = match &*call.func {
            Expr::Path(path) => {
                if values.iter().skip(1).any(|value| value.fresh().is_some()) {
                    let function = path.path.segments.iter().map(|segment| segment.ident.to_string());
                    self.named_argument(&function.collect::<String>(), &call.args, &values);
                }
                self.sent_by_call(&path.path, call, &values);
                self.result_of(call, path, &values)
            }
            callee => match self.expr(callee) {
                Value::Fresh(source) => Value::Fresh(source),
                _ => Value::out_of(&values),
            },
        };
        self.written_by_call(call.args.iter(), &values, &value);
        value
    }

    fn result_of(&mut self, call: &ExprCall, path: &syn::ExprPath, values: &[Value]) -> Value {
        if let Some(name) = path.path.get_ident()
            && let Some(local) = self.scopes.get(&name.unraw().to_string())
        {
            return match local {
                Value::Clean => Value::out_of(values),
                Value::Function(function) => {
                    let function = Rc::clone(function);
                    self.called(&function, values)
                }
                local => local.clone(),
            };
        }
        let mention = self.renamed.mention(&path.path).called_with(&call.args);
        if let Some(value) = self.source(&mention, at(call)).or_else(|| host_variable(&mention, call, values))
        {
            return value;
        }
        let ends_with = |wanted: &str| mention.ends_with(wanted);
        if WRAPPERS.iter().any(|wrapper| ends_with(wrapper)) {
            return values.first().cloned().unwrap_or(Value::Clean);
        }
        let last = mention.segments.last().map_or("", String::as_str);
        if last == "Err" {
            return Value::Clean;
        }
        if SEEDING.contains(&last) && Value::made_of(values).part().is_none() {
            return Value::Seeded;
        }
        if last.starts_with(|first: char| first.is_ascii_uppercase()) {
            return Value::record(
                values.iter().enumerate().map(|(at, value)| (at.to_string(), value.clone())),
            );
        }
        if RUNNERS.contains(&last) {
            return values.first().cloned().unwrap_or(Value::Clean);
        }
        if let Some(value) = order::written_in_any_order(last, values) {
            return value;
        }
        if let Some(value) = order::made_without_order(&mention, at(call))
            && Value::made_of(values).fresh().is_none()
        {
            return value;
        }
        let of_a_type = |segment: &String| segment.starts_with(|first: char| first.is_ascii_uppercase());
        if let ([value], "new", Some(true)) =
            (values, last, mention.segments.iter().rev().nth(1).map(of_a_type))
        {
            return Value::holding(value.clone());
        }
        match values {
            [value] if CONVERSIONS.iter().any(|conversion| last.starts_with(conversion)) => {
                Value::made_of([value])
            }
            values => Value::out_of(values),
        }
    }

    /// Whether waiting for a call gives what went into it, or what it makes itself.
    pub(super) fn passes_through(&self, call: &ExprCall) -> bool {
        let Expr::Path(path) = &*call.func else { return false };
        let mention = Mention::of_path(&path.path).called_with(&call.args);
        let last = mention.segments.last().map_or("", String::as_str);
        let local = path.path.get_ident().is_some_and(|name| self.scopes.get(&name.to_string()).is_some());
        local || mention.family_in_body().is_some() || RUNNERS.contains(&last) || last == "pin"
    }
}

/// `env::var("HOSTNAME")`: most variables are settings, and the same everywhere; these are not.
fn host_variable(mention: &Mention, call: &ExprCall, values: &[Value]) -> Option<Value> {
    let reads = mention.ends_with("env::var") || mention.ends_with("env::var_os");
    match values.first() {
        Some(Value::Text(name)) if reads && HOST_VARIABLES.contains(&&**name) => {
            let family = known::family_of("env::var")?;
            Some(Value::Fresh(Rc::new(Source {
                at: at(call),
                shown: format!("{}(\"{name}\")", mention.segments.join("::")),
                gives: family.gives,
                kind: Kind::Fresh,
                shown_where_used: false,
            })))
        }
        _ => None,
    }
}
