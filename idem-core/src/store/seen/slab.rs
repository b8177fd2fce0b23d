//! Numbered places that never move: growing costs one small allocation, and no copy of what is there.

/// How many places are allocated at once.
const CHUNK: usize = 256;

pub(super) struct Slab<T>(Vec<Vec<T>>);

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a place behind the others, and returns how many there were.
    pub(super) fn push(&mut self, value: T) -> usize {
        if self.0.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.0.push(Vec::with_capacity(CHUNK));
        }
        let before = (self.0.len() - 1) * CHUNK;
        self.0.last_mut().map_or(before, |chunk| {
            chunk.push(value);
            before + chunk.len() - 1
        })
    }

    /// How many places there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    pub(super) fn get(&self, at: u32) -> &T {
        &self.0[at as usize / CHUNK][at as usize % CHUNK]
    }

    pub(super) fn get_mut(&mut self, at: u32) -> &mut T {
        &mut self.0[at as usize / CHUNK][at as usize % CHUNK]
    }
}
