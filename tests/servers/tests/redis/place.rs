//! Where a test's records are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use idem::{RedisStore, RedisStoreBuilder, StoreError};
use idem_servers::{RedisCluster, RedisServer};
use tokio::runtime::Runtime;

/// What the stores' connections live on.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
});

/// A thing that tests share while any of them runs.
pub(crate) struct Shared<T>(Mutex<Weak<T>>);

impl<T> Shared<T> {
    const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    fn get(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let fresh = Arc::new(make());
            *shared = Arc::downgrade(&fresh);
            fresh
        })
    }
}

/// The server that tests share which do it no harm.
pub(crate) fn server() -> Arc<RedisServer> {
    static SERVER: Shared<RedisServer> = Shared::new();
    SERVER.get(RedisServer::start)
}

/// Three primaries, shared too.
pub(crate) fn cluster() -> Arc<RedisCluster> {
    static CLUSTER: Shared<RedisCluster> = Shared::new();
    CLUSTER.get(|| RedisCluster::start(3, 3))
}

/// A prefix that no other test has.
pub(crate) fn prefix() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}:", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Opens a store that keeps its connections on the shared runtime.
pub(crate) fn try_open(builder: RedisStoreBuilder) -> Result<RedisStore, StoreError> {
    RUNTIME.block_on(builder.connect())
}

pub(crate) fn open(builder: RedisStoreBuilder) -> RedisStore {
    try_open(builder).expect("a server that can be used")
}
