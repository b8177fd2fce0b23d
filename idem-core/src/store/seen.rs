//! Seen set.

/// Placeholder until the next commit.
#[derive(Clone, Debug)]
pub struct SeenSet;
