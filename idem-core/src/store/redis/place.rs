//! The server of a store, and what went wrong with it in words.

use std::fmt;
use std::sync::Arc;

use redis::{ErrorKind, RedisError, RetryMethod};

use crate::{StoreError, StoreErrorKind};

/// What the server is called in messages: its address, and never a password.
#[derive(Clone)]
pub(super) struct Place(Arc<str>);

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an error of the server or the client means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The server does not have the script: it was flushed, or the server was restarted.
    NoScript,
    /// The server is older than 7, and cannot read a script's line of flags.
    NoFlags,
    /// The connection is gone. Whether the command arrived is unknown.
    Disconnected,
    /// What came is no reply: it was cut by the end of the connection, or what answers is no Redis.
    Garbled,
    /// The server has become a replica: another is the primary now.
    Demoted,
    /// The server refuses every command, with what to do about it.
    Useless(StoreErrorKind, &'static str),
    /// Anything else, with what to do about it.
    Other(StoreErrorKind, &'static str),
}

use StoreErrorKind::{Foreign, Full, Misconfigured, Unavailable};

/// Codes at the beginning of an error, or, from a script, in its middle.
const CODES: [(&str, Meaning); 22] = [
    ("NOSCRIPT", Meaning::NoScript),
    ("READONLY", Meaning::Demoted),
    (
        "OOM",
        Meaning::Other(
            Full,
            "it has no memory left; raise its `maxmemory`, or keep records for a shorter time",
        ),
    ),
    ("LOADING", Meaning::Useless(Unavailable, "it is reading its data from the disk; it will answer soon")),
    ("MASTERDOWN", Meaning::Useless(Unavailable, "it is a replica that has lost its primary")),
    (
        "CLUSTERDOWN",
        Meaning::Other(
            Unavailable,
            "its cluster is down: some slots have no node, or nodes cannot reach each other",
        ),
    ),
    ("TRYAGAIN", Meaning::Other(Unavailable, "its slots are being moved")),
    (
        "BUSY",
        Meaning::Useless(Unavailable, "another program's script keeps it busy; `SCRIPT KILL` ends that"),
    ),
    (
        "NOREPLICAS",
        Meaning::Other(Unavailable, "it has fewer replicas than its `min-replicas-to-write` asks for"),
    ),
    ("MISCONF", Meaning::Other(Unavailable, "it cannot write to its disk, and refuses writes until it can")),
    ("UNKILLABLE", Meaning::Other(Unavailable, "another program's script keeps it busy")),
    (
        "WRONGTYPE",
        Meaning::Other(
            Foreign,
            "another program has a value of another type under this key; give the store a prefix of its own",
        ),
    ),
    ("NOAUTH", Meaning::Useless(Misconfigured, "it asks for a password; put it into the URL")),
    ("WRONGPASS", Meaning::Other(Misconfigured, "user or password is wrong; see the URL")),
    (
        "NOPERM",
        Meaning::Other(
            Misconfigured,
            "the user may not do this; idem needs EVALSHA and EVAL, TIME, GET, SET and DEL on its keys",
        ),
    ),
    ("DENIED", Meaning::Useless(Misconfigured, "it is in protected mode and refuses clients of other hosts")),
    ("CROSSSLOT", Meaning::Other(Misconfigured, "it found keys of several slots in one command")),
    ("MOVED", Meaning::Other(Misconfigured, "it is a node of a cluster; open the store with `cluster()`")),
    ("ASK", Meaning::Other(Misconfigured, "it is a node of a cluster; open the store with `cluster()`")),
    ("NOPROTO", Meaning::Other(Misconfigured, "it does not speak the protocol that the URL asks for")),
    // Whoever waits for replicas of a server that becomes one itself.
    ("UNBLOCKED", Meaning::Demoted),
    ("NOGOODSLAVE", Meaning::Other(Unavailable, "no replica can take over")),
];

/// What `error` means.
pub(super) fn meaning(error: &RedisError) -> Meaning {
    let text = error.to_string();
    if text.contains("rror compiling script") || text.contains("Unexpected flag in script shebang") {
        return Meaning::NoFlags;
    }
    let says = |code: &str| {
        error.code() == Some(code)
            // A script's own error: Redis 6 puts the code into the middle.
            || text.split_once(code).is_some_and(|(before, after)| {
                (before.ends_with('-') || before.ends_with(": "))
                    && !after.starts_with(|next: char| next.is_ascii_alphanumeric())
            })
    };
    if let Some((_, meaning)) = CODES.iter().find(|(code, _)| says(code)) {
        return *meaning;
    }
    match error.kind() {
        ErrorKind::AuthenticationFailed => {
            Meaning::Other(Misconfigured, "user or password is wrong; see the URL")
        }
        ErrorKind::InvalidClientConfig if text.contains("TLS") => Meaning::Other(
            Misconfigured,
            "`rediss://` needs TLS; turn on the feature `tokio-rustls-comp` of the crate `redis`",
        ),
        ErrorKind::InvalidClientConfig => Meaning::Other(
            Misconfigured,
            "the URL cannot be used; it is to read `redis://user:password@host:port/database`",
        ),
        ErrorKind::EmptySentinelList => Meaning::Other(Misconfigured, "no Sentinel is named"),
        // Whether they know the name is found out by who asked them.
        ErrorKind::MasterNameNotFoundBySentinel => {
            Meaning::Other(Unavailable, "the Sentinels name no primary that is up")
        }
        ErrorKind::RESP3NotSupported => Meaning::Other(
            Misconfigured,
            "it is older than 6 and does not speak RESP3; leave `protocol=resp3` out of the URL",
        ),
        // It began well: who answers does speak the protocol, and went away.
        ErrorKind::Parse if text.contains("end of input") => Meaning::Disconnected,
        ErrorKind::Parse => Meaning::Garbled,
        ErrorKind::ClusterConnectionNotFound => {
            Meaning::Other(Unavailable, "no node of the cluster can be reached")
        }
        ErrorKind::Io => Meaning::Disconnected,
        _ if matches!(error.retry_method(), RetryMethod::Reconnect) => Meaning::Disconnected,
        _ if text.contains("max number of clients") => {
            Meaning::Useless(Unavailable, "it takes no more clients; raise its `maxclients`, or close some")
        }
        _ if text.contains("unknown command") => Meaning::Other(
            Misconfigured,
            "it does not know scripts; idem needs Redis 6.2 or later, or Valkey",
        ),
        _ => Meaning::Other(Misconfigured, "it refused"),
    }
}

impl Meaning {
    /// The kind, and what to do about it.
    pub(super) const fn advice(self) -> (StoreErrorKind, &'static str) {
        match self {
            Self::NoScript => (Unavailable, "it keeps losing its scripts; who sends `SCRIPT FLUSH`?"),
            Self::NoFlags => {
                (Misconfigured, "it cannot read idem's scripts; idem needs Redis 6.2 or later, or Valkey")
            }
            Self::Disconnected => (
                Unavailable,
                "the connection failed; is it running, does the address lead to it, and does it ask for TLS (`rediss://`)?",
            ),
            // A TLS server closes, or answers with an alert that is no RESP.
            Self::Garbled => (
                Misconfigured,
                "what answers there does not speak Redis' protocol; if it asks for TLS, use `rediss://`",
            ),
            Self::Demoted => (Unavailable, "it is a read-only replica now; another server is the primary"),
            Self::Useless(kind, advice) | Self::Other(kind, advice) => (kind, advice),
        }
    }
}

impl Place {
    pub(super) fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// An error that names the server; `what` goes on after "Redis store at <address>: ".
    pub(super) fn error(&self, kind: StoreErrorKind, what: impl fmt::Display) -> StoreError {
        StoreError::new(kind, format!("Redis store at {}: {what}", self.0))
    }

    /// What went wrong while idem was `doing` something.
    pub(super) fn fault(&self, doing: &str, error: RedisError) -> StoreError {
        let (kind, advice) = meaning(&error).advice();
        self.error(kind, format_args!("cannot {doing}: {advice} ({error})")).because(error)
    }

    /// What went wrong on a connection that worked: whatever it was, the outcome is unknown, and another try can help.
    pub(super) fn lost(&self, doing: &str, error: RedisError) -> StoreError {
        let advice = match meaning(&error) {
            Meaning::Garbled => "its reply was cut",
            other => other.advice().1,
        };
        self.error(Unavailable, format_args!("cannot {doing}: {advice} ({error})")).because(error)
    }

    /// No answer in time.
    pub(super) fn late(&self, doing: &str, limit: std::time::Duration) -> StoreError {
        self.error(
            Unavailable,
            format_args!("cannot {doing}: no answer within {limit:?}; whether it was done is unknown"),
        )
    }
}
