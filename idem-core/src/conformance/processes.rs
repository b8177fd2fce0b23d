//! The group `processes`: what holds between processes, and when one of them is killed.
//!
//! The others are this same test binary, started once more for the same test. A process is killed without a warning
//! (`SIGKILL` on Unix), which is what a deploy, the kernel and an operator do.

mod others;

use std::collections::BTreeMap;
use std::time::Duration;

use super::checks::must_be;
use super::fixture::Spans;
use super::messages::{MINUTE, again, ending, message_of};
use super::subject::{About, Subject};
use crate::machine::{Claim, Prior, Recorded, StateKind, Verdict};
use crate::{RecordId, Token};
use others::{Me, Other, Others, Part, say, wait_for_go};

/// Makes the checks: what the first process does, and what the others do.
macro_rules! process_checks {
    (
        $d:tt $list:ident;
        $(
            $(#[doc = $clause:literal])+
            fn $check:ident($store:ident, $others:ident) $first:block
            others($other:ident, $shared:ident) $part:block
        )+
    ) => {
        $(
            $(#[doc = $clause])+
            ///
            /// `make` makes the fixture, in the first process alone; `test` is the path of the test that calls this.
            pub fn $check<F: Spans>(make: impl FnOnce() -> F, test: &str) {
                let about = About {
                    check: concat!("processes::", stringify!($check)),
                    clause: concat!($($clause, "\n"),+),
                };
                if let Some(me) = Me::of_this_process() {
                    let fixture = F::open(&me.place);
                    let ($other, $shared) = (&Subject::new(&fixture, about), me.part);
                    $part
                } else {
                    let fixture = make();
                    let $others = Others::new(test, fixture.place());
                    let $store = &Subject::new(&fixture, about);
                    $first
                }
            }
        )+

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d($d head:tt)*) => {
                $crate::__conformance_tests! { $d($d head)* $($check)+ }
            };
        }
    };
}

/// Records of a race between processes.
const RECORDS: u64 = 200;
/// Processes beside the first.
const OTHERS: usize = 3;

