//! How long results and records are kept, as far as no clock has to be moved.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{DAY, MINUTE, again, ending, message};
use super::super::subject::{About, Subject};
use crate::machine::{Completion, Prior, Recorded, StateKind, Verdict};

checks! {
    $ __conformance_core_results, "core", Fixture;


    /// A result goes at its `ttl` and its record stays as a tombstone: Done without a body is still Done.
    fn a_result_without_time_leaves_a_tombstone(store) {
        let first = message();
        let grant = store.grant(&first);
        let ending = Completion { ttl: Duration::ZERO, ..ending(&first, grant.fence, b"gone at once") };
        must_be!(store, store.complete(&ending), Recorded::Stored);
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { body: None, .. });
        let done = store.is(&first, StateKind::Done);
        store.equal("the body", done.body.clone(), None);
        store.holds("an end within a day", done.ends_in > DAY - MINUTE && done.ends_in <= DAY, &done);
    }

    /// An error's bytes go at its `ttl` too, and its record stays.
    fn an_error_without_time_leaves_a_tombstone(store) {
        let first = message();
        let grant = store.grant(&first);
        let ending = Completion { ttl: Duration::ZERO, ..ending(&first, grant.fence, b"gone at once") };
        must_be!(store, store.fail(&ending), Recorded::Stored);
        must_be!(store, store.claim(&again(&first)), Verdict::Refused { body: None, .. });
        store.equal("the body", store.is(&first, StateKind::Failed).body, None);
    }

    /// `keep` is at least `ttl`: a record lives as long as its result.
    fn a_record_lives_as_long_as_its_result(store) {
        let first = message();
        let grant = store.grant(&first);
        let ending =
            Completion { ttl: DAY, keep: Duration::ZERO, ..ending(&first, grant.fence, b"for a day") };
        must_be!(store, store.complete(&ending), Recorded::Stored);
        let body = must_be!(store, store.claim(&again(&first)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"for a day");
        let done = store.is(&first, StateKind::Done);
        store.holds("an end within a day", done.ends_in > DAY - MINUTE && done.ends_in <= DAY, &done);
    }

    /// The end of a record is set by its completion: it does not go on living by the claim's `keep`.
    fn a_record_without_time_is_gone_when_it_is_done(store) {
        let first = message();
        let grant = store.grant(&first);
        let ending =
            Completion { ttl: Duration::ZERO, keep: Duration::ZERO, ..ending(&first, grant.fence, b"") };
        must_be!(store, store.complete(&ending), Recorded::Stored);
        store.is_absent(&first);
        let next = store.grant(&again(&first));
        store.equal("the grant", (next.tries, next.prior), (1, Prior::None));
        store.holds("a fence above the first", next.fence > grant.fence, &(grant, next));
    }

    /// Done is told apart from "no result": an empty body is a body.
    fn an_empty_result_is_a_result(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"")), Recorded::Stored);
        let body = must_be!(store, store.claim(&again(&first)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"");
        store.brings(store.is(&first, StateKind::Done).body.as_ref(), b"");
    }
}
