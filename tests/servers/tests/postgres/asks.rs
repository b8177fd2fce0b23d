//! Claims and completions for the tests.

use std::time::Duration;

use idem::machine::{Claim, Completion, Grant, OnLapse, Recorded, Verdict};
use idem::{Body, Namespace, RecordId, Store, StoreError, Token};

use crate::database::run;

pub(crate) const LEASE: Duration = Duration::from_secs(30);
pub(crate) const KEEP: Duration = Duration::from_hours(1);

pub(crate) fn id(key: &str) -> RecordId {
    Namespace::new("", "", "test").record(key)
}

pub(crate) fn claim(key: &str) -> Claim {
    Claim {
        id: id(key),
        token: Token::fresh(),
        fingerprint: None,
        lease: LEASE,
        keep: KEEP,
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

/// The next delivery.
pub(crate) fn again(claim: &Claim) -> Claim {
    Claim { token: Token::fresh(), ..claim.clone() }
}

pub(crate) fn ending(claim: &Claim, grant: Grant, body: &[u8]) -> Completion {
    Completion {
        id: claim.id,
        token: claim.token,
        fence: grant.fence,
        fingerprint: claim.fingerprint,
        body: Body::copy_from(body),
        ttl: KEEP,
        keep: KEEP,
    }
}

pub(crate) fn ask(store: &impl Store, claim: &Claim) -> Result<Verdict, StoreError> {
    run(async { store.claim(claim).await })
}

pub(crate) fn judged(store: &impl Store, claim: &Claim) -> Verdict {
    ask(store, claim).expect("a verdict")
}

pub(crate) fn granted(store: &impl Store, claim: &Claim) -> Grant {
    match judged(store, claim) {
        Verdict::Claimed(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

pub(crate) fn complete(store: &impl Store, completion: &Completion) -> Recorded {
    run(async { store.complete(completion).await }).expect("an answer")
}

/// The body that a duplicate is told.
pub(crate) fn replayed(store: &impl Store, claim: &Claim) -> Vec<u8> {
    match judged(store, &again(claim)) {
        Verdict::Completed { body: Some(body), .. } => body.to_vec(),
        other => panic!("not replayed: {other:?}"),
    }
}
