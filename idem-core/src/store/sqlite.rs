//! Records in one SQLite file.

/// Placeholder until the next commit.
#[derive(Clone, Debug)]
pub struct SqliteStore;
/// Placeholder until the next commit.
#[derive(Clone, Debug)]
pub struct SqliteStoreBuilder;
