//! Records in this process' memory.

/// Placeholder until the next commit.
#[derive(Clone, Debug)]
pub struct MemoryStore;
/// Placeholder until the next commit.
#[derive(Clone, Debug)]
pub struct MemoryStoreBuilder;
