//! Quick commands that go out in one pipeline.

use std::mem;
use std::time::Duration;

use redis::{Cmd, Pipeline, RedisError, Value};

use super::ask::answer_or_error;
use super::call::{Call, Naming, named};
use super::place::{Meaning, meaning};
use super::quick::{End, Quick, millis, seconds, set_if_new, time};
use super::script::{CLAIM, END_MANY, END_QUICK, Script};
use crate::machine::Operation;
use crate::{Timestamp, Token};

/// A script that records ends takes no more of them, so that a server is never busy with one for long.
const KEYS: usize = 128;
/// Nor more bytes, but for a single one.
const BYTES: usize = 1 << 20;

/// A pipeline of quick commands about different records, and whose reply is whose.
pub(super) struct Round {
    /// What the server's time was taken for.
    now: Timestamp,
    /// The commands of claims, until they are sent.
    claims: Pipeline,
    claimed: usize,
    /// By the scripts that record them.
    ends: Vec<Part>,
}

/// Where the reply to a call is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Claim(usize),
    /// In a part, by its number from one on, as scripts count.
    End(usize, usize),
}

/// Ends that one script records: of equal lifetimes, and not too many.
pub(super) struct Part {
    lifetime: Duration,
    /// The token of the first, which comes back with the reply.
    echo: Token,
    keys: Vec<u8>,
    /// How their records begin, and the new ones, one behind the other.
    values: Vec<u8>,
    /// Where these end.
    marks: Vec<(usize, usize)>,
    bytes: usize,
}

/// What came of a round.
pub(super) struct Came {
    now: Timestamp,
    /// The server's time, as it said itself.
    pub(super) time: Option<Timestamp>,
    /// It came too late for grants to count.
    pub(super) slow: bool,
    /// `None` where the server would not do it.
    claims: Vec<Option<Value>>,
    ends: Vec<Said>,
    /// The parts whose script the server does not know.
    pub(super) unknown: Vec<usize>,
    /// What the server would not do.
    pub(super) refusals: Vec<RedisError>,
}

/// What a script said of its part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It was not recorded, or nobody knows.
    Nothing,
    /// All were recorded but those with these numbers.
    AllBut(Vec<usize>),
    Stray,
}

impl Round {
    /// An empty one, when the server's clock says `now`.
    pub(super) fn at(now: Timestamp) -> Self {
        Self { now, claims: Pipeline::new(), claimed: 0, ends: Vec::new() }
    }

    /// Adds a call; `None` if there is no quick command for it.
    pub(super) fn add(&mut self, prefix: &[u8], call: &Call) -> Option<Place> {
        if let Operation::Claim(claim) = &call.operation {
            self.claims.add_command(set_if_new(claim, prefix, self.now));
            self.claimed += 1;
            return Some(Place::Claim(self.claimed - 1));
        }
        let end = call.end()?;
        let room = self.ends.iter().position(|part| part.takes(&end));
        let part = room.unwrap_or_else(|| {
            self.ends.push(Part::of(&end));
            self.ends.len() - 1
        });
        Some(Place::End(part, self.ends[part].add(prefix, end, self.now)))
    }

    /// What it does, for messages.
    pub(super) fn script(&self) -> &'static Script {
        if self.claimed > 0 { &CLAIM } else { &END_MANY }
    }

    /// All commands, once.
    pub(super) fn commands(&mut self, naming: Naming) -> Pipeline {
        let mut pipeline = mem::take(&mut self.claims);
        if self.claimed > 0 {
            pipeline.cmd("TIME");
        }
        for part in &self.ends {
            pipeline.add_command(part.command(self.now, naming));
        }
        pipeline
    }

    /// The commands of these parts alone.
    pub(super) fn commands_of(&self, parts: &[usize], naming: Naming) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(parts.len());
        for &part in parts {
            pipeline.add_command(self.ends[part].command(self.now, naming));
        }
        pipeline
    }

    /// Reads the replies to all commands.
    pub(super) fn read(&self, values: Vec<Value>) -> Came {
        let mut came = Came {
            now: self.now,
            time: None,
            slow: false,
            claims: Vec::with_capacity(self.claimed),
            ends: self.ends.iter().map(|_| Said::Nothing).collect(),
            unknown: Vec::new(),
            refusals: Vec::new(),
        };
        let mut values = values.into_iter();
        for value in values.by_ref().take(self.claimed) {
            let claimed = came.heard(value);
            came.claims.push(claimed);
        }
        if self.claimed > 0 {
            let said = came.heard(values.next().unwrap_or_default());
            came.time = said.as_ref().and_then(time);
        }
        let all: Vec<_> = (0..self.ends.len()).collect();
        self.read_of(&all, values, &mut came);
        came
    }

    /// Reads the replies to the commands of these parts.
    pub(super) fn read_of(&self, parts: &[usize], values: impl Iterator<Item = Value>, came: &mut Came) {
        for (&part, value) in parts.iter().zip(values) {
            match answer_or_error(Ok(value)) {
                Ok(reply) => came.ends[part] = self.ends[part].read(&reply),
                Err(error) if meaning(&error) == Meaning::NoScript => came.unknown.push(part),
                Err(error) => came.refusals.push(error),
            }
        }
    }
}

