//! Batches in a cluster: one pipeline for each node.
//!
//! Which node has which records is known here only to say what goes together. A pipeline that finds some of it elsewhere is not sent
//! there as a whole: at the new node of a slot that is being moved, it would find no record of what is still at the old one. Its calls
//! go one by one, each to where its record is, and so do those of that slot for a while.
//!
//! Where one waits for replicas, each pipeline ends with a `WAIT`, which speaks of what that node has written. Where a client of the
//! user's follows redirections, it does send a pipeline on as a whole; so it begins with a command that takes the `ASKING` away, and a
//! node that does not have a slot yet executes nothing for it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::cluster_routing::Slot;
use redis::{Pipeline, Value, cmd};

use super::ask::{Manner, answer_or_error};
use super::call::{Call, key};
use super::estimate::here;
use super::link::{Link, Live, now};
use super::replicas::Replicas;
use super::source::{Connection, text};
use crate::machine::{Answer, Verdict};
use crate::{StoreError, Timestamp};

/// How long the calls of a slot go by themselves once one of them was elsewhere. Slots are moved within seconds, as a rule.
const APART: Duration = Duration::from_secs(10);

/// Which slots go together.
#[derive(Default)]
pub(super) struct Nodes(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The node of each slot, by a number; nothing until it was asked for.
    map: Option<Arc<Map>>,
    /// Slots that were elsewhere, and until when their calls go by themselves.
    apart: HashMap<Slot, Timestamp>,
}

type Map = HashMap<Slot, usize>;

impl Link {
    /// One answer for each call of a wave.
    pub(super) async fn ask_nodes(
        self: &Arc<Self>,
        live: &Live,
        prefix: &Arc<[u8]>,
        calls: &Arc<[Call]>,
        wave: &[usize],
        answers: &mut [Option<Answer>],
        replicas: Option<Replicas>,
    ) -> Result<(), StoreError> {
        let parts = live.nodes.parts(&mut live.connection.clone(), prefix, calls, wave).await;
        let parts = parts.into_iter().map(|part| {
            let (link, live, prefix, calls) = (self.clone(), live.clone(), prefix.clone(), calls.clone());
            self.runtime.spawn(async move { link.ask_node(live, &prefix, &calls, part, replicas).await })
        });
        // All are sent before the first is waited for.
        for part in parts.collect::<Vec<_>>() {
            for (at, answer) in part.await.unwrap_or(Ok(Vec::new()))? {
                answers[at] = Some(answer);
            }
        }
        let open: Vec<_> = wave.iter().copied().filter(|&at| answers[at].is_none()).collect();
        let one_by_one = open.into_iter().map(|at| {
            let (link, prefix, calls) = (self.clone(), prefix.clone(), calls.clone());
            let task = async move {
                match replicas {
                    None => link.ask(&prefix, &calls[at]).await,
                    Some(replicas) => link.ask_confirmed(&prefix, &calls[at], replicas).await,
                }
            };
            (at, self.runtime.spawn(task))
        });
        for (at, task) in one_by_one.collect::<Vec<_>>() {
            let late = |_| Err(self.place.late(calls[at].script().doing, self.deadline.limit()));
            answers[at] = Some(task.await.unwrap_or_else(late)?);
        }
        Ok(())
    }

    /// Asks one node about all that it has, and hands grants out once its replicas have them. What it does not answer is left out.
    async fn ask_node(
        self: &Arc<Self>,
        mut live: Live,
        prefix: &[u8],
        calls: &[Call],
        part: Vec<usize>,
        replicas: Option<Replicas>,
    ) -> Result<Vec<(usize, Answer)>, StoreError> {
        let mut pipeline = Pipeline::with_capacity(part.len() + 1);
        let sent_at = here();
        let mut manner = Manner::first();
        for &at in &part {
            pipeline.add_command(self.command(prefix, &calls[at], manner.naming(self)));
        }
        if let Some(replicas) = replicas {
            pipeline.add_command(replicas.command());
        }
        let mut values = match live.connection.send_to_node(pipeline, &key(prefix, &calls[part[0]].id)).await
        {
            Ok(values) => values.into_iter(),
            Err(error) => {
                live.nodes.forget(error.redirect_node().and_then(|(_, slot)| Slot::new(slot)));
                return Ok(Vec::new());
            }
        };
        let mut came = Vec::with_capacity(part.len());
        let mut granted = Vec::new();
        for (at, value) in part.into_iter().zip(values.by_ref()) {
            if let Ok(value) = answer_or_error(Ok(value)) {
                let answer = self.read(&live, &calls[at], &value, sent_at)?;
                if matches!(answer, Answer::Claim(Verdict::Claimed(_))) {
                    granted.push(&calls[at]);
                }
                came.push((at, answer));
            }
        }
        if let Some(replicas) = replicas {
            let waited = answer_or_error(Ok(values.next().unwrap_or_default()));
            self.confirm(prefix, &granted, waited, replicas).await?;
        }
        Ok(came)
    }
}

impl Nodes {
    /// The calls of a wave, by node, but for those that go by themselves. Asks the cluster if it has to.
    async fn parts(
        &self,
        connection: &mut Connection,
        prefix: &[u8],
        calls: &[Call],
        wave: &[usize],
    ) -> Vec<Vec<usize>> {
        let known = self.known().map.clone();
        let map = match known {
            Some(map) => map,
            None => self.learn(connection).await,
        };
        let apart = self.apart();
        let mut parts: HashMap<_, Vec<usize>> = HashMap::new();
        for &at in wave {
            let slot = Slot::for_key(key(prefix, &calls[at].id));
            if apart.contains(&slot) {
                continue;
            }
            // Of a slot whose node is not known, the client finds it out.
            let node = map.get(&slot).map_or(Err(slot), |&node| Ok(node));
            parts.entry(node).or_default().push(at);
        }
        parts.into_values().collect()
    }

    async fn learn(&self, connection: &mut Connection) -> Arc<Map> {
        let mut ask = cmd("CLUSTER");
        ask.arg("SLOTS");
        let said = connection.send(&ask).await;
        let map = Arc::new(said.ok().as_ref().map(read).unwrap_or_default());
        self.known().map = Some(map.clone());
        map
    }

    fn apart(&self) -> HashSet<Slot> {
        let mut known = self.known();
        if !known.apart.is_empty() {
            let now = now();
            known.apart.retain(|_, until| *until > now);
        }
        known.apart.keys().copied().collect()
    }

    /// Something was not where it had been: this slot, if it is known which.
    fn forget(&self, slot: Option<Slot>) {
        let mut known = self.known();
        known.map = None;
        if let Some(slot) = slot {
            known.apart.insert(slot, now().after(APART));
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads ranges of slots, each with its primary first.
fn read(said: &Value) -> Map {
    let mut map = Map::new();
    let mut names = HashMap::new();
    let Value::Array(ranges) = said else { return map };
    for range in ranges {
        let Value::Array(range) = range else { continue };
        let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = &range[..] else { continue };
        let name: Vec<_> = primary.iter().map(text).collect();
        let next = names.len();
        let node = *names.entry(name).or_insert(next);
        let slots = (*first..=*last).filter_map(|slot| Slot::new(u16::try_from(slot).ok()?));
        map.extend(slots.map(|slot| (slot, node)));
    }
    map
}
