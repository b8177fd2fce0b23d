//! The suite: alone, behind the wrappers, driven by an executor that is not tokio's, and on a clock that is moved by hand.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use idem::conformance::{Fixture, MovesClock, Opening, Spans};
use idem::{ManualClock, PostgresStore, PostgresStoreBuilder, SeenSet, Store};
use sqlx::postgres::PgConnectOptions;

use crate::database::{execute, fresh, fresh_name, migrated, open, run, url};

/// A store that is driven in its runtime.
struct Within<F>(F);

/// A store that is asked by a thread that knows nothing of tokio.
struct Outside(PostgresStore);

fn opening() -> Within<Opening> {
    let builder = fresh();
    Within(Opening::new(move || open(&builder)))
}

fn relaxed() -> Within<Opening> {
    let builder = fresh().relaxed_claims();
    Within(Opening::new(move || open(&builder)))
}

fn seen() -> Within<Opening> {
    let builder = fresh();
    Within(Opening::new(move || SeenSet::new(open(&builder))))
}

fn pooled() -> Within<Opening> {
    let pool = run(sqlx::PgPool::connect(&url())).expect("a pool");
    let builder = migrated(PostgresStore::builder(pool).schema(fresh_name()));
    Within(Opening::new(move || open(&builder)))
}

fn hash_partitioned() -> Within<Opening> {
    let schema = fresh_name();
    let builder = PostgresStore::builder(url()).schema(&schema);
    let table = builder.print_schema().expect("a valid name");
    let partitioned = table.replace(
        ") with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02)",
        ") partition by hash (k)",
    );
    let parts = (0..3).map(|part| {
        format!(
            "create table {schema}.part_{part} partition of {schema}.idem_record
             for values with (modulus 3, remainder {part}) with (fillfactor = 90);"
        )
    });
    execute(&url(), &(partitioned + &parts.collect::<String>()));
    Within(Opening::new(move || open(&builder)))
}

/// Its server reads a clock that stands in a table: the schema of that clock is searched before the server's own functions.
struct OnClock {
    store: PostgresStore,
    clock: ManualClock,
    schema: String,
}

impl OnClock {
    fn new() -> Self {
        let schema = fresh_name();
        let options: PgConnectOptions = url().parse().expect("a URL");
        let options = options.options([("search_path", format!("{schema},pg_catalog"))]);
        execute(
            &url(),
            &format!(
                "create schema {schema};
                 create table {schema}.clock as select to_timestamp(1) as at;
                 create function {schema}.clock_timestamp() returns timestamptz language sql volatile
                     as 'select at from {schema}.clock';"
            ),
        );
        let clock = ManualClock::new();
        let builder = migrated(PostgresStore::builder(options).schema(&schema).clock(clock.clone()));
        Self { store: open(&builder), clock, schema }
    }
}

#[rustfmt::skip]
mod suite {
    use super::*;

    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] core, plain, opening());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] core, outside_of_its_runtime, Outside(open(&fresh())));
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] core, with_relaxed_claims, relaxed());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] core, behind_a_seen_set, seen());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] core, on_the_programs_pool, pooled());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] core, partitioned_by_hash, hash_partitioned());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] keys, keys, opening());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] batch, batches, opening());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] batch, relaxed_batches, relaxed());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] batch, batches_behind_a_seen_set, seen());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] clock, on_a_clock, OnClock::new());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] durable, reopened, opening());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] durable, reopened_behind_a_seen_set, seen());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] shared, by_two_connections, opening());
    idem::conformance_tests!(#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")] processes, by_processes, OneTable::new());
}

/// A table that other processes open too.
struct OneTable {
    store: PostgresStore,
    place: String,
}

impl OneTable {
    fn new() -> Self {
        let (url, schema) = (url(), fresh_name());
        run(at(&url, &schema).migrate()).expect("a table");
        Self::at(&url, &schema)
    }

    fn at(url: &str, schema: &str) -> Self {
        Self { store: open(&at(url, schema)), place: format!("{url} {schema}") }
    }
}

fn at(url: &str, schema: &str) -> PostgresStoreBuilder {
    PostgresStore::builder(url).schema(schema)
}

impl Fixture for OneTable {
    fn store(&self) -> Arc<dyn Store> {
        self.store.handle()
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        run(work);
    }
}

impl Spans for OneTable {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn open(place: &str) -> Self {
        let (url, schema) = place.split_once(' ').expect("a URL and a schema");
        Self::at(url, schema)
    }
}

impl<F: Fixture> Fixture for Within<F> {
    fn store(&self) -> Arc<dyn Store> {
        self.0.store()
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        run(work);
    }
}

impl<F: idem::conformance::Reopens> idem::conformance::Reopens for Within<F> {
    fn reopen(&self) {
        self.0.reopen();
    }
}

impl<F: idem::conformance::Shares> idem::conformance::Shares for Within<F> {
    fn another(&self) -> Arc<dyn Store> {
        self.0.another()
    }
}

impl Fixture for Outside {
    fn store(&self) -> Arc<dyn Store> {
        self.0.handle()
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        futures::executor::block_on(work);
    }
}

impl Fixture for OnClock {
    fn store(&self) -> Arc<dyn Store> {
        self.store.handle()
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        run(work);
    }
}

impl MovesClock for OnClock {
    fn advance(&self, by: Duration) {
        let micros = by.as_micros();
        execute(
            &url(),
            &format!("update {}.clock set at = at + interval '1 microsecond' * {micros}", self.schema),
        );
        self.clock.advance(by);
    }
}
