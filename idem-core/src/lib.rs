//! The store protocol, the driver and the stores of idem. Users depend on the facade, `idem-rs`, which names what is public.
#![forbid(unsafe_code)]

// Its traits are serde's own, and the rest of serde is for those who derive.
extern crate serde_core as serde;

mod answer;
mod attempt;
mod background;
mod batch;
mod body;
mod call;
mod clock;
mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod fingerprint;
mod handler;
mod id;
mod idempotent;
pub mod inbox;
mod install;
mod join;
mod key;
mod lease;
pub mod machine;
mod message;
mod observe;
mod outcome;
pub mod private;
mod register;
#[cfg(feature = "table")]
mod registry;
mod run;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod token;
mod transaction;
mod word;

pub use answer::{Answer, CarriesError, Stored, StoredError};
pub use attempt::Attempt;
pub use batch::{Batch, BatchEntry, batch};
pub use body::Body;
pub use clock::{Clock, ManualClock, Timestamp};
pub use error::{Disposition, Error, ErrorKind, StoreError, StoreErrorKind};
pub use fingerprint::Fingerprint;
pub use handler::{Handler, Mode, OnDuplicate};
pub use id::{Namespace, RecordId};
pub use idempotent::Idempotent;
pub use inbox::Inbox;
pub use install::{install, name_application};
pub use key::{EventTime, Key, KeyPart, KeyText, KeyWriter};
pub use machine::OnLapse;
pub use message::Message;
pub use observe::{Counters, counters};
pub use outcome::Outcome;
#[cfg(feature = "table")]
pub use registry::{RegisteredHandler, handlers};
#[cfg(feature = "memory")]
pub use store::memory::{MemoryCounts, MemoryStore, MemoryStoreBuilder};
#[cfg(feature = "postgres")]
pub use store::postgres::{PostgresStore, PostgresStoreBuilder, PostgresTarget};
#[cfg(feature = "redis")]
pub use store::redis::{RedisStore, RedisStoreBuilder};
#[cfg(feature = "memory")]
pub use store::seen::{SeenSet, SeenSetBuilder};
#[cfg(feature = "sqlite")]
pub use store::sqlite::{SqliteStore, SqliteStoreBuilder};
pub use store::{Classed, KeyOnly, Reply, Store, StoreClass, StoreIdentity, class};
pub use token::Token;
