//! One operation as a command, and its reply as an answer.

use std::io::Write;
use std::time::Duration;

use redis::{Cmd, RedisWrite};

use super::record::{self, Damage, LAST};
use super::script::{Dialect, Script, WITHDRAW};
use crate::clock::micros;
use crate::machine::{Answer, Change, Claim, OnLapse, Operation, decide};
use crate::{Fingerprint, RecordId, Timestamp, Token};

/// One operation on one record.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) id: RecordId,
    /// Comes back with the reply, which is thereby known to be this call's.
    pub(super) echo: Token,
    pub(super) operation: Operation,
}

/// How a script is named to the server.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    /// By its hash, or in full: then the server has it from then on.
    pub(super) hash: bool,
    pub(super) dialect: Dialect,
}

/// Why a reply is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It belongs to another call: the connection has mixed them up.
    Stray,
    /// The value is no record.
    Damaged(Damage),
    /// The script did not do what the protocol says.
    Disagrees,
}

impl Call {
    pub(super) fn new(id: RecordId, operation: Operation) -> Self {
        let echo = match &operation {
            Operation::Claim(claim) => claim.token,
            Operation::Renew(renewal) => renewal.token,
            Operation::Complete(completion) | Operation::Fail(completion) => completion.token,
            Operation::Release(token) => *token,
            Operation::Forget { .. } | Operation::Inspect => Token::fresh(),
        };
        Self { id, echo, operation }
    }

    pub(super) fn script(&self) -> &'static Script {
        Script::of(&self.operation)
    }

    pub(super) fn command(&self, prefix: &[u8], naming: Naming) -> Cmd {
        let mut command = begin(self.script(), prefix, &self.id, naming);
        match &self.operation {
            Operation::Claim(claim) => {
                command
                    .arg(&who(&claim.token, claim.fingerprint.as_ref())[..])
                    .arg(whole(claim.lease))
                    .arg(whole(claim.keep.max(claim.lease)))
                    .arg(claim.max_tries)
                    .arg(parks(claim));
            }
            Operation::Complete(end) | Operation::Fail(end) => {
                command
                    .arg(&who(&end.token, end.fingerprint.as_ref())[..])
                    .arg(if matches!(self.operation, Operation::Complete(_)) { 2 } else { 3 })
                    .arg(end.fence)
                    .arg(whole(end.ttl))
                    .arg(whole(end.keep.max(end.ttl)))
                    .arg(end.body.as_slice());
            }
            Operation::Renew(renewal) => {
                command.arg(renewal.token.as_bytes()).arg(whole(renewal.lease));
            }
            Operation::Release(token) => {
                command.arg(token.as_bytes());
            }
            Operation::Forget { force } => {
                command.arg(self.echo.as_bytes()).arg(u8::from(*force));
            }
            Operation::Inspect => {
                command.arg(self.echo.as_bytes());
            }
        }
        command
    }

    /// Reads a reply: one letter (a capital if the script wrote), the server's now, the echo, and the record as it was found.
    ///
    /// What the answer is, `decide` says; the script only had to find out whether to write, and both must have come to the same.
    ///
    /// Comes with that now.
    pub(super) fn read(&self, reply: &[u8]) -> Result<(Answer, Timestamp), Unread> {
        let mut rest = reply;
        let cut = |_| Unread::Stray;
        let [letter] = record::take(&mut rest).map_err(cut)?;
        let now = record::time(&mut rest).map_err(cut)?;
        let echo: [u8; 16] = record::take(&mut rest).map_err(cut)?;
        let wrote = letter.is_ascii_uppercase();
        if echo != *self.echo.as_bytes() || letter.to_ascii_lowercase() != self.letter() {
            return Err(Unread::Stray);
        }
        let found = if rest.is_empty() { None } else { Some(record::read(rest).map_err(Unread::Damaged)?) };
        let (answer, change) = decide(found.as_ref(), &self.operation, now);
        if wrote == matches!(change, Change::None) {
            return Err(Unread::Disagrees);
        }
        Ok((answer, now))
    }

    const fn letter(&self) -> u8 {
        match self.operation {
            Operation::Claim(_) => b'c',
            Operation::Renew(_) => b'n',
            Operation::Complete(_) | Operation::Fail(_) => b'e',
            Operation::Release(_) => b'r',
            Operation::Forget { .. } => b'f',
            Operation::Inspect => b'i',
        }
    }
}

/// Takes back the grant of a claim that was not handed out.
pub(super) fn withdraw(prefix: &[u8], claim: &Call, naming: Naming) -> Cmd {
    let mut command = begin(&WITHDRAW, prefix, &claim.id, naming);
    command.arg(claim.echo.as_bytes());
    command
}

/// The key of a record.
pub(super) fn key(prefix: &[u8], id: &RecordId) -> Vec<u8> {
    let mut key = Vec::with_capacity(prefix.len() + 32);
    key.extend_from_slice(prefix);
    key.extend_from_slice(id.as_bytes());
    key
}

/// Adds the key of a record to a command.
pub(super) fn put_key(command: &mut Cmd, prefix: &[u8], id: &RecordId) {
    let mut argument = command.writer_for_next_arg();
    for bytes in [prefix, id.as_bytes()] {
        argument.write_all(bytes).expect("a command takes all bytes");
    }
}

/// The beginning of a script's call.
pub(super) fn begin(script: &'static Script, prefix: &[u8], id: &RecordId, naming: Naming) -> Cmd {
    let mut command = named(script, naming, 10, 256);
    command.arg(1);
    put_key(&mut command, prefix, id);
    command
}

/// The same, up to the keys, with room for so many arguments and bytes in all.
pub(super) fn named(script: &'static Script, naming: Naming, arguments: usize, bytes: usize) -> Cmd {
    let (name, script) = if naming.hash {
        ("EVALSHA", script.hash(naming.dialect))
    } else {
        ("EVAL", script.text(naming.dialect))
    };
    let mut command = Cmd::with_capacity(arguments, bytes + script.len());
    command.arg(name).arg(script);
    command
}

/// Token and fingerprint in one: as they lie in the record.
fn who(token: &Token, fingerprint: Option<&Fingerprint>) -> Vec<u8> {
    let mut who = token.as_bytes().to_vec();
    if let Some(fingerprint) = fingerprint {
        who.extend_from_slice(fingerprint.as_bytes());
    }
    who
}

fn parks(claim: &Claim) -> u8 {
    u8::from(claim.on_lapse == OnLapse::Park)
}

/// Microseconds, as many as Lua can count.
fn whole(duration: Duration) -> u64 {
    micros(duration).min(LAST)
}
