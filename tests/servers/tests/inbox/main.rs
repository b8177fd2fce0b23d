//! Handlers that write their record in a transaction of their own, against a real PostgreSQL.
#![allow(missing_docs, reason = "a test's name says what it is about")]

mod bad;
mod crash;
#[allow(dead_code, reason = "made for the tests of the store")]
#[path = "../postgres/database.rs"]
mod database;
#[path = "../../../inbox/ends.rs"]
mod ends;
#[path = "../../../inbox/any_sqlx/handlers.rs"]
mod handlers;
#[macro_use]
#[path = "../../../inbox/any_sqlx/promises.rs"]
mod promises;
mod proxies;
mod races;
mod scene;
mod transactions;
