//! How a store is opened.

use std::path::PathBuf;
use std::time::Duration;

use super::SqliteStore;
use crate::StoreError;
use crate::clock::Clock;

/// Opens a [`SqliteStore`] with other than the default settings.
///
/// ```no_run
/// # extern crate idem_core as idem;
/// use std::time::Duration;
/// use idem::SqliteStore;
///
/// let store = SqliteStore::builder("/var/lib/billing/idem.db")
///     .busy_timeout(Duration::from_secs(2))
///     .max_bytes(4 << 30)
///     .open()?;
/// # Ok::<(), idem::StoreError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder opens nothing until `open` is called"]
pub struct SqliteStoreBuilder {
    pub(super) path: PathBuf,
    pub(super) busy_timeout: Duration,
    pub(super) max_bytes: Option<u64>,
    pub(super) clock: Clock,
    pub(super) shared: bool,
    pub(super) tail: usize,
}

impl SqliteStoreBuilder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            busy_timeout: Duration::from_secs(5),
            max_bytes: None,
            clock: Clock::wall(),
            shared: false,
            tail: 8_192,
        }
    }

    /// How long to wait for another process that writes; 5 s if not said. Parts of a millisecond are cut off.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        // SQLite counts in an `i32` of milliseconds; 20 days are as good as for ever.
        self.busy_timeout = timeout.min(Duration::from_secs(20 * 86_400));
        self
    }

    /// How large the file may grow, in bytes; no bound if not said. Its write-ahead log comes on top. A store that has no room
    /// refuses with [`Full`](crate::StoreErrorKind::Full); it never deletes what is still needed. A file with the schema
    /// of an earlier idem takes twice its room once it has been opened, in spite of this.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// The clock to decide by, for tests; the host's wall clock if not said. All processes that share a file need one clock.
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.clock = clock.into();
        self
    }

    /// Opens a file that has tables of yours, and adds idem's to them: for handlers that write their record in a transaction of that
    /// file (`tx = …`), to look at, forget and sweep those records. Of the file itself nothing is changed, so it has to be in
    /// write-ahead mode already (`pragma journal_mode = wal`, which a file keeps).
    pub fn beside_other_tables(mut self) -> Self {
        self.shared = true;
        self
    }

    /// How many keys wait until they are put into the index together. For tests, which are to see it with few.
    #[doc(hidden)]
    pub fn tail(mut self, keys: usize) -> Self {
        self.tail = keys.max(1);
        self
    }

    /// Opens the file, and makes it if it is not there.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open(self) -> Result<SqliteStore, StoreError> {
        SqliteStore::start(self)
    }
}
