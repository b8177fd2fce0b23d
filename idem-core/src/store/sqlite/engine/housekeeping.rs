//! Dead records go along with later writes, so that a file that nobody sweeps stays bounded.

use super::Engine;
use crate::store::sqlite_record::row::instant;
use crate::{StoreError, Timestamp};

/// When to look for dead records, and where.
#[derive(Default)]
pub(super) struct Housekeeping {
    /// Writes since dead records were last looked for.
    unswept: usize,
    /// The row up to which that was done.
    swept_to: i64,
    /// Whether an eighth of the rows that were looked at last were dead.
    dying: bool,
    /// Whether something was refused for want of room since.
    pub(super) full: bool,
}

impl Housekeeping {
    /// Writes after which rows are looked at.
    const EVERY: usize = 256;

    pub(super) fn wrote(&mut self) {
        self.unswept += 1;
    }

    pub(super) fn is_due(&self) -> bool {
        self.full || self.unswept >= Self::EVERY
    }

    /// How many rows to look at now: two for each write, so that it goes round quicker than rows are added, and four where many are
    /// dead. A message is two writes, so all rows are looked at while a quarter of them is replaced, or an eighth.
    pub(super) fn window(&mut self) -> usize {
        std::mem::take(&mut self.unswept) * if self.dying { 4 } else { 2 }
    }
}

impl Engine {
    /// Deletes the dead records among the next `window` rows.
    pub(super) fn keep_house(&mut self, window: usize, now: Timestamp) -> Result<(), StoreError> {
        let after = self.house.swept_to;
        let (mut gone, mut next) = self.sweep(after, window, usize::MAX, now)?;
        if next.is_none() && after > 0 {
            // The end came first, and it may be the rows from the beginning on that are dead.
            let (more, then) = self.sweep(0, window, usize::MAX, now)?;
            (gone, next) = (gone + more, then);
        }
        self.house.swept_to = next.unwrap_or(0);
        self.house.dying = gone >= window / 8;
        Ok(())
    }

    /// Deletes up to `limit` dead records among the first `window` rows after `after`. Returns how many, and the last row
    /// looked at if more may follow.
    pub(super) fn sweep(
        &mut self,
        after: i64,
        window: usize,
        limit: usize,
        now: Timestamp,
    ) -> Result<(usize, Option<i64>), StoreError> {
        let fault = |error| self.place.fault("delete dead records", error);
        let (last, seen, dead): (Option<i64>, i64, i64) = self
            .prepare(include_str!("../window.sql"))?
            .query_row((after, whole(window), instant(now)), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .map_err(fault)?;
        let Some(last) = last else { return Ok((0, None)) };
        let gone = match dead {
            0 => 0,
            _ => self
                .prepare(include_str!("../sweep.sql"))?
                .execute((after, last, instant(now), whole(limit)))
                .map_err(fault)?,
        };
        self.logged += gone;
        Ok((gone, (seen == whole(window)).then_some(last)))
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
