//! Bodies that make fresh values and send keys, and never send the one as the other. That they compile is the test: most are never
//! run.

#![allow(dead_code, reason = "that they compile is the test")]

mod events;
mod http;
mod keys;
mod logs;
mod order;
mod outside;
mod positions;
mod queues;
mod rows;
mod tokens;

type Done = Result<(), idem::Error>;
