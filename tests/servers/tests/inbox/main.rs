//! Handlers that write their record in a transaction of their own, against a real PostgreSQL.
#![allow(missing_docs, reason = "a test's name says what it is about")]

mod bad;
mod crash;
#[allow(dead_code, reason = "made for the tests of the store")]
#[path = "../postgres/database.rs"]
mod database;
mod handlers;
mod proxies;
mod races;
mod scene;
mod transactions;