impl Part {
    /// An empty one, for the first and those that are like it.
    pub(super) fn of(first: &End<'_>) -> Self {
        Self {
            lifetime: first.lifetime(),
            echo: first.end.token,
            keys: Vec::new(),
            values: Vec::new(),
            marks: Vec::new(),
            bytes: 0,
        }
    }

    fn takes(&self, end: &End<'_>) -> bool {
        self.lifetime == end.lifetime() && self.marks.len() < KEYS && self.bytes + end.end.body.len() <= BYTES
    }

    /// Adds an end, and gives its number.
    pub(super) fn add(&mut self, prefix: &[u8], end: End<'_>, now: Timestamp) -> usize {
        self.keys.extend_from_slice(prefix);
        self.keys.extend_from_slice(end.end.id.as_bytes());
        self.values.reserve(192 + end.end.body.len());
        end.put_held(&mut self.values);
        let held = self.values.len();
        end.put_new(&mut self.values, now, now.after(self.lifetime));
        self.marks.push((held, self.values.len()));
        self.bytes += end.end.body.len();
        self.marks.len()
    }

    pub(super) fn command(&self, now: Timestamp, naming: Naming) -> Cmd {
        let count = self.marks.len();
        let size = self.keys.len() + self.values.len() + 128;
        let script = if count == 1 { &END_QUICK } else { &END_MANY };
        let mut command = named(script, naming, 3 * count + 6, size);
        command.arg(count);
        for key in self.keys.chunks_exact(self.keys.len() / count) {
            command.arg(key);
        }
        let until = millis(now.after(self.lifetime));
        if count > 1 {
            command.arg(self.echo.as_bytes()).arg(until).arg(seconds(now));
        }
        let mut begins = 0;
        for &(held, ends) in &self.marks {
            command.arg(&self.values[begins..held]).arg(&self.values[held..ends]);
            begins = ends;
        }
        if count == 1 {
            command.arg(until).arg(seconds(now));
        }
        command
    }

    /// A script for one end answers with how its record began, a script for many with the echo and what is open.
    pub(super) fn read(&self, reply: &Value) -> Said {
        match (reply, &self.marks[..]) {
            (Value::Nil, [_]) => Said::AllBut(vec![1]),
            (Value::BulkString(reply), &[(held, _)]) if *reply == self.values[..held] => {
                Said::AllBut(Vec::new())
            }
            (Value::BulkString(reply), [_, _, ..]) => {
                numbers(reply, self.echo).map_or(Said::Stray, Said::AllBut)
            }
            _ => Said::Stray,
        }
    }
}

impl Came {
    /// What one of its calls came to; asked once for each.
    pub(super) fn quick(&mut self, place: Place, call: &Call) -> Quick {
        match place {
            Place::Claim(at) => match self.claims.get_mut(at).and_then(Option::take) {
                Some(value) => match call.read_quick(&value, self.now).by(self.time, self.now) {
                    Quick::Answer(_) if self.slow => Quick::Open,
                    quick => quick,
                },
                None => Quick::Open,
            },
            Place::End(part, number) => self.ends[part].of(number),
        }
    }

    /// Whether a reply belongs to another call, which makes all on its connection suspect.
    pub(super) fn is_stray(&self) -> bool {
        let answers = |claim: &Option<Value>| matches!(claim, None | Some(Value::Nil | Value::BulkString(_)));
        self.ends.contains(&Said::Stray) || !self.claims.iter().all(answers)
    }

