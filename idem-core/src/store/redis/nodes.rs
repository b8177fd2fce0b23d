//! Batches in a cluster: one pipeline for each node.
//!
//! Which node has which records is known here only to say what goes together. A pipeline that finds some of it elsewhere is not sent
//! there as a whole: at the new node of a slot that is being moved, it would find no record of what is still at the old one. Its calls
//! go one by one, and the cluster's client follows each to where its record is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::cluster_routing::Slot;
use redis::{Pipeline, Value, cmd};

use super::ask::{Manner, answer_or_error};
use super::call::{Call, key};
use super::estimate::here;
use super::link::{Link, Live};
use super::replicas::Replicas;
use super::source::{Connection, text};
use crate::StoreError;
use crate::machine::Answer;

/// The node of each slot, by a number; nothing until it was asked for.
#[derive(Default)]
pub(super) struct Nodes(Mutex<Option<Arc<Map>>>);

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
        // What waits for replicas does so by itself.
        let mut open = wave.to_vec();
        if replicas.is_none() && live.connection.is_followed() {
            let parts = live.nodes.parts(&mut live.connection.clone(), prefix, calls, wave).await;
            let parts = parts.into_iter().map(|part| {
                let (link, live, prefix, calls) = (self.clone(), live.clone(), prefix.clone(), calls.clone());
                self.runtime.spawn(async move { link.ask_node(live, &prefix, &calls, part).await })
            });
            // All are sent before the first is waited for.
            for part in parts.collect::<Vec<_>>() {
                for (at, answer) in part.await.unwrap_or(Ok(Vec::new()))? {
                    answers[at] = Some(answer);
                }
            }
            open.retain(|&at| answers[at].is_none());
        }
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

    /// Asks one node about all that it has. What it does not answer is left out.
    async fn ask_node(
        self: &Arc<Self>,
        mut live: Live,
        prefix: &[u8],
        calls: &[Call],
        part: Vec<usize>,
    ) -> Result<Vec<(usize, Answer)>, StoreError> {
        let mut pipeline = Pipeline::with_capacity(part.len());
        let sent_at = here();
        let mut manner = Manner::first();
        for &at in &part {
            pipeline.add_command(self.command(prefix, &calls[at], manner.naming(self)));
        }
        let Ok(values) = live.connection.send_to_node(pipeline, &key(prefix, &calls[part[0]].id)).await
        else {
            live.nodes.forget();
            return Ok(Vec::new());
        };
        let mut came = Vec::with_capacity(part.len());
        for (at, value) in part.into_iter().zip(values) {
            if let Ok(value) = answer_or_error(Ok(value)) {
                came.push((at, self.read(&live, &calls[at], &value, sent_at)?));
            }
        }
        Ok(came)
    }
}

impl Nodes {
    /// The calls of a wave, by node. Asks the cluster if it has to.
    async fn parts(
        &self,
        connection: &mut Connection,
        prefix: &[u8],
        calls: &[Call],
        wave: &[usize],
    ) -> Vec<Vec<usize>> {
        let known = self.known().clone();
        let map = match known {
            Some(map) => map,
            None => self.learn(connection).await,
        };
        let mut parts: HashMap<_, Vec<usize>> = HashMap::new();
        for &at in wave {
            let slot = Slot::for_key(key(prefix, &calls[at].id));
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
        *self.known() = Some(map.clone());
        map
    }

    /// A slot was not where it had been.
    fn forget(&self) {
        *self.known() = None;
    }

    fn known(&self) -> MutexGuard<'_, Option<Arc<Map>>> {
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
