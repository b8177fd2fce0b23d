//! The tables, what they show, and where the consumers' databases live meanwhile.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::charges_api::Books;

/// What the first table shows.
pub const ONE_PROCESS: &str = "
Without a key, each redelivery is a charge: ch_2 and ch_5. With the key, the API replays its first
response. The seen set skips the call, and idem replays the receipt that it keeps, without one.
";

/// What the second table shows.
pub const DEPLOY: &str = "
The seen set is empty after the restart: alone, it charges again. The key still holds, and is what
saves the consumer with both. idem's record is on disk, so it still replays without a call.
";

/// What the third table shows.
pub const KILL: &str = "
At most once, the `SET key NX EX` recipe, takes the killed worker's claim for work done, and loses
the message. Lease and replay runs it again once the claim's lease is over.
";

/// One consumer's row: what was delivered to it, and what the API saw of it.
pub struct Row<'a> {
    pub name: &'a str,
    pub deliveries: usize,
    pub books: &'a Books,
}

impl Row<'_> {
    pub const HEAD: &'static str =
        "                      deliveries  charges  total   replayed  skipped before the call";
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, deliveries, books } = self;
        let (charges, total, replayed) = (books.charges.len(), total(books), books.replayed);
        let skipped = deliveries - charges - replayed;
        write!(f, "{name:<22}{deliveries:<12}{charges:<9}{total:<8}{replayed:<10}{skipped}")
    }
}

/// One consumer's row where a message can be lost: the API never charged for it.
pub struct Losses<'a> {
    pub name: &'a str,
    pub messages: usize,
    pub deliveries: usize,
    pub books: &'a Books,
}

impl Losses<'_> {
    pub const HEAD: &'static str = "                      messages  deliveries  charges  total   lost";
}

impl fmt::Display for Losses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, messages, deliveries, books } = self;
        let (charges, total) = (books.charges.len(), total(books));
        let lost = messages - charges;
        write!(f, "{name:<22}{messages:<10}{deliveries:<12}{charges:<9}{total:<8}{lost}")
    }
}

fn total(books: &Books) -> u64 {
    books.charges.iter().map(|charge| charge.amount).sum()
}

/// `ch_1=1200 ch_2=450 …`
pub fn list(books: &Books) -> String {
    let charges: Vec<_> =
        books.charges.iter().map(|charge| format!("{}={}", charge.id, charge.amount)).collect();
    charges.join(" ")
}

/// A folder of its own, deleted in the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> std::io::Result<Self> {
        for number in 0.. {
            let path = std::env::temp_dir().join(format!("idem-redelivery-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // A run that was killed may have left it behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the numbers do not end")
    }

    pub fn database(&self) -> PathBuf {
        self.0.join("idem.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
