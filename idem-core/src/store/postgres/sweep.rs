//! Deleting what has ended: a walk over the table's pages, some at a time, without an index that each completion would have to update.

use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::Inner;
use super::row::Damaged;
use crate::StoreError;

/// Pages that one statement looks at: 32 MiB with pages of the usual size.
const PAGES: u64 = 4_096;
/// Records that one statement deletes, so that nothing waits for it for long.
const MOST: u64 = 500;

/// How many grants are followed by a look at some pages.
const GRANTS: u64 = 512;
/// Ten times the pages that so many records fill: the whole table has been seen after it has turned over by a tenth.
const PAGES_PER_GRANTS: u64 = 256;

/// Where the walk has come to, and what it has to keep pace with.
#[derive(Default)]
pub(super) struct Walk {
    page: AtomicU64,
    grants: AtomicU64,
}

impl Walk {
    /// Counts grants. Says when it is time to look at some pages.
    pub(super) fn is_due(&self, grants: u64) -> bool {
        let before = self.grants.fetch_add(grants, Ordering::Relaxed);
        before / GRANTS != (before + grants) / GRANTS
    }
}

impl Inner {
    /// Walks once around the table, until `limit` have been deleted or half of an operation's time has passed.
    pub(super) async fn sweep(&self, limit: u64) -> Result<u64, StoreError> {
        let (mut swept, mut seen) = (0, 0);
        let began = tokio::time::Instant::now();
        while swept < limit && began.elapsed() < self.timeout / 2 {
            let page = self.walk.page.load(Ordering::Relaxed);
            let most = MOST.min(limit - swept);
            let (deleted, pages) = self.sweep_pages(page, PAGES, most).await?;
            swept += deleted;
            if deleted == most {
                continue;
            }
            seen += PAGES;
            self.advance(page, PAGES, pages);
            if seen >= pages + PAGES {
                break;
            }
        }
        Ok(swept)
    }

    /// The walk's next step. A failure matters to nobody: the next step comes here again.
    pub(super) async fn sweep_some(&self) {
        let page = self.walk.page.load(Ordering::Relaxed);
        match self.sweep_pages(page, PAGES_PER_GRANTS, MOST).await {
            Ok((deleted, pages)) if deleted < MOST => self.advance(page, PAGES_PER_GRANTS, pages),
            _ => {}
        }
    }

    fn advance(&self, page: u64, by: u64, pages: u64) {
        let next = if page + by >= pages { 0 } else { page + by };
        // Another task may have gone on from the same page.
        let _ = self.walk.page.compare_exchange(page, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// How many were deleted, and how many pages there are.
    async fn sweep_pages(&self, from: u64, pages: u64, most: u64) -> Result<(u64, u64), StoreError> {
        // The number of a page has 32 bits.
        let whole = |number: u64| i64::try_from(number.min(u64::from(u32::MAX))).unwrap_or(i64::MAX);
        let read = |rows: &[PgRow]| match rows.first() {
            Some(row) => Ok(Some((count(row, 0)?, count(row, 1)?))),
            None => Ok(None),
        };
        self.within(
            "sweep",
            self.ask(
                "sweep",
                &self.statements.sweep,
                |ask| ask.bind(whole(from)).bind(whole(from + pages)).bind(whole(most)),
                read,
            ),
        )
        .await
    }
}

fn count(row: &PgRow, column: usize) -> Result<u64, Damaged> {
    let number: i64 = row.try_get(column).map_err(|_| Damaged("(a count)"))?;
    u64::try_from(number).map_err(|_| Damaged("(a count)"))
}
