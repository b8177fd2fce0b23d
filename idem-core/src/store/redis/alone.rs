//! The quick command of a call that goes by itself.

use std::sync::Arc;

use redis::{Pipeline, RedisError, Value};

use super::ask::{Manner, answer_or_error};
use super::call::{Call, Naming};
use super::estimate::{here, is_slow};
use super::link::{Link, Live};
use super::place::{Meaning, meaning};
use super::quick::{End, Quick, set_if_new, time};
use super::round::Part;
use crate::machine::{Claim, Operation};
use crate::{StoreError, StoreErrorKind, Timestamp};

impl Link {
    /// What goes wrong leaves the call open: its script will be told.
    pub(super) async fn ask_alone(
        self: &Arc<Self>,
        prefix: &[u8],
        call: &Call,
        manner: &mut Manner,
    ) -> Result<Quick, StoreError> {
        for hash in [true, false] {
            let mut live = self.live().await?;
            // Before the time is read that goes into a record: a pause between the two counts.
            let sent_at = here();
            let Some(now) = live.estimate.now() else { break };
            let naming = manner.name(self, hash);
            let came = match (&call.operation, call.end()) {
                (Operation::Claim(claim), _) => {
                    claim_alone(&mut live, call, claim, prefix, now, sent_at).await
                }
                (_, Some(end)) => end_alone(&mut live, end, prefix, now, naming).await,
                _ => break,
            };
            match came {
                Ok(quick) => {
                    live.heard();
                    if matches!(quick, Quick::Stray) {
                        self.leave(&live);
                    }
                    return Ok(quick);
                }
                Err(error) if meaning(&error) == Meaning::NoScript => {}
                Err(error) => {
                    self.note_refusal(&error);
                    if is_lost(&error) {
                        manner.after(self, &live, call.script(), error)?;
                    }
                    break;
                }
            }
        }
        Ok(Quick::Open)
    }

    /// The script will be refused too, and what that means is found out then; but for what only quick commands need.
    pub(super) fn note_refusal(&self, error: &RedisError) {
        if matches!(meaning(error), Meaning::Other(StoreErrorKind::Misconfigured, _)) {
            self.only_scripts();
        }
    }
}

/// Whether another connection has to be made.
pub(super) fn is_lost(error: &RedisError) -> bool {
    matches!(meaning(error), Meaning::Disconnected | Meaning::Garbled | Meaning::Demoted)
}

async fn claim_alone(
    live: &mut Live,
    call: &Call,
    claim: &Claim,
    prefix: &[u8],
    now: Timestamp,
    sent_at: u64,
) -> Result<Quick, RedisError> {
    let mut pipeline = Pipeline::with_capacity(2);
    pipeline.add_command(set_if_new(claim, prefix, now)).cmd("TIME");
    let mut values = live.connection.send_all(&pipeline).await?.into_iter();
    let [claimed, said] = [(); 2].map(|()| answer_or_error(Ok(values.next().unwrap_or(Value::Okay))));
    let (claimed, said) = (claimed?, said?);
    let said = time(&said);
    if let Some(said) = said {
        live.estimate.learn(said, sent_at);
    }
    Ok(match call.read_quick(&claimed, now).by(said, now) {
        Quick::Answer(_) if is_slow(sent_at) => Quick::Open,
        quick => quick,
    })
}

async fn end_alone(
    live: &mut Live,
    end: End<'_>,
    prefix: &[u8],
    now: Timestamp,
    naming: Naming,
) -> Result<Quick, RedisError> {
    let mut part = Part::of(&end);
    let number = part.add(prefix, end, now);
    let reply = answer_or_error(live.connection.send(&part.command(now, naming)).await)?;
    Ok(part.read(&reply).of(number))
}
