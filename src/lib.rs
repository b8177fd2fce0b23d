// Its code is compiled and run by `tests/readme`, where what it leaves out is not on the page.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
#![allow(clippy::test_attr_in_doctest, reason = "what it shows is a test")]
#![forbid(unsafe_code)]

#[cfg(feature = "testing")]
pub use idem_core::testing;
pub use idem_core::{
    Answer, Attempt, Batch, BatchEntry, Body, CarriesError, Classed, Clock, Counters, Disposition, Error,
    ErrorKind, EventTime, Fingerprint, Handler, Idempotent, Inbox, Key, KeyOnly, KeyPart, KeyWriter,
    ManualClock, Message, Mode, Namespace, OnDuplicate, OnLapse, Outcome, RecordId, Reply, Store, StoreClass,
    StoreError, StoreErrorKind, StoreIdentity, Stored, StoredError, Timestamp, Token, batch, class, counters,
    inbox, install, machine, name_application,
};
#[cfg(feature = "memory")]
pub use idem_core::{MemoryStore, MemoryStoreBuilder, SeenSet, SeenSetBuilder};
#[cfg(feature = "postgres")]
pub use idem_core::{PostgresStore, PostgresStoreBuilder, PostgresTarget};
#[cfg(feature = "redis")]
pub use idem_core::{RedisStore, RedisStoreBuilder};
#[cfg(any(feature = "registry", feature = "testing"))]
pub use idem_core::{RegisteredHandler, handlers};
#[cfg(feature = "sqlite")]
pub use idem_core::{SqliteStore, SqliteStoreBuilder};
#[cfg(feature = "conformance")]
pub use idem_core::{conformance, conformance_tests};
pub use idem_macros::{KeyPart, Message, idempotent, key};

pub mod errors;

/// What `#[idempotent]` expands to: not for hand-written code, and free to change in any release.
#[doc(hidden)]
pub mod __private {
    pub use idem_core::private::*;
}
