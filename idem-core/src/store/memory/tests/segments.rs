//! What goes into a segment comes out of it.

use proptest::prelude::*;

use super::super::entry::Finished;
use super::super::segment::{SEGMENT_LEN, Segment};
use super::{id, token};
use crate::machine::State;
use crate::{Body, Fingerprint, Timestamp};

/// Numbers around each width that the format knows.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..1_000_u64,
        2 => (u64::from(u32::MAX) - 2)..(u64::from(u32::MAX) + 3),
        2 => ((1_u64 << 40) - 2)..((1_u64 << 40) + 3),
        1 => (u64::MAX - 3)..=u64::MAX,
    ]
}

#[derive(Clone, Debug)]
struct Sample {
    fence: u64,
    tries: u32,
    printed: bool,
    made_at: u64,
    done_at: u64,
    ttl: u64,
    keep: u64,
    failed: bool,
    body: Option<Body>,
}

fn samples() -> impl Strategy<Value = Sample> {
    let times = (numbers(), numbers(), numbers(), numbers(), numbers());
    let tries = prop_oneof![1..4_u32, 254..258_u32, Just(u32::MAX)];
    let body = prop_oneof![Just(None), (0_u8..=200).prop_map(|len| Some(Body::from(vec![len; len.into()])))];
    (times, tries, any::<bool>(), any::<bool>(), body).prop_map(|(times, tries, printed, failed, body)| {
        let (fence, made_at, done_at, ttl, keep) = times;
        Sample { fence, tries, printed, made_at, done_at, ttl, keep: keep.max(ttl), failed, body }
    })
}

proptest! {
    #[test]
    fn records_come_out_of_a_segment_as_they_went_in(samples in proptest::collection::vec(samples(), 1..60)) {
        let mut segment = Segment::over(Vec::with_capacity(1 << 17), 0);
        let mut offsets = Vec::new();
        for (number, sample) in (0_u64..).zip(&samples) {
            let fingerprint = sample.printed.then(|| Fingerprint::from_bytes([number.to_le_bytes()[0]; 16]));
            let offset = segment.append(&Finished {
                id: &id(number),
                token: token(number),
                fence: sample.fence,
                tries: sample.tries,
                fingerprint,
                made_at: Timestamp::from_micros(sample.made_at),
                done_at: Timestamp::from_micros(sample.done_at),
                ttl: sample.ttl,
                keep: sample.keep,
                failed: sample.failed,
                body: sample.body.as_ref(),
            });
            offsets.push((number, offset.unwrap(), sample, fingerprint));
        }
        let mut next = 0;
        for (number, offset, sample, fingerprint) in offsets {
            let (found, _, end) = segment.next(next).unwrap();
            prop_assert_eq!(found, offset);
            next = end;
            prop_assert!(segment.holds(offset, &id(number)));
            prop_assert!(!segment.holds(offset, &id(number + 1)));
            let record = segment.record(offset);
            prop_assert_eq!(record.token, token(number));
            prop_assert_eq!(record.fence, sample.fence);
            prop_assert_eq!(record.tries, sample.tries);
            prop_assert_eq!(record.fingerprint, fingerprint);
            prop_assert_eq!(record.made_at.as_micros(), sample.made_at);
            prop_assert_eq!(record.drop_at.as_micros(), sample.done_at.saturating_add(sample.keep));
            let failed = matches!(record.state, State::Failed(_));
            prop_assert_eq!(failed, sample.failed);
            let (State::Done(kept) | State::Failed(kept)) = record.state else { unreachable!() };
            prop_assert_eq!(kept.done_at.as_micros(), sample.done_at);
            match &sample.body {
                Some(body) => {
                    prop_assert_eq!(&kept.body, body);
                    prop_assert_eq!(kept.body_until.as_micros(), sample.done_at.saturating_add(sample.ttl));
                }
                None => prop_assert!(kept.body.is_empty() && kept.body_until == Timestamp::ZERO),
            }
        }
        prop_assert!(segment.next(next).is_none());
    }
}

#[test]
fn a_segment_ends_before_its_offsets_do() {
    let mut segment = Segment::over(Vec::with_capacity(1 << 17), 0);
    let body = Body::from(vec![7; Body::INLINE]);
    let mut last = 0;
    for number in 0.. {
        let record = Finished {
            id: &id(number),
            token: token(number),
            fence: u64::MAX,
            tries: 1,
            fingerprint: Some(Fingerprint::from_bytes([1; 16])),
            made_at: Timestamp::ZERO,
            done_at: Timestamp::ZERO,
            ttl: 1,
            keep: 1,
            failed: false,
            body: Some(&body),
        };
        let Some(offset) = segment.append(&record) else { break };
        last = offset;
    }
    assert!(last < SEGMENT_LEN - Body::INLINE);
    assert!(last > SEGMENT_LEN - 500, "a segment was given up at {last}");
}
