//! When others have worked long enough.

use std::sync::atomic::{AtomicBool, Ordering};

/// Tells the workers that it is over, after a panic too: nobody is waited for who would go on for ever.
pub(crate) struct Ends<'e>(pub(crate) &'e AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
