//! The keys of the tail go into the index many at a time.

use super::Engine;
use crate::StoreError;
use crate::store::sqlite::tail::Position;
use crate::store::sqlite::work::Wait;

impl Engine {
    /// First bytes of the keys in one step: one in 32 of all keys, so that nobody waits long behind it.
    const STEP: i64 = 8;
    /// Steps in which all keys are put there.
    const STEPS: usize = 256 / 8;

    /// Keys in the index for each page of it that one step may write, roughly: 160 are on a page, and a step is for one in 32 of them.
    const ROWS: usize = 160 * 32;

    /// Finds out what others have written, if they have, in a transaction that writes: then all keys are known until its end, and
    /// from then on as long as nobody else commits.
    pub(super) fn learn_position(&mut self) -> Result<(), StoreError> {
        if self.keys.are_unique() {
            return Ok(());
        }
        if self.others_have_written()? || self.position.is_none() {
            self.position = self.keys.catch_up(&self.connection, &self.place)?;
            if self.position.is_some_and(|position| position.content < self.keys.content()) {
                // Nobody sees an earlier moment in here: somebody has set the count back.
                self.keys.forget();
                self.position = self.keys.catch_up(&self.connection, &self.place)?;
            }
            self.indexing = self.position.is_some_and(|position| position.next != 0);
        }
        Ok(())
    }

    /// Whether there are keys to put into the index.
    pub(super) fn has_keys_to_index(&self) -> bool {
        self.indexing || self.keys.len() >= self.tail
    }

    /// Puts the next of them there, in a transaction of its own.
    pub(in crate::store::sqlite) fn index_some(&mut self) -> Result<(), StoreError> {
        self.begin(Wait::Commit)?;
        // Another process may have done it.
        if let Some(position) = self.position
            && self.has_keys_to_index()
        {
            self.index_next(position)?;
            self.commit()?;
            self.position = None;
            return Ok(());
        }
        self.commit()
    }

    /// Does one step before all else: where each process ends after a message, none might come to it.
    pub(in crate::store::sqlite) fn index_first(&mut self) {
        if self.has_keys_to_index() && self.index_some().is_err() {
            // The writer meets it again.
            self.roll_back();
        }
    }

    /// Does as many steps as are due for a batch: all of them by the time that as many rows have come as were in the tail. So the memory of
    /// each process holds two tails, however many claims are in a batch.
    pub(in crate::store::sqlite) fn index_turn(&mut self) -> Result<(), StoreError> {
        let due = std::mem::take(&mut self.batch) * Self::STEPS / self.tail.max(1);
        for _ in 0..due.clamp(1, Self::STEPS) {
            if self.has_keys_to_index() {
                self.index_some()?;
            }
        }
        Ok(())
    }

    /// Puts them there in so many steps, or all of them if there are fewer, however few they are.
    pub(in crate::store::sqlite) fn index_steps(&mut self, steps: usize) -> Result<(), StoreError> {
        let tail = std::mem::replace(&mut self.tail, 1);
        let mut done = Ok(());
        for _ in 0..steps {
            done = self.index_some();
            if done.is_err() || !self.indexing {
                break;
            }
        }
        self.tail = tail;
        done
    }

    fn index_next(&mut self, position: Position) -> Result<(), StoreError> {
        let (next, byte) = match position.next {
            0 => (position.last, 0),
            next => (next, position.byte),
        };
        let upto = byte + Self::STEP;
        let fault = |error| self.place.fault("put keys into its index", error);
        let part = self.keys.part(next, &(byte..upto));
        // A row may be gone by now.
        let put = "insert or ignore into idem_key select substr(?2, 1, 8), id from idem_record where id = ?1";
        for (id, row) in &part {
            self.prepare(put)?.execute((row, id.as_bytes().as_slice())).map_err(fault)?;
        }
        self.indexing = upto < 256;
        let moved = if self.indexing { (position.upto, next, upto) } else { (next, 0, 0) };
        let moving = self.prepare("update idem_index set upto = ?1, next = ?2, byte = ?3")?.execute(moved);
        moving.map_err(fault)?;
        // A page for each key, or all that are for such keys.
        let pages = usize::try_from(position.upto).map_or(part.len(), |rows| rows / Self::ROWS);
        self.logged += 1 + pages.min(part.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::RecordId;
    use crate::machine::Claim;
    use crate::store::sqlite::engine::in_place::tests::{claim, engines};
    use crate::store::sqlite::work::{Wait, Work};

    #[test]
    fn however_many_claims_a_batch_has_two_tails_are_in_memory_at_most() {
        let (mut one, other, dir) = engines("two tails");
        let mut made = 0_u64;
        for size in [1, 3, 10, 40, 2] {
            let mut most = 0;
            for _ in 0..200 {
                let claims = (0..size).map(|_| {
                    made += 1;
                    let mut id = [0; 32];
                    id[..8].copy_from_slice(&made.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
                    Claim { id: RecordId::from_bytes(id), ..claim(1) }
                });
                let work = [Work::Claims(claims.collect())];
                one.transact(Wait::Commit, work.iter(), &mut Vec::new()).unwrap();
                most = most.max(one.keys.len());
                if one.has_keys_to_index() {
                    one.index_turn().unwrap();
                }
            }
            assert!(most <= 2 * 10 + size, "{most} keys with batches of {size}");
        }
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
