//! Which names are bound to what, block by block.

use std::collections::HashMap;
use std::rc::Rc;

use super::value::Value;

type Layer = HashMap<String, Value>;

/// The names in sight. A copy, for each way of a branch, shares the layers that nobody changes.
#[derive(Clone)]
pub(super) struct Scopes {
    layers: Vec<Rc<Layer>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { layers: vec![Rc::default()] }
    }
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.layers.push(Rc::default());
    }

    pub(super) fn close(&mut self) {
        self.layers.pop();
    }

    /// A new binding, which hides those of the same name.
    pub(super) fn declare(&mut self, name: &str, value: Value) {
        if let Some(layer) = self.layers.last_mut() {
            Rc::make_mut(layer).insert(name.to_owned(), value);
        }
    }

    /// A name of the program, in sight from everywhere.
    pub(super) fn declare_below(&mut self, name: &str, value: Value) {
        if let Some(layer) = self.layers.first_mut() {
            Rc::make_mut(layer).insert(name.to_owned(), value);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.layers.iter().rev().find_map(|layer| layer.get(name))
    }

    /// How many blocks are open.
    pub(super) fn layers(&self) -> usize {
        self.layers.len()
    }

    /// In which of them a name is bound.
    pub(super) fn layer_of(&self, name: &str) -> Option<usize> {
        self.layers.iter().rposition(|layer| layer.contains_key(name))
    }

    /// Gives the newest binding of that name another value.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        if let Some(layer) = self.layers.iter_mut().rev().find(|layer| layer.contains_key(name)) {
            Rc::make_mut(layer).insert(name.to_owned(), value);
        }
    }

    /// What is known after one of two ways, both of which began here. A way that does not come back has no say.
    pub(super) fn join(&mut self, other: Self) {
        for (layer, other) in self.layers.iter_mut().zip(other.layers) {
            if Rc::ptr_eq(layer, &other) {
                continue;
            }
            let layer = Rc::make_mut(layer);
            for (name, value) in other.iter() {
                let known = layer.remove(name).unwrap_or(Value::Never);
                layer.insert(name.clone(), known.or(value.clone()));
            }
        }
    }
}
