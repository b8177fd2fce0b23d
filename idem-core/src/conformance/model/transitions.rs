//! What the machine may ask next.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, Just, Strategy, Union};

use super::protocol::{ATTEMPTS, RECORDS, State, Transition, id, token};
use crate::conformance::messages::{DAY, MINUTE, OTHER_PAYLOAD, PAYLOAD};
use crate::machine::{Claim, Completion, End, OnLapse, Operation, Record, Renewal, State as RecordState};
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// The clock goes on by no more than this at once: many sequences share it, and none is to see the end of time.
const FARTHEST: Duration = Duration::from_secs(2 * 86_400);

/// Sixteen zero bytes, which are a payload like all others.
const ZEROS: Option<Fingerprint> = Some(Fingerprint::from_bytes([0; 16]));

/// Any step from here on. The first of alternatives is what a sequence is made simpler to.
pub(super) fn from(state: &State) -> BoxedStrategy<Transition> {
    let any_record = |of: fn(&State, RecordId) -> BoxedStrategy<Transition>| {
        Union::new((0..RECORDS).map(|number| of(state, id(number))))
    };
    let tick = state.tick;
    let usual = prop_oneof![
        15 => any_record(one),
        3 => Just(Transition::Again),
        1 => vec(any_record_of(state, claim), 0..7).prop_map(Transition::ClaimMany),
        1 => vec(any_record_of(state, end), 0..5).prop_map(Transition::EndMany),
        1 => select(vec![1_000, 2, 1, 0]).prop_map(Transition::Sweep),
    ];
    let Some(tick) = tick else { return usual.boxed() };
    let pass = spans(Some(tick)).prop_map(|by| Transition::Pass(by.min(FARTHEST)));
    prop_oneof![
        16 => usual,
        1 => pass,
        3 => to_an_end(state, tick).prop_map(Transition::Pass),
    ]
    .boxed()
}

fn any_record_of<T: std::fmt::Debug>(
    state: &State,
    of: fn(&State, RecordId) -> BoxedStrategy<T>,
) -> Union<BoxedStrategy<T>> {
    Union::new((0..RECORDS).map(|number| of(state, id(number))))
}

/// One operation on one record.
fn one(state: &State, id: RecordId) -> BoxedStrategy<Transition> {
    let renewal = (owners(state, id), spans(state.tick))
        .prop_map(move |(token, lease)| Operation::Renew(Renewal { id, token, lease }));
    // A message that is done stays done: nothing else happens to it until it is forgotten.
    let forgotten = if state.is_finished(id) { 6 } else { 1 };
    prop_oneof![
        6 => claim(state, id).prop_map(Operation::Claim),
        2 => ending(state, id).prop_map(Operation::Complete),
        1 => ending(state, id).prop_map(Operation::Fail),
        2 => renewal,
        2 => owners(state, id).prop_map(Operation::Release),
        forgotten => any::<bool>().prop_map(|force| Operation::Forget { force }),
        2 => Just(Operation::Inspect),
    ]
    .prop_map(move |operation| Transition::Ask(id, Box::new(operation)))
    .boxed()
}

/// Mostly of one payload, and of an attempt's own if it holds the record.
fn claim(state: &State, id: RecordId) -> BoxedStrategy<Claim> {
    let token = prop_oneof![attempts(), owners(state, id)];
    let any_payload =
        prop_oneof![8 => Just(PAYLOAD), 1 => Just(OTHER_PAYLOAD), 1 => Just(ZEROS), 1 => Just(None)];
    let own = state.records.get(&id).map(|record| (record.token, record.fingerprint));
    let who = (token, any_payload, 0..4_u8).prop_map(move |(token, any, chance)| match own {
        Some((holder, own)) if holder == token && chance > 0 => (token, own),
        _ => (token, any),
    });
    // Of a record that ends soon, less can be asked.
    let keep = prop_oneof![1 => spans(state.tick), 1 => select(vec![60 * MINUTE, DAY])];
    let on_lapse = select(vec![OnLapse::Rerun, OnLapse::Park]);
    let max_tries = select(vec![5, 5, u32::MAX, 3, 2, 1, 0]);
    let durable = prop_oneof![3 => Just(false), 1 => Just(true)];
    (who, spans(state.tick), keep, on_lapse, max_tries, durable)
        .prop_map(move |((token, fingerprint), lease, keep, on_lapse, max_tries, durable)| Claim {
            id,
            token,
            fingerprint,
            lease,
            keep,
            on_lapse,
            max_tries,
            durable,
        })
        .boxed()
}

