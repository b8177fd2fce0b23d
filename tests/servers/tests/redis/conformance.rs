//! The conformance suite, on one server, on a cluster, on old scripts, and behind the wrappers.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use idem::conformance::{Bounded, Fixture, MovesClock, OnClock, Opening, Reopens, Spans};
use idem::{RedisStore, RedisStoreBuilder, SeenSet, Store};
use idem_servers::{DURABLE, RedisServer};

use crate::place::{cluster, open, prefix, server};

/// The shared server, by a store that `with` makes.
fn opening_with(with: impl Fn(RedisStoreBuilder) -> RedisStoreBuilder + Send + Sync + 'static) -> Opening {
    let (server, prefix) = (server(), prefix());
    Opening::new(move || open(with(RedisStore::builder(server.url()).prefix(prefix.clone()))))
}

fn opening() -> Opening {
    opening_with(|builder| builder)
}

/// Scripts as Redis 6.2 gets them.
fn old() -> Opening {
    opening_with(RedisStoreBuilder::without_flags)
}

fn scripts() -> Opening {
    opening_with(RedisStoreBuilder::only_scripts)
}

fn seen() -> Opening {
    let (server, prefix) = (server(), prefix());
    Opening::new(move || SeenSet::new(open(RedisStore::builder(server.url()).prefix(prefix.clone()))))
}

fn in_cluster() -> Opening {
    let (cluster, prefix) = (cluster(), prefix());
    Opening::new(move || open(RedisStore::builder(cluster.url()).prefix(prefix.clone())))
}

/// A store, and the server that it needs.
struct On<F> {
    fixture: F,
    _server: Arc<RedisServer>,
}

fn on_clock() -> On<OnClock> {
    let server = server();
    let make = |clock| open(RedisStore::builder(server.url()).prefix(prefix()).on_clock(clock));
    On { fixture: OnClock::new(make), _server: server.clone() }
}

fn seen_on_clock() -> On<OnClock> {
    let server = server();
    let make = |clock| SeenSet::new(open(RedisStore::builder(server.url()).prefix(prefix()).on_clock(clock)));
    On { fixture: OnClock::new(make), _server: server.clone() }
}

/// The store, driven by a runtime that is not its own: it polls, and never says that the thread may block.
struct Polled<F>(F);

/// A server that writes everything to its disk, and is killed and started again when the store is opened again.
struct Durable {
    server: Mutex<RedisServer>,
    store: Mutex<Option<Arc<dyn Store>>>,
    open: fn(&RedisServer) -> Arc<dyn Store>,
}

impl Durable {
    fn new(open: fn(&RedisServer) -> Arc<dyn Store>) -> Self {
        let server = RedisServer::with(&DURABLE);
        Self { store: Mutex::new(Some(open(&server))), server: Mutex::new(server), open }
    }

    fn plain() -> Self {
        Self::new(|server| Arc::new(open(RedisStore::builder(server.url()))))
    }

    fn seen() -> Self {
        Self::new(|server| Arc::new(SeenSet::new(open(RedisStore::builder(server.url())))))
    }
}

/// A server that other processes use too. The first of them stops it.
struct OneServer {
    store: RedisStore,
    place: String,
    _server: Option<Arc<RedisServer>>,
}

impl OneServer {
    fn new() -> Self {
        let server = server();
        let place = format!("{} {}", server.url(), prefix());
        Self { _server: Some(server), ..Self::open(&place) }
    }
}

/// A server with room for some thousand records.
struct Small {
    store: RedisStore,
    _server: RedisServer,
}

impl Small {
    fn new() -> Self {
        let server = RedisServer::start();
        let used: u64 = server.info("used_memory").parse().expect("a number");
        // A claim takes some 200 bytes.
        assert_eq!(server.ask(&["CONFIG", "SET", "maxmemory", &(used + 1_500_000).to_string()]), "OK");
        Self { store: open(RedisStore::builder(server.url())), _server: server }
    }
}

macro_rules! on_server {
    ($($group:ident, $name:ident, $fixture:expr;)+) => {$(
        idem::conformance_tests!(
            #[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
            $group, $name, $fixture
        );
    )+};
}

on_server! {
    core, plain, opening();
    core, polled, Polled(opening());
    core, only_scripts, scripts();
    core, scripts_without_flags, old();
    core, in_a_cluster, in_cluster();
    core, behind_a_seen_set, seen();
    keys, keys, opening();
    keys, keys_in_a_cluster, in_cluster();
    batch, batches, opening();
    batch, batches_of_scripts, scripts();
    batch, batches_polled, Polled(opening());
    batch, batches_in_a_cluster, in_cluster();
    batch, batches_behind_a_seen_set, seen();
    clock, on_a_clock, on_clock();
    clock, on_a_clock_behind_a_seen_set, seen_on_clock();
    durable, killed_and_started_again, Durable::plain();
    durable, killed_and_started_again_behind_a_seen_set, Durable::seen();
    shared, by_two_connections, opening();
    shared, by_two_connections_in_a_cluster, in_cluster();
    processes, by_processes, OneServer::new();
    bounded, small_server, Small::new();
}

impl<F: Fixture> Fixture for On<F> {
    fn store(&self) -> Arc<dyn Store> {
        self.fixture.store()
    }
}

impl<F: MovesClock> MovesClock for On<F> {
    fn advance(&self, by: Duration) {
        self.fixture.advance(by);
    }
}

impl<F: Fixture> Fixture for Polled<F> {
    fn store(&self) -> Arc<dyn Store> {
        self.0.store()
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work);
    }
}

impl Fixture for Durable {
    fn store(&self) -> Arc<dyn Store> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.clone().expect("a store, while it is not opened again")
    }
}

impl Reopens for Durable {
    fn reopen(&self) {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        *store = None;
        server.restart();
        *store = Some((self.open)(&server));
    }
}

impl Fixture for OneServer {
    fn store(&self) -> Arc<dyn Store> {
        self.store.handle()
    }
}

impl Spans for OneServer {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn open(place: &str) -> Self {
        let (url, prefix) = place.split_once(' ').expect("a URL and a prefix");
        Self { store: open(RedisStore::builder(url).prefix(prefix)), place: place.to_owned(), _server: None }
    }
}

impl Fixture for Small {
    fn store(&self) -> Arc<dyn Store> {
        self.store.handle()
    }
}

impl Bounded for Small {
    fn too_many(&self) -> usize {
        20_000
    }
}
