//! Collections that give their entries in any order: `HashMap`, `HashSet` and their like. An entry is as good as the collection; what is
//! put together entry by entry is another text, or another hash, in each process.

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{Expr, ExprMethodCall};

use super::flow::Flow;
use super::mutation::root;
use super::value::{Source, Value};
use crate::diagnostics::At;
use crate::known::{Kind, Mention};

pub(super) const UNORDERED: [&str; 4] = ["HashMap", "HashSet", "DashMap", "DashSet"];

/// Those that sort what they are given.
const SORTED: [&str; 3] = ["BTreeMap", "BTreeSet", "BinaryHeap"];

/// Methods that give the entries one after the other, or other things in the same order.
const ITERATING: [&str; 21] = [
    "as_mut",
    "as_ref",
    "by_ref",
    "clone",
    "cloned",
    "copied",
    "drain",
    "enumerate",
    "filter",
    "filter_map",
    "flat_map",
    "into_iter",
    "into_keys",
    "into_values",
    "iter",
    "iter_mut",
    "keys",
    "map",
    "peekable",
    "values",
    "values_mut",
];

/// Methods that put them together in their order.
const JOINING: [&str; 3] = ["concat", "intersperse", "join"];

/// Methods that add to what they are called on, so that what was added first makes a difference.
const APPENDING: [&str; 14] = [
    "chain_update",
    "extend_from_slice",
    "push_str",
    "put",
    "update",
    "write",
    "write_all",
    "write_str",
    "write_u128",
    "write_u16",
    "write_u32",
    "write_u64",
    "write_u8",
    "write_usize",
];

/// Functions that write all of what they are given.
const WRITING: [&str; 6] = ["to_string", "to_string_pretty", "to_vec", "digest", "encode", "hash"];

/// The first name in a type that is known here: an outer one, as of `&HashMap<String, BTreeMap<…>>`.
fn head(ty: &TokenStream) -> Option<Ident> {
    let known =
        |ident: &Ident| UNORDERED.iter().chain(&SORTED).any(|name| ident == name) || ident == "String";
    let mut tokens = ty.clone().into_iter();
    // Of `Vec<HashMap<…>>`, nothing is known.
    tokens
        .by_ref()
        .take_while(|token| !matches!(token, TokenTree::Punct(punct) if punct.as_char() == '<'))
        .filter_map(|token| match token {
            TokenTree::Ident(ident) if known(&ident) => Some(ident),
            _ => None,
        })
        .last()
}

fn any_order(at: At, shown: String) -> Value {
    Value::Unordered(Rc::new(Source {
        at,
        shown,
        gives: "its entries in another order in each process",
        kind: Kind::Fresh,
        shown_where_used: true,
    }))
}

/// An argument of a type that has no order.
pub(super) fn argument_in_any_order(ty: &TokenStream, name: &Ident) -> Option<Value> {
    let head = head(ty)?;
    UNORDERED.iter().any(|name| head == name).then(|| any_order(name.into(), name.to_string()))
}

/// What is known of a value of which the type is written: of a binding, or of what is collected.
pub(super) fn of_type(ty: &TokenStream, value: Value, at: At) -> Value {
    let Some(head) = head(ty) else { return value };
    match value {
        Value::Unordered(_) if SORTED.iter().any(|name| head == name) => Value::Clean,
        Value::Unordered(source) if head == "String" => Value::Fresh(source),
        Value::Clean if UNORDERED.iter().any(|name| head == name) => any_order(at, head.to_string()),
        value => value,
    }
}

/// `collect::<HashMap<_, _>>()`.
pub(super) fn collected(call: &ExprMethodCall, value: Value) -> Value {
    let Some(turbofish) = &call.turbofish else { return value };
    let ty = &turbofish.args;
    of_type(&quote::quote!(#ty), value, At::from(call.method.span()))
}

/// `HashMap::new()`, `HashSet::from(…)`.
pub(super) fn made_without_order(mention: &Mention, at: At) -> Option<Value> {
    let [.., ty, making] = &mention.segments[..] else { return None };
    let makes = ["new", "with_capacity", "from", "from_iter", "default"].contains(&making.as_str());
    (makes && UNORDERED.contains(&ty.as_str())).then(|| any_order(at, ty.clone()))
}

/// What a function gives that writes all of its argument.
pub(super) fn written_in_any_order(function: &str, values: &[Value]) -> Option<Value> {
    match values {
        [Value::Unordered(source)] if WRITING.contains(&function) => Some(Value::Fresh(Rc::clone(source))),
        _ => None,
    }
}

/// What is written of a value in a text: all of it, in its order.
pub(super) fn shown(value: Value) -> Value {
    match value {
        Value::Unordered(source) => Value::Fresh(source),
        value => value,
    }
}

/// A loop over such a collection.
pub(super) struct Loop {
    source: Rc<Source>,
    /// How many layers of names are around it: what is bound there is there in the next round.
    layers: usize,
}

impl Flow {
    /// A method that is called on something without an order.
    pub(super) fn method_without_order(
        &mut self,
        call: &ExprMethodCall,
        name: &str,
        source: &Rc<Source>,
        values: &[Value],
    ) -> Option<Value> {
        let unordered = || Value::Unordered(Rc::clone(source));
        if name.starts_with("sort") {
            // `ids.sort()` in its place, `entries.sorted()` as a new value.
            if !name.starts_with("sorted") {
                self.place(&call.receiver, &mut |_| Value::Clean);
            }
            return Some(Value::Clean);
        }
        if JOINING.contains(&name) {
            return Some(Value::Fresh(Rc::clone(source)));
        }
        if name == "collect" {
            return Some(collected(call, unordered()));
        }
        // What is fresh by itself is told by its own name.
        (ITERATING.contains(&name) && values.iter().all(|value| value.fresh().is_none())).then(unordered)
    }

    /// Walks what is done for each entry of a collection.
    pub(super) fn each_of<T>(&mut self, collection: &Value, walk: impl FnOnce(&mut Self) -> T) -> T {
        let Value::Unordered(source) = collection else { return walk(self) };
        self.any_order.push(Loop { source: Rc::clone(source), layers: self.scopes.layers() });
        let walked = walk(self);
        self.any_order.pop();
        walked
    }

    /// Something is added to `target`, once for each entry.
    pub(super) fn appended(&mut self, target: &Expr, how: &str) {
        let Some(name) = root(target) else { return };
        let Some(layer) = self.scopes.layer_of(&name) else { return };
        let Some(source) = self
            .any_order
            .iter()
            .find(|around| layer < around.layers)
            .map(|around| Rc::clone(&around.source))
        else {
            return;
        };
        if how == "push" || how == "push_back" {
            // A list that can still be sorted.
            self.place(target, &mut |known| match known {
                Value::Clean => Value::Unordered(Rc::clone(&source)),
                known => known,
            });
        } else if APPENDING.contains(&how) {
            self.mixed_into(target, &Value::Fresh(source));
        }
    }
}
