//! `SqliteStore` against the protocol, other threads, other processes, kill -9 and bad files.

mod asks;
mod bad_files;
mod crowd;
mod processes;
