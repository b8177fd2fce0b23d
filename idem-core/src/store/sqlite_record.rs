//! A record as SQLite keeps it, whichever driver has the connection.
//!
//! Code that uses rusqlite, code that uses sqlx and `SqliteStore` may have one file, and each finds the records of the others. So all that
//! says what is in the table, and what a transaction does with it, is here once; what is a driver's own, each driver has by itself.

pub(super) mod code;
pub(super) mod file;
mod inbox;
mod place;
pub(super) mod row;
pub(super) mod statements;

pub(super) use inbox::{Connection, Inbox};
pub(super) use place::Place;

pub use inbox::SqliteRecords;
