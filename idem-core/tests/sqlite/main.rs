//! `SqliteStore` against the protocol, other threads, other processes, other programs, kill -9 and bad files.

mod asks;
mod bad_files;
mod beside;
mod crowd;
mod late;
mod neighbours;
mod processes;
mod tail;
mod unfit;