/// One of many.
fn end(state: &State, id: RecordId) -> BoxedStrategy<End> {
    prop_oneof![
        2 => ending(state, id).prop_map(End::Complete),
        1 => ending(state, id).prop_map(End::Fail),
        1 => owners(state, id).prop_map(move |token| End::Release { id, token }),
    ]
    .boxed()
}

fn ending(state: &State, id: RecordId) -> BoxedStrategy<Completion> {
    let fingerprint = select(vec![PAYLOAD, OTHER_PAYLOAD, ZEROS, None]);
    let bytes = (select(vec![0, 1, 94, 95, 300, 600]), any::<u8>());
    let record = state.records.get(&id).cloned();
    (owners(state, id), fingerprint, bytes, spans(state.tick), spans(state.tick))
        .prop_map(move |(token, fingerprint, (len, byte), ttl, keep)| {
            // What may not be asked is turned into what may: see the machine's preconditions.
            let (token, fingerprint) = match record.as_ref().filter(|record| record.token == token) {
                Some(Record { state: RecordState::Done(_) | RecordState::Failed(_), .. }) => {
                    (self::token(ATTEMPTS), fingerprint)
                }
                Some(record) => (token, record.fingerprint),
                None => (token, fingerprint),
            };
            Completion { id, token, fence: 1, fingerprint, body: body(len, byte), ttl, keep }
        })
        .boxed()
}

/// Every byte there is, from `first` on, as far as `len` goes.
fn body(len: usize, first: u8) -> Body {
    let bytes = (0..=u8::MAX).cycle().skip(first.into()).take(len);
    Body::from(bytes.collect::<Vec<_>>())
}

fn attempts() -> impl Strategy<Value = Token> {
    (0..ATTEMPTS).prop_map(token)
}

/// The attempt that wrote last, or any.
fn owners(state: &State, id: RecordId) -> BoxedStrategy<Token> {
    match state.records.get(&id) {
        Some(record) => prop_oneof![2 => Just(record.token), 1 => attempts()].boxed(),
        None => attempts().boxed(),
    }
}

/// How long something lasts: few lengths, so that ends meet.
fn spans(tick: Option<Duration>) -> BoxedStrategy<Duration> {
    let Some(tick) = tick else {
        return select(vec![Duration::ZERO, 60 * MINUTE, DAY]).boxed();
    };
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(tick),
        1 => Just(tick * 2),
        1 => Just(tick * 2 - Duration::from_nanos(1)),
        1 => (1..=50_u64).prop_map(Duration::from_millis),
        2 => (1..=90_u64).prop_map(Duration::from_secs),
        1 => Just(DAY),
        1 => Just(Duration::from_secs(100 * 365 * 86_400)),
    ]
    .boxed()
}

/// To one of the next ends of something, or to one tick before or after.
fn to_an_end(state: &State, tick: Duration) -> BoxedStrategy<Duration> {
    let now = state.now;
    let mut ends: Vec<_> =
        state.records.values().flat_map(ends).filter(|end| *end > now && end.since(now) < FARTHEST).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.truncate(3);
    if ends.is_empty() {
        return Just(tick).boxed();
    }
    let ends = ends.into_iter().map(|end| end.since(now)).collect::<Vec<_>>();
    (select(ends), prop_oneof![2 => Just(0), 1 => Just(-1), 1 => Just(1)])
        .prop_map(move |(to, ticks)| match ticks {
            0 => to,
            1 => to + tick,
            _ => to.saturating_sub(tick),
        })
        .boxed()
}

fn ends(record: &Record) -> [Timestamp; 2] {
    match &record.state {
        RecordState::Open => [record.drop_at; 2],
        RecordState::Held { lease_at, .. } => [*lease_at, record.drop_at],
        RecordState::Done(kept) | RecordState::Failed(kept) => [kept.body_until, record.drop_at],
    }
}
