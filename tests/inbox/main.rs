//! Handlers that write their record in a transaction of their own: what they may look like, what they promise, and that the promise
//! holds when their process is killed.

mod attached;
mod book;
mod by_sqlx;
mod crash;
mod ended;
mod ends;
mod files;
mod shapes;
mod sqlite;
