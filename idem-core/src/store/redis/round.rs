//! Quick commands that go out in one pipeline.

use redis::{Pipeline, RedisError, Value};

use super::ask::answer_or_error;
use super::call::{Call, Naming};
use super::place::{Meaning, meaning};
use super::quick::{Quick, end_first, end_many, set_if_new, time};
use crate::machine::Operation;
use crate::{Timestamp, Token};

/// A script that records ends takes no more of them, so that a server is never busy with one for long.
const KEYS: usize = 128;
/// Nor more bytes, but for a single one.
const BYTES: usize = 1 << 20;

/// A pipeline of quick commands, and whose reply is whose.
pub(super) struct Round<'c> {
    calls: &'c [&'c Call],
    now: Timestamp,
    pub(super) pipeline: Pipeline,
    claims: Vec<usize>,
    /// By the scripts that record them.
    ends: Vec<Vec<usize>>,
}

/// What came of a round.
pub(super) struct Came {
    /// One for each call.
    pub(super) quick: Vec<Quick>,
    /// The server's time, as it said itself.
    pub(super) time: Option<Timestamp>,
    /// The calls whose script the server does not know.
    pub(super) unknown: Vec<usize>,
    /// What the server would not do.
    pub(super) refusals: Vec<RedisError>,
}

impl<'c> Round<'c> {
    /// The commands for those of the `calls` that are `asked`, when the server's clock says `now`.
    pub(super) fn of(
        calls: &'c [&'c Call],
        asked: &[usize],
        prefix: &[u8],
        now: Timestamp,
        naming: Naming,
    ) -> Self {
        let mut pipeline = Pipeline::with_capacity(asked.len() + 1);
        let (mut claims, mut ends) = (Vec::with_capacity(asked.len()), Vec::new());
        for &at in asked {
            match &calls[at].operation {
                Operation::Claim(claim) => {
                    pipeline.add_command(set_if_new(claim, prefix, now));
                    claims.push(at);
                }
                _ => ends.push(at),
            }
        }
        if !claims.is_empty() {
            pipeline.cmd("TIME");
        }
        let ends: Vec<_> = parts(calls, ends).collect();
        for part in &ends {
            let ends: Vec<_> = part.iter().filter_map(|&at| calls[at].end()).collect();
            pipeline.add_command(match ends[..] {
                [only] => end_first(only, prefix, now, naming),
                _ => end_many(&ends, &calls[part[0]].echo, prefix, now, naming),
            });
        }
        Self { calls, now, pipeline, claims, ends }
    }

    pub(super) fn read(self, values: Vec<Value>) -> Came {
        let mut came = Came {
            quick: self.calls.iter().map(|_| Quick::Open).collect(),
            time: None,
            unknown: Vec::new(),
            refusals: Vec::new(),
        };
        let mut values = values.into_iter().map(|value| answer_or_error(Ok(value)));
        let mut next = || values.next().unwrap_or_else(|| Ok(Value::Nil));
        for &at in &self.claims {
            match next() {
                Ok(value) => came.quick[at] = self.calls[at].read_quick(&value, self.now),
                Err(error) => came.refusals.push(error),
            }
        }
        if !self.claims.is_empty() {
            match next() {
                Ok(value) => came.time = time(&value),
                Err(error) => came.refusals.push(error),
            }
            for &at in &self.claims {
                came.quick[at] = std::mem::replace(&mut came.quick[at], Quick::Open).by(came.time, self.now);
            }
        }
        for part in self.ends {
            match next() {
                Ok(reply) => came.record(self.calls, &part, &reply),
                Err(error) if meaning(&error) == Meaning::NoScript => came.unknown.extend(part),
                Err(error) => came.refusals.push(error),
            }
        }
        came
    }
}

impl Came {
    /// All of the `part` were recorded but those whose numbers the script gives.
    fn record(&mut self, calls: &[&Call], part: &[usize], reply: &Value) {
        if let [only] = *part {
            self.quick[only] = calls[only].end().map_or(Quick::Stray, |end| end.read_quick(reply));
            return;
        }
        let open = numbers(reply, calls[part[0]].echo);
        for (number, &at) in (1..).zip(part) {
            match &open {
                Some(open) if open.contains(&number) => {}
                Some(_) => self.quick[at] = Quick::STORED,
                None => self.quick[at] = Quick::Stray,
            }
        }
    }
}

/// The numbers behind an echo.
fn numbers(reply: &Value, echo: Token) -> Option<Vec<usize>> {
    let Value::BulkString(reply) = reply else { return None };
    let numbers = str::from_utf8(reply.strip_prefix(echo.as_bytes())?).ok()?;
    numbers.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

/// The ends by the scripts that record them: of equal lifetimes, and not too many.
fn parts(calls: &[&Call], ends: Vec<usize>) -> impl Iterator<Item = Vec<usize>> {
    let mut left = ends.into_iter().peekable();
    std::iter::from_fn(move || {
        let first = left.next()?;
        let lives = |at: usize| calls[at].end().map(|end| end.lifetime());
        let size = |at: usize| calls[at].end().map_or(0, |end| end.end.body.len());
        let (life, mut bytes) = (lives(first), size(first));
        let mut part = vec![first];
        while part.len() < KEYS
            && let Some(at) = left.next_if(|&at| lives(at) == life && bytes + size(at) <= BYTES)
        {
            bytes += size(at);
            part.push(at);
        }
        Some(part)
    })
}
