//! A worker process: the state that a deploy throws away.

use std::error::Error;
use std::path::Path;

use idem::{Clock, KeyOnly, SeenSet, SqliteStore};

use crate::charges_api::Receipt;
use crate::client::{ChargeError, Client};
use crate::consumers::{self, Payment};

/// Which of the consumers a worker runs.
#[derive(Clone, Copy)]
pub enum Way {
    Naive,
    Key,
    KeyAndSeenSet,
    SeenSetAlone,
    Idem,
    AtMostOnce,
}

impl Way {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Key => "idempotency key",
            Self::KeyAndSeenSet => "key and a seen set",
            Self::SeenSetAlone => "seen set alone",
            Self::Idem => "idem on SQLite",
            Self::AtMostOnce => "idem, at most once",
        }
    }
}

pub struct Worker {
    way: Way,
    api: Client,
    /// In memory.
    seen: SeenSet<KeyOnly>,
    /// On disk.
    store: SqliteStore,
}

impl Worker {
    pub fn start(way: Way, url: &str, database: &Path, clock: Clock) -> Result<Self, Box<dyn Error>> {
        let store = SqliteStore::builder(database).clock(clock).open()?;
        Ok(Self { way, api: Client::new(url)?, seen: SeenSet::new(KeyOnly), store })
    }

    pub async fn handle(&self, payment: &Payment) -> Result<Receipt, ChargeError> {
        let Self { way, api, seen, store } = self;
        match way {
            Way::Naive => consumers::charge_naively(payment, api).await,
            Way::Key => consumers::charge_with_key(payment, api).await,
            Way::KeyAndSeenSet => consumers::charge_with_key_unless_seen(payment, api, seen).await,
            Way::SeenSetAlone => consumers::charge_unless_seen(payment, api, seen).await,
            Way::Idem => consumers::charge(payment, api, store).await,
            Way::AtMostOnce => consumers::charge_at_most_once(payment, api, store).await,
        }
    }
}
