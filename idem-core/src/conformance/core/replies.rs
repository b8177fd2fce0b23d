//! Replies that nobody waits for, and handles.

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{again, ending, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Recorded, Released, Renewal, StateKind, Verdict};

checks! {
    $ __conformance_core_replies, "core", Fixture;


    /// Clause 6: a claim takes effect even if its reply is dropped, or not at all: sent again, it is granted either way.
    fn a_claim_whose_reply_is_dropped_can_be_sent_again(store) {
        for polled in [false, true] {
            let first = message();
            store.abandon(polled, |store| store.claim(&first));
            let grant = store.grant(&first);
            store.equal("the tries", grant.tries, 1);
            store.equal("the record's fence", store.is(&first, StateKind::Held).fence, grant.fence);
            must_be!(store, store.claim(&again(&first)), Verdict::InProgress { tries: 1, .. });
            must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        }
    }

    /// Clause 6: a completion takes effect even if its reply is dropped, or not at all, and never half.
    fn a_completion_whose_reply_is_dropped_is_whole_or_not_at_all(store) {
        let bytes = vec![7; 10_000];
        for polled in [false, true] {
            let first = message();
            let grant = store.grant(&first);
            let ending = ending(&first, grant.fence, &bytes);
            store.abandon(polled, |store| store.complete(&ending));
            match store.claim(&again(&first)) {
                Verdict::InProgress { .. } => {}
                Verdict::Completed { body, .. } => store.brings(body.as_ref(), &bytes),
                other => store.broken("InProgress, or Completed with the whole body", &other),
            }
            must_be!(store, store.complete(&ending), Recorded::Stored);
            let body = must_be!(store, store.claim(&again(&first)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), &bytes);
        }
    }

    /// Clause 6: a renewal, a release, a failure and a deletion too; sent again, each gives an answer of one that took effect once.
    fn an_operation_whose_reply_is_dropped_can_be_sent_again(store) {
        for polled in [false, true] {
            let (renewed, released, failed, forgotten) = (message(), message(), message(), message());
            for claim in [&renewed, &released, &failed, &forgotten] {
                store.grant(claim);
            }
            let Claim { id, token, lease, .. } = renewed;
            store.abandon(polled, |store| store.renew(&Renewal { id, token, lease }));
            must_be!(store, store.claim(&again(&renewed)), Verdict::InProgress { tries: 1, .. });
            store.abandon(polled, |store| store.release(&released.id, &released.token));
            must_be!(store, store.release(&released), Released::Released { tries: 1 });
            store.abandon(polled, |store| store.fail(&ending(&failed, 1, b"no")));
            must_be!(store, store.fail(&ending(&failed, 1, b"no")), Recorded::Stored);
            store.abandon(polled, |store| store.forget(&forgotten.id, true));
            store.forget(&forgotten, true);
            store.is_absent(&forgotten);
        }
    }

    /// A handle is the same store, and outlives what it was made from.
    fn a_handle_is_the_same_store(store) {
        let first = message();
        let grant = store.grant(&first);
        let handle = store.store().handle();
        store.equal("the class", handle.class(), store.store().class());
        let through = store.through(handle.handle());
        drop(handle);
        must_be!(through, through.claim(&again(&first)), Verdict::InProgress { tries: 1, .. });
        store.equal("whether it is resumed", through.grant(&first).resumed, true);
        must_be!(through, through.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { .. });
    }
}
