//! The group `bounded`: what a full store may not do.

use super::checks::{checks, must_be};
use super::fixture::Bounded;
use super::messages::{again, message};
use super::subject::{About, Subject};
use crate::StoreErrorKind;
use crate::machine::{Claim, Forgotten, Verdict};

checks! {
    $ __conformance_bounded, "bounded", Bounded;


    /// Clause 7: a store that is full of live claims refuses with Full, and evicts none of them.
    fn a_full_store_refuses_and_evicts_no_live_claim(store, fixture) {
        let (granted, refused) = fill(&store, fixture.too_many());
        for claim in &granted {
            must_be!(store, store.claim(&again(claim)), Verdict::InProgress { tries: 1, .. });
        }
        for claim in &refused {
            store.is_absent(claim);
        }
    }

    /// Full: nothing was changed. The claim that was refused is granted once there is room, as the first of its record.
    fn a_claim_that_found_no_room_is_granted_later(store, fixture) {
        let (granted, refused) = fill(&store, fixture.too_many());
        for claim in &granted {
            must_be!(store, store.forget(claim, true), Forgotten::Forgotten(_));
        }
        let grant = store.grant(&refused[0]);
        store.equal("the grant", (grant.tries, grant.resumed), (1, false));
    }
}

/// Claims until there is no room, and a little further; what was granted, and what was refused.
fn fill(store: &Subject<'_>, too_many: usize) -> (Vec<Claim>, Vec<Claim>) {
    let (mut granted, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..too_many {
        let claim = message();
        match store.try_ask(&"claim, of a store that fills up", |store| store.claim(&claim)) {
            Ok(Verdict::Claimed(_)) => granted.push(claim),
            Err(error) if error.kind() == StoreErrorKind::Full => refused.push(claim),
            other => store.broken("a grant, or StoreErrorKind::Full", &other),
        }
        if refused.len() == 10 {
            break;
        }
    }
    store.holds(
        "a claim that is refused with Full",
        !refused.is_empty(),
        &format_args!("{} grants", granted.len()),
    );
    (granted, refused)
}
