//! The tables, and where the consumers' databases live meanwhile.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::charges_api::Books;

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
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("idem-redelivery-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    pub fn database(&self) -> PathBuf {
        self.0.join("idem.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
