//! What a server says of itself, and what that means for records.
//!
//! Managed servers forbid some of it. What cannot be asked for is a warning, and no error.

use std::collections::HashMap;

use redis::{Value, cmd};

use super::place::Place;
use super::source::{Connection, text};
use crate::{StoreError, StoreErrorKind};

/// What was found out.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) mode: Mode,
    pub(super) replica: bool,
    /// It is a replica that has no primary now: the next server in its place may be known soon.
    orphaned: bool,
    loading: bool,
    /// The eviction policy, by node.
    policies: HashMap<String, String>,
    /// Whether it writes an append-only file, where that is known.
    persists: Option<bool>,
    /// The run, by node: another one has begun with what was on its disk, if anything.
    pub(super) runs: HashMap<String, String>,
}

/// What a server is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Alone,
    /// It has some of a cluster's records.
    Cluster,
    /// It knows where a primary is, and keeps no records.
    Sentinel,
}

impl Mode {
    fn of(name: &str) -> Self {
        match name {
            "cluster" => Self::Cluster,
            "sentinel" => Self::Sentinel,
            _ => Self::Alone,
        }
    }
}

/// Asks. `None` if nobody says anything, not even that it is forbidden.
pub(super) async fn ask(connection: &mut Connection) -> Option<Report> {
    let mut report = Report::default();
    let said = connection.ask_primaries(cmd("INFO")).await;
    if said.is_empty() {
        return None;
    }
    for (node, value) in said {
        if let Some(info) = text(&value) {
            report.info(node, &info);
        }
    }
    if report.runs.is_empty() && !connection.is_cluster() {
        report.hello(connection).await;
    }
    if report.policies.is_empty() {
        let mut ask = cmd("CONFIG");
        ask.arg("GET").arg("maxmemory-policy");
        for (node, value) in connection.ask_primaries(ask).await {
            if let Some(policy) = pairs(&value).remove("maxmemory-policy") {
                report.policies.insert(node, policy);
            }
        }
    }
    Some(report)
}

impl Report {
    fn info(&mut self, node: String, info: &str) {
        let fields: HashMap<_, _> = info.lines().filter_map(|line| line.split_once(':')).collect();
        let is = |field, value| fields.get(field) == Some(&value);
        // Valkey has a name of its own for it.
        if let Some(mode) = fields.get("redis_mode").or_else(|| fields.get("server_mode")) {
            self.mode = Mode::of(mode);
        }
        let replica = is("role", "slave");
        self.replica |= replica;
        self.orphaned |= replica && !is("master_link_status", "up");
        self.loading |= is("loading", "1");
        if let Some(policy) = fields.get("maxmemory_policy") {
            self.policies.insert(node.clone(), (*policy).to_owned());
        }
        if let Some(aof) = fields.get("aof_enabled") {
            self.persists = Some(self.persists != Some(false) && *aof == "1");
        }
        if let Some(run) = fields.get("run_id") {
            self.runs.insert(node, (*run).to_owned());
        }
    }

    /// Needs no permission: every client may say hello.
    async fn hello(&mut self, connection: &mut Connection) {
        if let Ok(value) = connection.send(&cmd("HELLO")).await {
            let fields = pairs(&value);
            let is = |field, value| fields.get(field).is_some_and(|found| found == value);
            self.mode = fields.get("mode").map_or(Mode::Alone, |mode| Mode::of(mode));
            self.replica |= is("role", "replica") || is("role", "slave");
        }
    }

    /// Why no store can be opened there. Who was `named` by others that know where the primary is, by Sentinels or a cluster, will be
    /// another server once they have heard of a failover.
    pub(super) fn refusal(&self, place: &Place, named: bool, evicting: bool) -> Option<StoreError> {
        let (kind, why) = self.obstacle(named, evicting)?;
        Some(place.error(kind, format_args!("cannot connect: {why}")))
    }

    fn obstacle(&self, named: bool, evicting: bool) -> Option<(StoreErrorKind, String)> {
        let (kind, why) = if self.mode == Mode::Sentinel {
            let why = "this is a Sentinel, which keeps no records; name the primary with `sentinel(name)`";
            (StoreErrorKind::Misconfigured, why)
        } else if self.replica && (named || self.orphaned) {
            let why = "it is a read-only replica now, and another server is the primary or will be; try again soon, \
                       or give the primary's address if this one is always a replica's";
            (StoreErrorKind::Unavailable, why)
        } else if self.replica {
            let why = "this is a read-only replica, whose records may be old, and its primary is up; give the \
                       address of the primary, or try again if a failover has just moved that";
            (StoreErrorKind::ReadOnly, why)
        } else if self.loading {
            (StoreErrorKind::Unavailable, "it is reading its data from the disk; it will answer soon")
        } else {
            let policy = self.evicting().filter(|_| !evicting)?;
            let why = format!(
                "its `maxmemory-policy` is `{policy}`: it would delete live claims to make room, and messages would run twice; \
                 set it to `noeviction`, or accept that with `allow_eviction()`"
            );
            return Some((StoreErrorKind::Misconfigured, why));
        };
        Some((kind, why.to_owned()))
    }

    /// The policy that may delete records, if there is one.
    fn evicting(&self) -> Option<&str> {
        self.policies.values().find(|policy| *policy != "noeviction").map(String::as_str)
    }

    /// What an operator should know.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.policies.is_empty() {
            warnings.push(
                "`INFO` and `CONFIG GET` are both forbidden, so its `maxmemory-policy` is not known; any but `noeviction` \
                 deletes live claims to make room"
                    .to_owned(),
            );
        }
        if let Some(policy) = self.evicting() {
            warnings.push(format!(
                "its `maxmemory-policy` is `{policy}`: it deletes live claims to make room, and messages run twice; set it \
                 to `noeviction`"
            ));
        }
        if self.persists == Some(false) {
            warnings.push(
                "it writes no append-only file: after a restart, every message that is delivered again runs again; set \
                 `appendonly yes`"
                    .to_owned(),
            );
        }
        if self.replica {
            warnings.push("it is a read-only replica now; another server is the primary".to_owned());
        }
        warnings
    }
}

/// A map, in either protocol's form.
fn pairs(value: &Value) -> HashMap<String, String> {
    match value {
        Value::Map(pairs) => {
            pairs.iter().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
        }
        Value::Array(flat) => {
            flat.chunks_exact(2).filter_map(|pair| Some((text(&pair[0])?, text(&pair[1])?))).collect()
        }
        _ => HashMap::new(),
    }
}
