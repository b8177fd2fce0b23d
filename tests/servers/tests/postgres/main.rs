//! `PostgresStore` against real servers: one for all tests of this binary, and of their own for those that hurt theirs.
#![allow(missing_docs, reason = "a test's name says what it is about")]

mod asks;
mod batches;
mod claims;
mod conformance;
mod database;
mod full;
mod keys;
mod network;
mod outages;
mod proxies;
mod refusals;
mod runtimes;
mod writes;