process_checks! {
    $ __conformance_processes;

    /// I1: at most one token is current for a key, whichever process its attempt is in.
    fn of_claims_by_many_processes_one_is_granted(store, others) {
        let part = Part::new();
        let all = others.start_together(part, OTHERS);
        let mut granted = BTreeMap::<String, usize>::new();
        for record in all.into_iter().flat_map(Other::rest) {
            *granted.entry(record).or_default() += 1;
        }
        for n in 0..RECORDS {
            let grants = granted.get(&n.to_string()).copied();
            store.holds("exactly one grant", grants == Some(1), &format_args!("{grants:?} of record {n}"));
            must_be!(store, store.claim(&message_of(part.id(n))), Verdict::InProgress { tries: 1, .. });
        }
    }
    others(store, part) {
        say("ready");
        wait_for_go();
        for n in 0..RECORDS {
            match store.claim(&message_of(part.id(n))) {
                Verdict::Claimed(_) => say(&n.to_string()),
                verdict => must_be!(store, verdict, Verdict::InProgress { .. }),
            }
        }
    }

    /// Clause 4: fences grow in the order of the grants, whichever process they are in, and every grant counts one try.
    fn grants_in_many_processes_have_fences_and_tries_of_their_own(store, others) {
        let part = Part::new();
        let all = others.start_together(part, OTHERS);
        let mut grants: Vec<(u64, u64)> = Vec::new();
        for said in all.into_iter().flat_map(Other::rest) {
            let both = said.split_once(' ').and_then(|(tries, fence)| Some((tries.parse().ok()?, fence.parse().ok()?)));
            grants.push(both.unwrap_or_else(|| store.broken("tries and a fence", &said)));
        }
        grants.sort_unstable();
        let tries: Vec<_> = grants.iter().map(|(tries, _)| *tries).collect();
        let counted: Vec<_> = (1..=OTHERS as u64 * 50).collect();
        store.equal("the tries of all grants", tries, counted);
        store.holds("fences in the order of the tries", grants.is_sorted_by(|one, two| one.1 < two.1), &grants);
    }
    others(store, part) {
        say("ready");
        wait_for_go();
        for _ in 0..50 {
            let claim = Claim { lease: Duration::ZERO, max_tries: u32::MAX, ..message_of(part.id(0)) };
            let grant = store.grant(&claim);
            say(&format!("{} {}", grant.tries, grant.fence));
        }
    }

    /// I6: if the holder is killed, the next claim succeeds after at most its lease, and until then it is in progress. I2: what it
    /// had finished is replayed.
    fn the_claims_of_a_killed_process_end_with_their_leases(store, others) {
        let part = Part::new();
        let mut other = others.start(part);
        other.until("held");
        other.kill();
        must_be!(store, store.claim(&message_of(part.id(0))), Verdict::InProgress { remaining, tries: 1 } if remaining <= MINUTE);
        let grant = store.grant(&message_of(part.id(1)));
        store.equal("the takeover", (grant.tries, grant.prior), (2, Prior::Lapsed));
        let body = must_be!(store, store.claim(&message_of(part.id(2))), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"done");
        let grant = store.grant(&message_of(part.id(3)));
        store.equal("the grant after a release", (grant.tries, grant.prior), (2, Prior::Released));
        // Whoever knows the token may go on with what the dead one began.
        store.equal("whether it is resumed", store.grant(&attempt(part.id(0))).resumed, true);
    }
    others(store, part) {
        store.grant(&attempt(part.id(0)));
        store.grant(&Claim { lease: Duration::ZERO, ..attempt(part.id(1)) });
        store.grant(&attempt(part.id(2)));
        must_be!(store, store.complete(&ending(&attempt(part.id(2)), 1, b"done")), Recorded::Stored);
        store.grant(&attempt(part.id(3)));
        store.release(&attempt(part.id(3)));
        say("held");
        wait_for_go();
    }

    /// Clause 6: an operation takes effect or not at all, never half, also when its process is killed in the middle of it. What was
    /// acknowledged is there.
    fn a_process_killed_while_it_writes_leaves_whole_records(store, others) {
        for stop_at in [3_u64, 20, 60] {
            let part = Part::new();
            let mut other = others.start(part);
            let mut said: Vec<_> = std::iter::from_fn(|| other.next().filter(|said| *said != format!("done {stop_at}"))).collect();
            said.push(format!("done {stop_at}"));
            said.extend(other.kill());
            for n in 0..500 {
                let id = part.id(n);
                let acknowledged = |what: &str| said.contains(&format!("{what} {n}"));
                match store.inspect(&message_of(id)) {
                    Some(found) if found.state == StateKind::Done => store.brings(found.body.as_ref(), &body(n)),
                    found => {
                        store.holds("a completion that was acknowledged", !acknowledged("done"), &found);
                        let held = found.as_ref().is_some_and(|found| found.state == StateKind::Held);
                        store.holds("a claim that was acknowledged, or none", held || !acknowledged("claimed"), &found);
                        // And its attempt can go on, unless a server was still at the completion that it had been sent.
                        match store.claim(&attempt(id)) {
                            Verdict::Completed { body: found, .. } => store.brings(found.as_ref(), &body(n)),
                            verdict => {
                                must_be!(store, verdict, Verdict::Claimed(_));
                                must_be!(store, store.complete(&ending(&attempt(id), 1, &body(n))), Recorded::Stored);
                            }
                        }
                    }
                }
                must_be!(store, store.claim(&again(&attempt(id))), Verdict::Completed { body: Some(_), .. });
                if !acknowledged("claimed") {
                    break;
                }
            }
        }
    }
    others(store, part) {
        for n in 0..500 {
            let claim = attempt(part.id(n));
            store.grant(&claim);
            say(&format!("claimed {n}"));
            must_be!(store, store.complete(&ending(&claim, 1, &body(n))), Recorded::Stored);
            say(&format!("done {n}"));
        }
    }
}

/// An attempt whose token all processes know.
fn attempt(id: RecordId) -> Claim {
    let (token, _) = id.as_bytes().split_first_chunk().expect("32 bytes are more than 16");
    Claim { token: Token::from_bytes(*token), ..message_of(id) }
}

fn body(n: u64) -> Vec<u8> {
    vec![n.to_le_bytes()[0]; 10_000]
}
