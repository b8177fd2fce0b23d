//! One call, until there is an answer or an error.

use std::sync::Arc;

use redis::{Cmd, RedisError, RedisResult, Value};

use super::call::{Call, Naming, Unread, withdraw};
use super::crowd::Entered;
use super::estimate::{here, is_slow};
use super::link::{Link, Live, as_error};
use super::place::{Meaning, meaning};
use super::quick::Quick;
use super::record::Damage;
use super::round::{Came, Place, Round};
use super::script::{Script, WITHDRAW};
use super::source::Connection;
use crate::machine::Answer;
use crate::{StoreError, StoreErrorKind};

/// How a call is sent, and what was tried already.
pub(super) struct Manner {
    hash: bool,
    again: Again,
    /// Whether it was sent with the scripts' lines of flags.
    flags: bool,
}

/// Whether something is sent again that failed with its connection, so that nobody knows if it was done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Once,
    /// It was already.
    Never,
    /// Once, and only what the server refused.
    Refused,
}

impl Manner {
    pub(super) const fn first() -> Self {
        Self { hash: true, again: Again::Once, flags: false }
    }

    /// For what is not sent again once it may have been done.
    const fn once() -> Self {
        Self { again: Again::Refused, ..Self::first() }
    }

    pub(super) fn naming(&mut self, link: &Link) -> Naming {
        self.name(link, self.hash)
    }

    /// The same, where a pipeline says what is sent in full.
    pub(super) fn name(&mut self, link: &Link, hash: bool) -> Naming {
        let dialect = link.dialect();
        self.flags = dialect.flags;
        Naming { hash, dialect }
    }

    /// After an error: whether the same call may be sent again, which is safe with the same token, or if the server refused it.
    pub(super) fn after(
        &mut self,
        link: &Link,
        live: &Live,
        script: &Script,
        error: RedisError,
    ) -> Result<(), StoreError> {
        match meaning(&error) {
            // In full; the server has it from then on.
            Meaning::NoScript if self.hash => self.hash = false,
            Meaning::NoFlags if self.flags => link.leave_out_flags(),
            found @ (Meaning::Disconnected | Meaning::Garbled | Meaning::Demoted) => {
                // A cluster has left that node already, and the others are well.
                if !matches!(live.connection, Connection::Cluster(_)) {
                    link.leave(live);
                }
                if self.again == Again::Never || (self.again == Again::Refused && found != Meaning::Demoted) {
                    return Err(link.place.lost(script.doing, error));
                }
                self.again = Again::Never;
            }
            // The client followed it as often as it does.
            _ if live.connection.is_cluster() && matches!(error.code(), Some("MOVED" | "ASK")) => {
                let what = format!("cannot {}: its slots are being moved ({error})", script.doing);
                return Err(link.place.error(StoreErrorKind::Unavailable, what).because(error));
            }
            _ => return Err(link.place.fault(script.doing, error)),
        }
        Ok(())
    }
}

impl Link {
    /// The command of a call.
    pub(super) fn command(&self, prefix: &[u8], call: &Call, naming: Naming) -> Cmd {
        let mut command = call.command(prefix, naming);
        if let Some(clock) = &self.clock {
            let now = clock.now().as_micros();
            command.arg(now / 1_000_000).arg(now % 1_000_000);
        }
        command
    }

    /// Sends what `command` makes of the manner until the server has answered it.
    pub(super) async fn send(
        self: &Arc<Self>,
        script: &'static Script,
        command: impl Fn(Naming) -> Cmd + Send + Sync,
    ) -> Result<(Live, Value), StoreError> {
        let mut manner = Manner::first();
        loop {
            let mut live = self.live().await?;
            let sent = live.connection.send(&command(manner.naming(self))).await;
            match answer_or_error(sent) {
                Ok(value) => {
                    live.heard();
                    return Ok((live, value));
                }
                Err(error) => manner.after(self, &live, script, error)?,
            }
        }
    }

    /// The answer to a call.
    ///
    /// What is awaited here goes into every reply that is waited for, and is moved with it: what is large or rare is in a box.
    pub(super) async fn ask(self: &Arc<Self>, prefix: &Arc<[u8]>, call: &Call) -> Result<Answer, StoreError> {
        let mut manner = if call.is_repeatable() { Manner::first() } else { Manner::once() };
        if self.is_quick() && call.is_quick() {
            let quick = match self.crowd.enter() {
                Entered::Alone(_inside) => Box::pin(self.ask_alone(prefix, call, &mut manner)).await?,
                Entered::Among(_inside) => self.ask_among(prefix, call).await,
            };
            if let Quick::Answer(answer) = quick {
                return Ok(answer);
            }
            return Box::pin(self.ask_after(prefix, call, quick, manner)).await;
        }
        Box::pin(self.ask_by_script(prefix, call, manner)).await
    }

    /// After a quick command.
    async fn ask_after(
        self: &Arc<Self>,
        prefix: &[u8],
        call: &Call,
        quick: Quick,
        manner: Manner,
    ) -> Result<Answer, StoreError> {
        match self.settle(prefix, call, quick).await? {
            Some(answer) => Ok(answer),
            None => self.ask_by_script(prefix, call, manner).await,
        }
    }

    async fn ask_by_script(
        self: &Arc<Self>,
        prefix: &[u8],
        call: &Call,
        mut manner: Manner,
    ) -> Result<Answer, StoreError> {
        loop {
            let mut live = self.live().await?;
            let sent_at = here();
            let command = self.command(prefix, call, manner.naming(self));
            let sent = if call.is_repeatable() {
                live.connection.send(&command).await
            } else {
                live.connection.send_once(&command).await
            };
            match answer_or_error(sent) {
                Ok(value) => return self.read(&live, call, &value, sent_at),
                Err(error) => manner.after(self, &live, call.script(), error)?,
            }
        }
    }

