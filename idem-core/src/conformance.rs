//! What every store must do, as tests that any store can run.
//!
//! One check stands for one clause of the contract of [`Store`](crate::Store), or for one line of the protocol's
//! [table](crate::machine). Its name is a sentence, its documentation quotes the clause, and its failure names the clause, the
//! operation, what was expected, what came, and the operations before. The checks are in groups, by what a store must be able to do
//! for them: the modules here.
//!
//! To run them, make a fixture and call [`conformance_tests!`](crate::conformance_tests):
//!
//! ```
//! # extern crate idem_core as idem;
//! # fn main() {}
//! # #[cfg(feature = "memory")]
//! mod stores {
//!     idem::conformance_tests!(core, memory, idem::MemoryStore::new());
//! }
//! ```
//!
//! A check is also a function that takes the fixture, for test harnesses of another kind:
//!
//! ```
//! # extern crate idem_core as idem;
//! # #[cfg(feature = "memory")]
//! idem::conformance::core::an_expired_lease_is_taken_over(&idem::MemoryStore::new());
//! ```
//!
//! Times are handed in or not needed: no check sleeps. Replies are waited for with [`Fixture::drive`], so a store may answer when
//! it likes. An answer of [`Unavailable`](crate::StoreErrorKind::Unavailable) is no failure by itself: the operation is sent again with
//! the same token, as the driver does, twenty times.
//!
//! # What clauses are called
//!
//! *Clause 1* to *clause 7* are those of [`Store`](crate::Store). *Table* is the one of [`machine`](crate::machine). What both come to:
//!
//! - **I1** At most one token is current for a key at any instant.
//! - **I2** No run after success: while a record says Done, no claim is granted, unless an operator forgets the record.
//! - **I3** Renewals, releases, completions and failures change nothing unless their token is the current one; I9 is the exception.
//! - **I4** An operation repeated by the same attempt gets the same answer and changes nothing further.
//! - **I5** Grants for one key have growing fences, in the order of the grants.
//! - **I6** If the holder stops, some later claim is answered with a grant, Lapsed or Spent after at most the lease.
//! - **I7** All replays of one incarnation return the same bytes: those of the accepted completion.
//! - **I8** "No answer" is never mapped to "no".
//! - **I9** Success is worth keeping: a completion of an absent record makes it anew, and never overwrites another attempt's.
//! - **I10** A token is an attempt's, and belongs to no connection.
//!
//! What the suite does not prove: that what was acknowledged survives power loss, a failover or a network that cuts replies. That
//! needs the real thing, and tests of the store's own.

#![allow(
    clippy::unchecked_time_subtraction,
    reason = "a check that takes a longer time from a shorter one is wrong, and panics"
)]

mod batched;
mod checks;
mod fixture;
mod messages;
mod model;
mod race;
mod random;
mod subject;

pub mod batch;
pub mod bounded;
pub mod clock;
pub mod core;
pub mod durable;
pub mod keys;
pub mod processes;
pub mod shared;

pub use batched::Batched;
pub use fixture::{Bounded, Fixture, MovesClock, OnClock, Opening, Reopens, Shares, Small, Spans};
