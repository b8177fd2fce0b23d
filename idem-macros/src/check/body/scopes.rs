//! Which names are bound to what, block by block.

use std::collections::HashMap;

use super::value::Value;

/// The names in sight.
#[derive(Clone)]
pub(super) struct Scopes {
    layers: Vec<HashMap<String, Value>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { layers: vec![HashMap::new()] }
    }
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.layers.push(HashMap::new());
    }

    pub(super) fn close(&mut self) {
        self.layers.pop();
    }

    /// A new binding, which hides those of the same name.
    pub(super) fn declare(&mut self, name: &str, value: Value) {
        if let Some(layer) = self.layers.last_mut() {
            layer.insert(name.to_owned(), value);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.layers.iter().rev().find_map(|layer| layer.get(name))
    }

    /// Gives the newest binding of that name another value.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        if let Some(bound) = self.layers.iter_mut().rev().find_map(|layer| layer.get_mut(name)) {
            *bound = value;
        }
    }

    /// What is known after one of two ways, both of which began here. A way that does not come back has no say.
    pub(super) fn join(&mut self, other: Self) {
        for (layer, other) in self.layers.iter_mut().zip(other.layers) {
            for (name, value) in other {
                let known = layer.remove(&name).unwrap_or(Value::Never);
                layer.insert(name, known.or(value));
            }
        }
    }
}
