//! The shards of one store, and the `Store` that all handles share.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use super::MemoryCounts;
use super::limits::Limits;
use super::shard::Shard;
use crate::clock::Clock;
use crate::machine::{
    Answer, Claim, Completion, End, Ended, Forgotten, Operation, Recorded, Released, Renewal, Renewed,
    Snapshot, Verdict,
};
use crate::store::{Reply, Store, StoreClass};
use crate::{RecordId, StoreError, Timestamp, Token};

/// Records below which one more shard is not worth its share: bounds are kept by shard, and ids fall evenly on many only.
const MIN_RECORDS_PER_SHARD: usize = 1_024;

/// Shards that all lie within one store.
pub(super) struct Shared {
    shards: Box<[Aligned]>,
    clock: Clock,
    /// Itself, so that a handle is one more count and no allocation.
    this: Weak<Self>,
}

/// Two cores never write one cache line, nor the pair of lines that the prefetcher fetches.
#[repr(align(128))]
struct Aligned(Mutex<Shard>);

impl Shared {
    pub(super) fn new(limits: Limits, clock: Clock) -> Arc<Self> {
        let count = shards_for(limits.max_records);
        let shards = (0..count).map(|index| {
            // The first shards take what does not divide, so that the sum is exact.
            let share = limits.max_records / count + usize::from(index < limits.max_records % count);
            Aligned(Mutex::new(Shard::new(Limits { max_records: share, ..limits })))
        });
        let shards = shards.collect();
        Arc::new_cyclic(|this| Self { shards, clock, this: this.clone() })
    }

    /// The shard of an id: by the high half of its prefix, since the low half finds it there.
    #[allow(clippy::cast_possible_truncation, reason = "the count of shards is far below 2^32")]
    fn shard_index(&self, id: &RecordId) -> usize {
        (id.prefix() >> 32) as usize & (self.shards.len() - 1)
    }

    fn shard(&self, id: &RecordId) -> MutexGuard<'_, Shard> {
        lock(&self.shards[self.shard_index(id)])
    }

    /// One operation under the lock of its shard. The clock is read under it too, so that instants of a shard are in order.
    fn apply<T>(
        &self,
        id: &RecordId,
        operation: &Operation,
        pick: impl FnOnce(Answer) -> Option<T>,
    ) -> Reply<T> {
        let mut shard = self.shard(id);
        let answer = shard.apply(id, operation, self.clock.now());
        drop(shard);
        Reply::ready(
            answer.map(|answer| pick(answer).unwrap_or_else(|| unreachable!("another operation's answer"))),
        )
    }

    /// Does `step` for the record of each id, shard by shard: each lock is taken once, and within a shard the order stays that of the
    /// batch. Ends at the first error.
    fn by_shard<'i>(
        &self,
        ids: impl Iterator<Item = &'i RecordId>,
        mut step: impl FnMut(&mut Shard, Timestamp, usize) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut order: Vec<(usize, usize)> =
            ids.enumerate().map(|(at, id)| (self.shard_index(id), at)).collect();
        order.sort_unstable();
        for run in order.chunk_by(|one, other| one.0 == other.0) {
            let mut shard = lock(&self.shards[run[0].0]);
            let now = self.clock.now();
            run.iter().try_for_each(|&(_, at)| step(&mut shard, now, at))?;
        }
        Ok(())
    }

    /// Takes back the grants of a batch that could not be served as a whole.
    fn take_back(&self, claims: &[Claim], verdicts: &[Option<Verdict>]) {
        for (claim, verdict) in claims.iter().zip(verdicts) {
            let Some(Verdict::Claimed(grant)) = verdict else { continue };
            if !grant.resumed {
                self.shard(&claim.id).take_back(&claim.id, &claim.token);
            }
        }
    }

    pub(super) fn counts(&self) -> MemoryCounts {
        let mut counts = MemoryCounts::default();
        for shard in &self.shards {
            let shard = lock(shard);
            counts.unfinished += shard.claims.len();
            counts.finished += shard.finished.len();
            counts.evicted += shard.evicted;
            counts.refused += shard.refused;
        }
        counts
    }

    pub(super) fn oldest_completed_age(&self) -> Option<Duration> {
        self.sweep_up_to(usize::MAX);
        self.shards.iter().filter_map(|shard| lock(shard).oldest_age(self.clock.now())).max()
    }

    /// Bytes that segments have room for, and bodies kept apart.
    #[cfg(test)]
    pub(super) fn segment_bytes(&self) -> (usize, usize) {
        let sizes = self.shards.iter().map(|shard| lock(shard).finished.bytes());
        sizes.fold((0, 0), |(bytes, bodies), (more, large)| (bytes + more, bodies + large))
    }

    #[cfg(test)]
    pub(super) fn lock_shard_of(&self, id: &RecordId) -> MutexGuard<'_, Shard> {
        self.shard(id)
    }

    fn sweep_up_to(&self, limit: usize) -> usize {
        let mut removed = 0;
        for shard in &self.shards {
            loop {
                if removed == limit {
                    return removed;
                }
                // The lock is free between two steps.
                let swept = lock(shard).sweep(self.clock.now(), limit - removed);
                removed += swept.removed;
                if !swept.more {
                    break;
                }
            }
        }
        removed
    }
}

