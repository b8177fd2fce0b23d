//! Ends of attempts: success, and errors worth remembering.

use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::postgres::PgRow;

use super::Inner;
use super::ask::Ask;
use super::row::{Damaged, Said, fence, span};
use crate::machine::{Answer, Change, Completion, End, Ended, Operation, Recorded, decide};
use crate::{RecordId, StoreError, StoreErrorKind};

/// In one statement. A greater batch goes in several.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 16 << 20;
const ROUNDS: usize = 8;

const DOING: &str = "record a result";
const MANY: &str = "end attempts";

impl Inner {
    pub(super) async fn complete(&self, completion: &Completion) -> Result<Recorded, StoreError> {
        let operation = Operation::Complete(completion.clone());
        self.end(completion, 2, &operation).await
    }

    pub(super) async fn fail(&self, completion: &Completion) -> Result<Recorded, StoreError> {
        let operation = Operation::Fail(completion.clone());
        self.end(completion, 3, &operation).await
    }

    async fn end(&self, end: &Completion, state: i16, operation: &Operation) -> Result<Recorded, StoreError> {
        let bind = |ask: Ask| {
            ask.bind(end.id.as_bytes().as_slice())
                .bind(end.token.as_bytes().as_slice())
                .bind(state)
                .bind(end.body.as_slice())
                .bind(span(end.ttl))
                .bind(span(end.keep.max(end.ttl)))
        };
        if self.tell(DOING, &self.statements.complete, bind).await? > 0 {
            return Ok(Recorded::Stored);
        }
        let bind = |ask: Ask| {
            bind(ask)
                .bind(end.fingerprint.as_ref().map(|print| print.as_bytes().as_slice()))
                .bind(fence(end.fence))
                .bind(state == 2)
        };
        let read = |rows: &[PgRow]| match rows.first() {
            Some(row) => Said::read(row).map(|said| said.recorded(operation)),
            None => Ok(None),
        };
        self.ask(DOING, &self.statements.complete_or_see, bind, read).await
    }

    pub(super) async fn end_many(&self, ends: &[End]) -> Result<Vec<Ended>, StoreError> {
        let mut ended: Vec<Option<Ended>> = vec![None; ends.len()];
        let mut idle = 0;
        loop {
            let round = round(ends, &ended);
            if round.is_empty() {
                return Ok(ended.into_iter().flatten().collect());
            }
            if idle == ROUNDS {
                let what = format_args!("cannot {MANY}: other sessions were faster each of {ROUNDS} times");
                return Err(self.place.error(StoreErrorKind::Unavailable, what));
            }
            idle += 1;
            let asked: Vec<&End> = round.values().map(|&index| &ends[index]).collect();
            let bind = |ask| bind_many(ask, &asked);
            let said = self.ask(MANY, &self.statements.end_many, bind, read_many).await?;
            for (id, said) in said {
                let Some(&index) = round.get(&id) else { continue };
                if let Some(answer) = said.ended(&ends[index]) {
                    ended[index] = Some(answer);
                    idle = 0;
                }
            }
        }
    }
}

impl Said {
    /// The answer to an end among many.
    fn ended(&self, end: &End) -> Option<Ended> {
        match end {
            End::Complete(_) | End::Fail(_) => self.recorded(&end.operation()).map(Ended::Recorded),
            End::Release { .. } => self.released(&end.operation()).map(Ended::Released),
        }
    }

    /// The answer; `None` if the record was seen as it was before another session changed it.
    fn recorded(&self, operation: &Operation) -> Option<Recorded> {
        match self.wrote {
            1 => return Some(Recorded::Stored),
            2 => return Some(Recorded::Recreated),
            _ => {}
        }
        match decide(self.record.as_ref(), operation, self.now) {
            (Answer::Record(recorded), Change::None) => Some(recorded),
            _ => None,
        }
    }
}

fn read_many(rows: &[PgRow]) -> Result<Option<Vec<(RecordId, Said)>>, Damaged> {
    rows.iter().map(|row| Ok((Said::id(row)?, Said::read(row)?))).collect::<Result<_, _>>().map(Some)
}

/// The first of each id that has no answer, in the order of the ids: the second is judged after the first.
fn round(ends: &[End], ended: &[Option<Ended>]) -> BTreeMap<RecordId, usize> {
    let mut round = BTreeMap::new();
    let mut bytes = 0;
    for (index, end) in ends.iter().enumerate() {
        if ended[index].is_some() {
            continue;
        }
        bytes += end.completion().map_or(0, |end| end.body.len());
        if round.len() == MOST || (bytes > MOST_BYTES && !round.is_empty()) {
            break;
        }
        round.entry(*end.id()).or_insert(index);
    }
    round
}

fn bind_many(ask: Ask, ends: &[&End]) -> Ask {
    let results: Vec<Option<&Completion>> = ends.iter().map(|end| end.completion()).collect();
    let spans = |of: fn(&Completion) -> Duration| -> Vec<i64> {
        results.iter().map(|end| end.map_or(0, |end| span(of(end)))).collect()
    };
    let ids: Vec<&[u8]> = ends.iter().map(|end| end.id().as_bytes().as_slice()).collect();
    let tokens: Vec<&[u8]> = ends.iter().map(|end| end.token().as_bytes().as_slice()).collect();
    let bodies: Vec<Option<&[u8]>> = results.iter().map(|end| end.map(|end| end.body.as_slice())).collect();
    let prints = results.iter().map(|end| end.and_then(|end| end.fingerprint.as_ref()));
    let prints: Vec<Option<&[u8]>> =
        prints.map(|print| print.map(|print| print.as_bytes().as_slice())).collect();
    let fences: Vec<i64> = results.iter().map(|end| end.map_or(0, |end| fence(end.fence))).collect();
    let states: Vec<i16> = ends.iter().map(|end| state(end)).collect();
    ask.bind(ids)
        .bind(tokens)
        .bind(bodies)
        .bind(spans(|end| end.ttl))
        .bind(spans(|end| end.keep.max(end.ttl)))
        .bind(prints)
        .bind(fences)
        .bind(states)
}

/// The state of the record then.
const fn state(end: &End) -> i16 {
    match end {
        End::Complete(_) => 2,
        End::Fail(_) => 3,
        End::Release { .. } => 0,
    }
}
