//! A seen set answers as the store behind it would, as long as nobody writes past it. Only, it says that it did.

use idem_core::machine::Renewal;
use proptest::prelude::*;

use super::*;

/// What is asked of a store, by the number of the message and of the attempt.
#[derive(Clone, Debug)]
enum Ask {
    Claim(u64, usize),
    ClaimMany(Vec<(u64, usize)>),
    Renew(u64, usize),
    Complete(u64, usize),
    Fail(u64, usize),
    Release(u64, usize),
    Forget(u64, bool),
    Inspect(u64),
    Pass(u64),
}

/// The windows of an attempt, in microseconds, and its payload.
#[derive(Clone, Debug)]
struct Attempt {
    lease: u64,
    keep: u64,
    ttl: u64,
    fingerprint: Option<Fingerprint>,
}

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let fingerprint = prop_oneof![6 => Just(FIRST), 1 => Just(OTHER), 1 => Just(None)];
    let one = (0..20_u64, 1..60_u64, 0..40_u64, fingerprint);
    let one = one.prop_map(|(lease, keep, ttl, fingerprint)| Attempt { lease, keep, ttl, fingerprint });
    prop::collection::vec(one, 4)
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let who = || (0..3_u64, 0..4_usize);
    let ask = prop_oneof![
        6 => who().prop_map(|(n, at)| Ask::Claim(n, at)),
        2 => prop::collection::vec(who(), 0..5).prop_map(Ask::ClaimMany),
        1 => who().prop_map(|(n, at)| Ask::Renew(n, at)),
        4 => who().prop_map(|(n, at)| Ask::Complete(n, at)),
        1 => who().prop_map(|(n, at)| Ask::Fail(n, at)),
        1 => who().prop_map(|(n, at)| Ask::Release(n, at)),
        1 => (0..3_u64, any::<bool>()).prop_map(|(n, force)| Ask::Forget(n, force)),
        1 => (0..3_u64).prop_map(Ask::Inspect),
        4 => (0..15_u64).prop_map(Ask::Pass),
    ];
    prop::collection::vec(ask, 1..60)
}

/// The answer, without what a seen set adds to it. What it says of the future is a part of what the store would say.
fn answer(store: &dyn Store, attempts: &[Attempt], ask: &Ask) -> (String, Vec<Duration>) {
    let token = |at: usize| Token::from_bytes([u8::try_from(at).unwrap(); 16]);
    let micros = Duration::from_micros;
    let claim = |n: u64, at: usize| {
        let Attempt { lease, keep, fingerprint, .. } = attempts[at];
        Claim { token: token(at), fingerprint, lease: micros(lease), keep: micros(keep), ..a_claim(n) }
    };
    let completion = |n: u64, at: usize| {
        let Attempt { keep, ttl, fingerprint, .. } = attempts[at];
        let body = [n.to_be_bytes()[7], u8::try_from(at).unwrap()];
        let completion = a_completion(n, token(at), &body);
        Completion { fingerprint, ttl: micros(ttl), keep: micros(keep), ..completion }
    };
    let mut ends = Vec::new();
    let mut plain = |verdict: Verdict| match verdict {
        Verdict::Completed { body, age, valid_for, .. } => {
            ends.push(valid_for);
            format!("completed {:?} {age:?}", body.as_deref())
        }
        other => format!("{other:?}"),
    };
    let shown = match *ask {
        Ask::Claim(n, at) => plain(store.claim(&claim(n, at)).wait().unwrap()),
        Ask::ClaimMany(ref batch) => {
            let claims: Vec<_> = batch.iter().map(|&(n, at)| claim(n, at)).collect();
            let verdicts = store.claim_many(&claims).wait().unwrap();
            verdicts.into_iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Ask::Renew(n, at) => {
            let renewal = Renewal { id: id(n), token: token(at), lease: micros(attempts[at].lease) };
            format!("{:?}", store.renew(&renewal).wait())
        }
        Ask::Complete(n, at) => format!("{:?}", store.complete(&completion(n, at)).wait()),
        Ask::Fail(n, at) => format!("{:?}", store.fail(&completion(n, at)).wait()),
        Ask::Release(n, at) => format!("{:?}", store.release(&id(n), &token(at)).wait()),
        Ask::Forget(n, force) => format!("{:?}", store.forget(&id(n), force).wait()),
        Ask::Inspect(n) => format!("{:?}", store.inspect(&id(n)).wait()),
        Ask::Pass(_) => String::new(),
    };
    (shown, ends)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_seen_set_answers_as_the_store_behind_it_would(
        attempts in attempts(),
        asks in asks(),
        max_count in 0..4_usize,
        max_age in 1..50_u64,
    ) {
        let (plain, behind) = (Counting::default(), Counting::default());
        let seen = SeenSet::builder(behind.clone()).max_count(max_count).max_age(Duration::from_micros(max_age)).build();
        for ask in &asks {
            if let Ask::Pass(micros) = ask {
                plain.clock().advance(Duration::from_micros(*micros));
                behind.clock().advance(Duration::from_micros(*micros));
            }
            let (expected, ends) = answer(&plain, &attempts, ask);
            let (shown, seen_ends) = answer(&seen, &attempts, ask);
            prop_assert_eq!(shown, expected, "to {:?}", ask);
            prop_assert!(seen_ends.iter().zip(&ends).all(|(seen, end)| seen <= end));
            prop_assert!(seen.len() <= max_count);
        }
    }
}
