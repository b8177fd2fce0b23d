//! Handlers that write their record in a transaction of their own, against a real PostgreSQL.
#![allow(missing_docs, reason = "a test's name says what it is about")]

mod bad;
mod crash;
#[path = "../postgres/database.rs"]
mod database;
mod handlers;
mod races;
mod scene;
mod transactions;