    fn heard(&mut self, value: Value) -> Option<Value> {
        answer_or_error(Ok(value)).map_err(|error| self.refusals.push(error)).ok()
    }

    /// The parts that are to be sent in full.
    pub(super) fn take_unknown(&mut self) -> Vec<usize> {
        mem::take(&mut self.unknown)
    }
}

impl Said {
    /// What it is for the end with this number.
    pub(super) fn of(&self, number: usize) -> Quick {
        match self {
            Self::AllBut(open) if !open.contains(&number) => Quick::STORED,
            Self::AllBut(_) | Self::Nothing => Quick::Open,
            Self::Stray => Quick::Stray,
        }
    }
}

/// The numbers behind an echo.
fn numbers(reply: &[u8], echo: Token) -> Option<Vec<usize>> {
    let numbers = str::from_utf8(reply.strip_prefix(echo.as_bytes())?).ok()?;
    numbers.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Completion;
    use crate::store::redis::script::Dialect;
    use crate::{Body, RecordId};

    const NAMING: Naming = Naming { hash: true, dialect: Dialect { flags: true, time: true } };

    fn now() -> Timestamp {
        Timestamp::from_micros(1 << 50)
    }

    fn end(record: u8, keep: Duration, body: &[u8]) -> Call {
        let id = RecordId::from_bytes([record; 32]);
        Call::new(
            id,
            Operation::Complete(Completion {
                id,
                token: Token::from_bytes([record; 16]),
                fence: 7,
                fingerprint: None,
                body: Body::copy_from(body),
                ttl: Duration::from_secs(60),
                keep,
            }),
        )
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    fn said(bytes: &[u8]) -> Value {
        Value::BulkString(bytes.to_vec())
    }

    #[test]
    fn ends_that_live_equally_long_go_in_one_script_and_others_in_another() {
        let mut round = Round::at(now());
        let calls = [end(1, HOUR, b"a"), end(2, 2 * HOUR, b"b"), end(3, HOUR, b"c")];
        let places: Vec<_> = calls.iter().map(|call| round.add(b"idem:", call).unwrap()).collect();
        assert_eq!(round.commands(NAMING).len(), 2);
        // The first and the third, of which the third is open; the second by itself.
        let echo = [calls[0].echo.as_bytes(), &b" 2"[..]].concat();
        let mut held = Vec::new();
        calls[1].end().unwrap().put_held(&mut held);
        let mut came = round.read(vec![said(&echo), said(&held)]);
        assert!(!came.is_stray());
        let quick: Vec<_> = places.iter().zip(&calls).map(|(&place, call)| came.quick(place, call)).collect();
        assert!(matches!(quick[..], [Quick::Answer(_), Quick::Answer(_), Quick::Open]), "{quick:?}");
    }

    #[test]
    fn a_large_result_goes_in_a_script_of_its_own() {
        let mut round = Round::at(now());
        let large = vec![b'r'; BYTES];
        for (record, body) in [(1, &large[..]), (2, &large[..]), (3, b"small"), (4, b"small")] {
            round.add(b"idem:", &end(record, HOUR, body)).unwrap();
        }
        let scripts: Vec<_> = round.ends.iter().map(|part| part.marks.len()).collect();
        assert_eq!(scripts, [1, 1, 2]);
    }

    #[test]
    fn another_calls_reply_is_told_for_each_that_waits_for_it() {
        let mut round = Round::at(now());
        let calls = [end(1, HOUR, b"a"), end(2, HOUR, b"b")];
        let places: Vec<_> = calls.iter().map(|call| round.add(b"idem:", call).unwrap()).collect();
        let mut came = round.read(vec![said(calls[1].echo.as_bytes())]);
        assert!(came.is_stray());
        for (&place, call) in places.iter().zip(&calls) {
            assert!(matches!(came.quick(place, call), Quick::Stray));
        }
    }

    #[test]
    fn what_no_reply_came_for_is_open() {
        let mut round = Round::at(now());
        let call = end(1, HOUR, b"a");
        let place = round.add(b"idem:", &call).unwrap();
        assert!(matches!(round.read(Vec::new()).quick(place, &call), Quick::Open));
    }
}
