//! `SqliteStore`, each in a directory of its own; alone, and behind the wrappers.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use idem::conformance::{Batched, Bounded, Fixture, MovesClock, OnClock, Opening, Small, Spans};
use idem::{SeenSet, SqliteStore, Store};

use crate::scratch::Scratch;

/// A fixture, and the directory that its store lives in. The store is dropped first.
struct InScratch<F> {
    fixture: F,
    _scratch: Scratch,
}

/// The store, driven by an executor that is not ours: it polls, and never says that the thread may block.
struct Polled<F>(F);

/// A file that other processes open too. The first of them removes it.
struct OneFile {
    store: SqliteStore,
    path: PathBuf,
    _scratch: Option<Scratch>,
}

impl OneFile {
    fn new() -> Self {
        let scratch = Scratch::new();
        let place = scratch.file();
        Self { _scratch: Some(scratch), ..Self::at(place) }
    }

    fn at(path: PathBuf) -> Self {
        let store = SqliteStore::open(&path).expect("a file that can be opened");
        Self { store, path, _scratch: None }
    }
}

fn opening() -> Opening {
    let scratch = Scratch::new();
    Opening::new(move || SqliteStore::open(scratch.file()).expect("a file that can be opened"))
}

/// With keys that go into the index all the time, while everything else happens.
fn indexing() -> Opening {
    let scratch = Scratch::new();
    Opening::new(move || {
        SqliteStore::builder(scratch.file()).tail(2).open().expect("a file that can be opened")
    })
}

fn seen() -> Opening {
    let scratch = Scratch::new();
    Opening::new(move || SeenSet::new(SqliteStore::open(scratch.file()).expect("a file that can be opened")))
}

fn shared() -> Opening {
    let scratch = Scratch::new();
    Opening::new(move || -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(scratch.file()).expect("a file that can be opened"))
    })
}

fn on_clock() -> InScratch<OnClock> {
    let scratch = Scratch::new();
    let open =
        |clock| SqliteStore::builder(scratch.file()).clock(clock).open().expect("a file that can be opened");
    InScratch { fixture: OnClock::new(open), _scratch: scratch }
}

fn indexing_on_clock() -> InScratch<OnClock> {
    let scratch = Scratch::new();
    let builder = SqliteStore::builder(scratch.file()).tail(2);
    let open = |clock| builder.clock(clock).open().expect("a file that can be opened");
    InScratch { fixture: OnClock::new(open), _scratch: scratch }
}

fn seen_on_clock() -> InScratch<OnClock> {
    let scratch = Scratch::new();
    let open =
        |clock| SqliteStore::builder(scratch.file()).clock(clock).open().expect("a file that can be opened");
    InScratch { fixture: OnClock::new(|clock| SeenSet::new(open(clock))), _scratch: scratch }
}

/// 200 kB, of which a claim needs about 100 bytes.
fn small() -> InScratch<Small> {
    let scratch = Scratch::new();
    let store =
        SqliteStore::builder(scratch.file()).max_bytes(200_000).open().expect("a file that can be opened");
    InScratch { fixture: Small::new(store, 5_000), _scratch: scratch }
}

idem::conformance_tests!(core, plain, opening());
idem::conformance_tests!(core, polled, Polled(opening()));
idem::conformance_tests!(core, arc_of_dyn, shared());
idem::conformance_tests!(core, behind_a_seen_set, seen());
idem::conformance_tests!(core, indexing, indexing());
idem::conformance_tests!(keys, keys, opening());
idem::conformance_tests!(batch, batches, opening());
idem::conformance_tests!(batch, batches_indexing, indexing());
idem::conformance_tests!(batch, batches_polled, Polled(opening()));
idem::conformance_tests!(batch, batches_behind_a_seen_set, seen());
idem::conformance_tests!(core, in_batches, Batched::new(opening()));
idem::conformance_tests!(batch, batches_in_batches, Batched::new(opening()));
idem::conformance_tests!(clock, on_a_clock, on_clock());
idem::conformance_tests!(clock, on_a_clock_indexing, indexing_on_clock());
idem::conformance_tests!(clock, on_a_clock_polled, Polled(on_clock()));
idem::conformance_tests!(clock, on_a_clock_behind_a_seen_set, seen_on_clock());
idem::conformance_tests!(durable, reopened, opening());
idem::conformance_tests!(durable, reopened_behind_a_seen_set, seen());
idem::conformance_tests!(durable, reopened_indexing, indexing());
idem::conformance_tests!(shared, by_two_connections, opening());
idem::conformance_tests!(shared, by_two_connections_indexing, indexing());
idem::conformance_tests!(processes, by_processes, OneFile::new());
idem::conformance_tests!(bounded, small_file, small());

impl<F: Fixture> Fixture for InScratch<F> {
    fn store(&self) -> Arc<dyn Store> {
        self.fixture.store()
    }
}

impl<F: MovesClock> MovesClock for InScratch<F> {
    fn advance(&self, by: Duration) {
        self.fixture.advance(by);
    }
}

impl<F: Bounded> Bounded for InScratch<F> {
    fn too_many(&self) -> usize {
        self.fixture.too_many()
    }
}

impl<F: Fixture> Fixture for Polled<F> {
    fn store(&self) -> Arc<dyn Store> {
        self.0.store()
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        futures::executor::block_on(work);
    }
}

impl<F: MovesClock> MovesClock for Polled<F> {
    fn advance(&self, by: Duration) {
        self.0.advance(by);
    }
}

impl Fixture for OneFile {
    fn store(&self) -> Arc<dyn Store> {
        self.store.handle()
    }
}

impl Spans for OneFile {
    fn place(&self) -> String {
        self.path.to_str().expect("a path of text").to_owned()
    }

    fn open(place: &str) -> Self {
        Self::at(place.into())
    }
}
