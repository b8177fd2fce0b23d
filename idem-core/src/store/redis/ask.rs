//! One call, until there is an answer or an error.

use std::sync::Arc;

use redis::{Cmd, RedisError, RedisResult, Value};

use super::call::{Call, Naming, Unread};
use super::link::{Link, Live, as_error};
use super::place::{Meaning, meaning};
use super::record::Damage;
use super::script::Script;
use crate::machine::Answer;
use crate::{StoreError, StoreErrorKind};

/// How a call is sent, and what was tried already.
pub(super) struct Manner {
    hash: bool,
    resent: bool,
}

impl Manner {
    pub(super) const fn first() -> Self {
        Self { hash: true, resent: false }
    }

    pub(super) fn naming(&self, link: &Link) -> Naming {
        link.naming(self.hash)
    }

    /// After an error: whether the same call may be sent again, which is safe with the same token.
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
            Meaning::NoFlags if link.dialect().flags => link.leave_out_flags(),
            Meaning::Disconnected | Meaning::Demoted => {
                link.leave(live);
                if self.resent {
                    return Err(link.place.fault(script.doing, error));
                }
                self.resent = true;
            }
            _ => return Err(link.place.fault(script.doing, error)),
        }
        Ok(())
    }
}

impl Link {
    pub(super) fn naming(&self, hash: bool) -> Naming {
        Naming { hash, dialect: self.dialect() }
    }

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

    pub(super) async fn ask(self: &Arc<Self>, prefix: &[u8], call: &Call) -> Result<Answer, StoreError> {
        let (live, value) = self.send(call.script(), |naming| self.command(prefix, call, naming)).await?;
        self.read(&live, call, &value)
    }

    /// Reads a reply. One that belongs to another call makes all others on its connection suspect.
    pub(super) fn read(&self, live: &Live, call: &Call, value: &Value) -> Result<Answer, StoreError> {
        let read = match value {
            Value::BulkString(reply) => call.read(reply),
            _ => Err(Unread::Stray),
        };
        let doing = call.script().doing;
        let id = &call.id;
        read.map_err(|unread| match unread {
            Unread::Stray => {
                self.leave(live);
                let what = format_args!(
                    "cannot {doing}: a reply to another call came, so the connection was given up; whether it was done is unknown"
                );
                self.place.error(StoreErrorKind::Unavailable, what)
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
        })
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
