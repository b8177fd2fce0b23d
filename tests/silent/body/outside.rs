//! What handlers talk to: as small as it can be, with the names that the real crates have.

#![allow(clippy::unused_self, reason = "clients have a `self`")]

use std::fmt::Display;
use std::time::{Duration, SystemTime};

use uuid::Uuid;

pub(super) struct Http;
pub(super) struct Request(String);
pub(super) struct Response {
    pub(super) id: String,
    pub(super) status: u16,
}

impl Http {
    pub(super) fn post(&self, url: impl Display) -> Request {
        Request(url.to_string())
    }
}

impl Request {
    pub(super) fn header(mut self, name: &str, value: impl Display) -> Self {
        self.0 = format!("{}{name}: {value}", self.0);
        self
    }

    pub(super) fn idempotency_key(self, key: impl Display) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(super) fn json(self, body: &serde_json::Value) -> Self {
        self.header("", body)
    }

    pub(super) fn send(self) -> impl Future<Output = Result<Response, idem::Error>> + Send {
        std::future::ready(Ok(Response { id: self.0, status: 200 }))
    }
}

/// A queue's client, as the SDKs have it.
#[derive(Default)]
pub(super) struct SendMessage(Vec<String>);

impl SendMessage {
    pub(super) fn message_body(mut self, body: impl Display) -> Self {
        self.0.push(body.to_string());
        self
    }

    pub(super) fn message_group_id(self, id: impl Display) -> Self {
        self.message_body(id)
    }

    pub(super) fn message_deduplication_id(self, id: impl Display) -> Self {
        self.message_body(id)
    }

    pub(super) fn message_id(self, id: impl Display) -> Self {
        self.message_body(id)
    }

    pub(super) fn correlation_id(self, id: impl Display) -> Self {
        self.message_body(id)
    }

    pub(super) fn send(self) -> impl Future<Output = super::Done> + Send {
        drop(self.0);
        std::future::ready(Ok(()))
    }
}

/// A table.
pub(super) struct Table;

impl Table {
    pub(super) fn insert<R: Send>(&self, row: R) -> impl Future<Output = super::Done> + Send {
        drop(row);
        std::future::ready(Ok(()))
    }

    pub(super) fn key_of(
        &self,
        id: &str,
        now: SystemTime,
    ) -> impl Future<Output = Result<String, idem::Error>> + Send {
        std::future::ready(Ok(format!("{id}{now:?}")))
    }
}

pub(super) fn metric(name: &str, value: Duration) {
    println!("{name} {value:?}");
}

pub(super) fn log(line: impl Display) {
    println!("{line}");
}

/// The id that a name has in a namespace.
pub(super) fn named_id(name: &str) -> Uuid {
    Uuid::from_u128(name.len() as u128)
}

/// As in the crate.
pub(super) struct Ulid(pub(super) u128);

impl Ulid {
    pub(super) fn random(&self) -> u128 {
        self.0
    }
}