/// A panic elsewhere must not disable the store: nothing that runs under a lock leaves a shard half-written.
fn lock(shard: &Aligned) -> MutexGuard<'_, Shard> {
    shard.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A power of two, at least eight for each core, so that two threads seldom meet; fewer for a store of few records.
fn shards_for(max_records: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    let wanted = (8 * cores).next_power_of_two();
    let sensible = (max_records / MIN_RECORDS_PER_SHARD).max(1);
    wanted.min(1 << sensible.ilog2())
}

impl Store for Shared {
    fn handle(&self) -> Arc<dyn Store> {
        self.this.upgrade().unwrap_or_else(|| unreachable!("the store is borrowed from an `Arc`"))
    }

    fn class(&self) -> StoreClass {
        StoreClass::Volatile
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }

    #[inline]
    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        let mut asked_at = Timestamp::ZERO;
        self.claim_at(claim, &mut asked_at)
    }

    #[inline]
    fn claim_at(&self, claim: &Claim, asked_at: &mut Timestamp) -> Reply<Verdict> {
        let mut shard = self.shard(&claim.id);
        let place = shard.find(&claim.id);
        // Read while the record is on its way from memory.
        let now = self.clock.now();
        *asked_at = now;
        shard.claim(claim, place, now)
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let mut verdicts = vec![None; claims.len()];
        let served = self.by_shard(claims.iter().map(|claim| &claim.id), |shard, now, at| {
            let place = shard.find(&claims[at].id);
            verdicts[at] = Some(shard.claim(&claims[at], place, now).wait()?);
            Ok(())
        });
        if let Err(error) = served {
            self.take_back(claims, &verdicts);
            return Reply::ready(Err(error));
        }
        Reply::ready(Ok(verdicts.into_iter().flatten().collect()))
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.apply(&renewal.id, &Operation::Renew(renewal.clone()), |answer| match answer {
            Answer::Renew(renewed) => Some(renewed),
            _ => None,
        })
    }

    #[inline]
    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        let mut shard = self.shard(&completion.id);
        let now = self.clock.now();
        Reply::ready(shard.complete(completion, false, now))
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        let mut shard = self.shard(&completion.id);
        let now = self.clock.now();
        Reply::ready(shard.complete(completion, true, now))
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.apply(id, &Operation::Release(*token), |answer| match answer {
            Answer::Release(released) => Some(released),
            _ => None,
        })
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        let mut ended = vec![None; ends.len()];
        let served = self.by_shard(ends.iter().map(End::id), |shard, now, at| {
            ended[at] = match &ends[at] {
                End::Complete(completion) => Some(Ended::Recorded(shard.complete(completion, false, now)?)),
                End::Fail(completion) => Some(Ended::Recorded(shard.complete(completion, true, now)?)),
                End::Release { id, token } => Ended::of(shard.apply(id, &Operation::Release(*token), now)?),
            };
            Ok(())
        });
        Reply::ready(served.map(|()| ended.into_iter().flatten().collect()))
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        self.apply(id, &Operation::Forget { force }, |answer| match answer {
            Answer::Forget(forgotten) => Some(forgotten),
            _ => None,
        })
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        self.apply(id, &Operation::Inspect, |answer| match answer {
            Answer::Inspect(snapshot) => Some(snapshot),
            _ => None,
        })
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        Reply::ready(Ok(self.sweep_up_to(limit) as u64))
    }

    fn dropped(&self, id: &RecordId, token: &Token) {
        let mut shard = self.shard(id);
        let now = self.clock.now();
        shard.dropped(id, token, now);
    }
}