    /// Sends the quick commands of all calls at once. What went wrong with any of them leaves it open: its script will be told.
    pub(super) async fn ask_quickly(
        self: &Arc<Self>,
        prefix: &[u8],
        calls: &[&Call],
        manner: &mut Manner,
    ) -> Result<Vec<Quick>, StoreError> {
        let mut live = self.live().await?;
        // Before the time is read that goes into a record: a pause between the two counts.
        let sent_at = here();
        let Some(now) = live.estimate.now() else { return Ok(calls.iter().map(|_| Quick::Open).collect()) };
        let mut round = Round::at(now);
        let places: Vec<_> = calls.iter().map(|call| round.add(prefix, call)).collect();
        let mut came = self.ask_round(&mut live, &mut round, sent_at, manner).await?;
        let quick = |(place, &call): (Option<Place>, &&Call)| {
            place.map_or(Quick::Open, |place| came.quick(place, call))
        };
        Ok(places.into_iter().zip(calls).map(quick).collect())
    }

    /// Sends a round that was begun at `sent_at`, and again in full what the server has no script for.
    pub(super) async fn ask_round(
        self: &Arc<Self>,
        live: &mut Live,
        round: &mut Round,
        sent_at: u64,
        manner: &mut Manner,
    ) -> Result<Came, StoreError> {
        let mut came = match live.connection.send_all(&round.commands(manner.name(self, true))).await {
            Ok(values) => round.read(values),
            Err(error) => {
                manner.after(self, live, round.script(), error)?;
                return Ok(round.read(Vec::new()));
            }
        };
        live.heard();
        if let Some(time) = came.time {
            live.estimate.learn(time, sent_at);
        }
        came.slow = is_slow(sent_at);
        let unknown = came.take_unknown();
        if !unknown.is_empty() {
            let in_full = round.commands_of(&unknown, manner.name(self, false));
            match live.connection.send_all(&in_full).await {
                Ok(values) => round.read_of(&unknown, values.into_iter(), &mut came),
                Err(error) => manner.after(self, live, round.script(), error)?,
            }
        }
        came.refusals.iter().for_each(|error| self.note_refusal(error));
        if came.is_stray() {
            self.leave(live);
        }
        Ok(came)
    }

    /// The answer to a quick command, or none if the script has to be asked.
    pub(super) async fn settle(
        self: &Arc<Self>,
        prefix: &[u8],
        call: &Call,
        quick: Quick,
    ) -> Result<Option<Answer>, StoreError> {
        match quick {
            Quick::Answer(answer) => Ok(Some(answer)),
            Quick::Open => Ok(None),
            Quick::Untimely => {
                // Its fence may be lower than one that was given before.
                self.send(&WITHDRAW, |naming| withdraw(prefix, call, naming)).await?;
                Ok(None)
            }
            Quick::Stray => Err(self.stray(call)),
        }
    }

    fn stray(&self, call: &Call) -> StoreError {
        let what = format!(
            "cannot {}: a reply to another call came, so the connection was given up; whether it was done is unknown",
            call.script().doing
        );
        self.place.error(StoreErrorKind::Unavailable, what)
    }

    /// Reads a reply. One that belongs to another call makes all others on its connection suspect.
    pub(super) fn read(
        &self,
        live: &Live,
        call: &Call,
        value: &Value,
        sent_at: u64,
    ) -> Result<Answer, StoreError> {
        live.heard();
        let read = match value {
            Value::BulkString(reply) => call.read(reply),
            _ => Err(Unread::Stray),
        };
        let doing = call.script().doing;
        let id = &call.id;
        let (answer, now) = read.map_err(|unread| match unread {
            Unread::Stray => {
                self.leave(live);
                self.stray(call)
            }
            Unread::Damaged(Damage::Foreign) => self.place.error(
                StoreErrorKind::Foreign,
                format_args!(
                    "cannot {doing}: the value under the key of record {id:?} is another program's; give the store a prefix of its own"
                ),
            ),
            Unread::Damaged(Damage::Cut) => self.place.error(
                StoreErrorKind::Corrupt,
                format_args!("cannot {doing}: record {id:?} is damaged; `DEL` its key once a person has looked at it"),
            ),
            Unread::Disagrees => self.place.error(
                StoreErrorKind::Corrupt,
                format_args!("cannot {doing}: the script and the protocol disagree about record {id:?}; this is a fault of idem's"),
            ),
        })?;
        live.estimate.learn(now, sent_at);
        Ok(answer)
    }
}

/// Errors of the server come as values too.
pub(super) fn answer_or_error(sent: RedisResult<Value>) -> Result<Value, RedisError> {
    let value = sent?;
    match value {
        Value::ServerError(_) => Err(as_error(value).expect("this value is an error")),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::RecordId;
    use crate::machine::Operation;
    use crate::store::redis::place::Place;
    use crate::store::redis::source::Source;

    /// It is moved several times on its way into a reply: kilobytes were six in ten of a call's instructions.
    #[test]
    fn what_is_awaited_for_a_reply_is_small() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let source = Source::One(redis::Client::open("redis://127.0.0.1").unwrap());
        let limit = Duration::from_secs(3);
        let link =
            Link::new(source, Place::new("a server"), runtime.handle().clone(), limit, true, true, None);
        let (link, prefix) = (Arc::new(link), Arc::from(&b"idem:"[..]));
        let call = Call::new(RecordId::from_bytes([1; 32]), Operation::Inspect);
        let size = size_of_val(&link.ask(&prefix, &call));
        assert!(size <= 400, "{size} bytes");
    }
}
