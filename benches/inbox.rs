//! A handler's own transaction with its record in it, against the same transaction without.
//!
//! `cargo bench -p idem-benches --bench inbox`, with `-- sqlite`, `sqlx-sqlite` or `postgres` for one part. The sides take turns in one run, on files in
//! one directory and in one database; what counts is the ratio. `IDEM_BENCH_DIR` says where SQLite's files go, `target` if unset.
//! PostgreSQL is one of its own, which waits for the disk.

mod inbox {
    pub(crate) mod postgres;
    pub(crate) mod ratio;
    pub(crate) mod sqlite;
    pub(crate) mod sqlx_sqlite;
}

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        inbox::sqlite::run();
    }
    if wanted("sqlx-sqlite") {
        inbox::sqlx_sqlite::run();
    }
    if wanted("postgres") {
        inbox::postgres::run();
    }
}
