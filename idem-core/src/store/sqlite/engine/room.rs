//! Room for a result, kept from the claim on.
//!
//! New rows fill one page after the other. If a row grows once its result comes, its page is full, and SQLite moves rows to others: it writes
//! them twice as often, and leaves them half empty. So a claim keeps as many bytes as its result will nearly always take. Bytes that are
//! kept in vain are lost to the file, so of results that differ it is the shorter ones that count.

use crate::machine::Completion;

/// What is expected of the next result.
#[derive(Default)]
pub(super) struct Room {
    /// What nine in ten of the last results have taken, or more; `None` before the first.
    bytes: Option<i64>,
}

impl Room {
    /// The most that is kept. Of larger results few share a page, so there is little to be saved, and each byte is written twice.
    const MOST: usize = 256;
    /// What an end takes besides the result: the number of its state, and two instants in place of one.
    const END: i64 = 1 + 8;
    /// How far a result that took less pulls down, where one that took more pulls up by one byte: so they are in balance where nine in ten
    /// took more.
    const DOWN: i64 = 9;

    /// Notes what came, to expect the like.
    pub(super) fn learn(&mut self, completion: &Completion) {
        let took = match i64::try_from(completion.body.len()) {
            Ok(body) if completion.body.len() <= Self::MOST => body + Self::END,
            _ => 0,
        };
        self.bytes = Some(match self.bytes {
            None => took,
            Some(bytes) => took.clamp(bytes - Self::DOWN, bytes + 1),
        });
    }

    /// How many bytes a new record keeps. Hardly one is made that is not held.
    pub(super) fn bytes(&self) -> i64 {
        self.bytes.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Claim, Operation, Renewal};
    use crate::store::sqlite::engine::Engine;
    use crate::store::sqlite::engine::in_place::tests::{claim, engines};
    use crate::store::sqlite::work::{Wait, Work};
    use crate::{Body, RecordId};

    /// How many pages, and bytes in rows, the results of `count` messages take besides those that their claims have taken.
    fn taken_by_results(engine: &mut Engine, first: u16, count: u16, body: usize) -> (i64, i64) {
        let number = |engine: &Engine, sql| engine.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let taken = |engine: &Engine| {
            let bytes = "select sum(payload) from dbstat where name = 'idem_record'";
            (number(engine, "pragma page_count").unwrap(), number(engine, bytes).unwrap())
        };
        let of = |n: u16| {
            let mut id = [0; 32];
            id[..2].copy_from_slice(&n.wrapping_mul(40_503).to_be_bytes());
            Claim { id: RecordId::from_bytes(id), ..claim(1) }
        };
        let claims = Work::Claims((first..first + count).map(of).collect());
        engine.transact(Wait::Commit, [claims].iter(), &mut Vec::new()).unwrap();
        let before = taken(engine);
        let renewals = (first..first + count).map(|n| {
            let Claim { id, token, lease, .. } = of(n);
            Work::One(id, Operation::Renew(Renewal { id, token, lease }))
        });
        let renewals: Vec<_> = renewals.collect();
        engine.transact(Wait::Commit, renewals.iter(), &mut Vec::new()).unwrap();
        let ends = (first..first + count).map(|n| {
            let Claim { id, token, keep, .. } = of(n);
            let body = Body::copy_from(&vec![7; body]);
            let completion = Completion { id, token, fence: 0, fingerprint: None, body, ttl: keep, keep };
            Work::One(id, Operation::Complete(completion))
        });
        let ends: Vec<_> = ends.collect();
        let mut answers = Vec::new();
        engine.transact(Wait::Disk, ends.iter(), &mut answers).unwrap();
        assert!(answers.iter().all(Result::is_ok));
        let after = taken(engine);
        (after.0 - before.0, after.1 - before.1)
    }

    #[test]
    fn results_like_those_before_take_no_more_room_than_their_claims() {
        for body in [0, 10, 64, Room::MOST] {
            let (mut one, other, dir) = engines(&format!("room {body}"));
            let (pages, bytes) = taken_by_results(&mut one, 0, 200, body);
            assert!(pages > 0 && bytes > 0, "nobody could know how long they are");
            assert_eq!(taken_by_results(&mut one, 200, 200, body), (0, 0), "{body}");
            drop((one, other));
            std::fs::remove_dir_all(dir).unwrap();
        }
    }

    /// What is kept after many rounds of results of these lengths.
    fn kept(lengths: &[usize]) -> i64 {
        let Claim { id, token, keep, .. } = claim(1);
        let mut room = Room::default();
        for length in lengths.iter().cycle().take(1_000 * lengths.len()) {
            let body = Body::copy_from(&vec![7; *length]);
            room.learn(&Completion { id, token, fence: 0, fingerprint: None, body, ttl: keep, keep });
        }
        room.bytes() - Room::END
    }

    #[test]
    fn of_results_that_differ_nearly_all_take_what_is_kept() {
        assert_eq!(kept(&[64]), 64);
        assert!(kept(&[4, 200]) <= 4 + 1);
        assert!(kept(&[200, 4]) <= 4 + 1);
        assert!(kept(&[64, 200, 64]) <= 64 + 1);
        let mut one_short = [64; 100];
        one_short[50] = 4;
        assert_eq!(kept(&one_short), 64);
        let turns: Vec<_> = std::iter::repeat_n(4, 34).chain(std::iter::repeat_n(200, 34)).collect();
        assert!(kept(&turns) <= 4 + 34);
    }

    #[test]
    fn nothing_is_kept_for_large_results() {
        let (mut one, other, dir) = engines("room for large ones");
        let body = Room::MOST + 1;
        taken_by_results(&mut one, 0, 10, body);
        assert!(taken_by_results(&mut one, 10, 100, body).0 > 4);
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
