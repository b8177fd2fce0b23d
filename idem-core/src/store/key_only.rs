//! No store: the API that receives the key deduplicates.

use std::sync::Arc;
use std::time::Duration;

use super::{Classed, Reply, Store, StoreClass, StoreIdentity, class};
use crate::clock::Clock;
use crate::machine::{
    Claim, Completion, Forgotten, Grant, Prior, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use crate::{RecordId, Token};

/// The store behind `store = none`: it grants every claim and remembers nothing.
///
/// The handler's key still is derived and checked, and the API that receives it refuses to repeat the work. Put a
/// [`SeenSet`](crate::SeenSet) in front of it to skip calls that this process has just made.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyOnly;

impl Store for KeyOnly {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(*self)
    }

    fn class(&self) -> StoreClass {
        StoreClass::Volatile
    }

    fn clock(&self) -> Clock {
        Clock::monotonic()
    }

    /// All of them are one.
    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(&ONE)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        Reply::ready(Ok(granted(claim)))
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        Reply::ready(Ok(claims.iter().map(granted).collect()))
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        Reply::ready(Ok(Renewed::Renewed { remaining: renewal.lease }))
    }

    fn complete(&self, _: &Completion) -> Reply<Recorded> {
        Reply::ready(Ok(Recorded::Gone))
    }

    fn fail(&self, _: &Completion) -> Reply<Recorded> {
        Reply::ready(Ok(Recorded::Gone))
    }

    fn release(&self, _: &RecordId, _: &Token) -> Reply<Released> {
        Reply::ready(Ok(Released::Released { tries: 1 }))
    }

    fn forget(&self, _: &RecordId, _: bool) -> Reply<Forgotten> {
        Reply::ready(Ok(Forgotten::Absent))
    }

    fn inspect(&self, _: &RecordId) -> Reply<Option<Snapshot>> {
        Reply::ready(Ok(None))
    }

    fn sweep(&self, _: usize) -> Reply<u64> {
        Reply::ready(Ok(0))
    }
}

impl Classed for KeyOnly {
    type Class = class::Volatile;
}

static ONE: KeyOnly = KeyOnly;

fn granted(_: &Claim) -> Verdict {
    Verdict::Claimed(Grant {
        fence: 0,
        tries: 1,
        first_age: Duration::ZERO,
        prior: Prior::None,
        resumed: false,
    })
}
