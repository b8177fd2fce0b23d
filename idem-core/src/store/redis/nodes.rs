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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::Pipeline;
use redis::cluster_routing::Slot;

use super::ask::{Manner, answer_or_error};
use super::call::{Call, key};
use super::estimate::here;
use super::link::{Link, Live, now};
use super::place::{Meaning, meaning};
use super::replicas::Replicas;
use super::source::Connection;
use crate::machine::{Answer, Verdict};
use crate::{StoreError, Timestamp};

/// How long the calls of a slot go by themselves once one of them was elsewhere. Slots are moved within seconds, as a rule.
const APART: Duration = Duration::from_secs(10);

/// Slots that were elsewhere, and until when their calls go by themselves.
#[derive(Default)]
pub(super) struct Nodes(Mutex<HashMap<Slot, Timestamp>>);

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
            self.runtime.spawn(async move {
                let asked = link.ask_node(live, &prefix, &calls, part, replicas);
                // Who waits for it waits no longer.
                link.deadline.within(asked).await
            })
        });
        let late = || self.place.late(calls[wave[0]].script().doing, self.deadline.limit());
        // All are sent before the first is waited for.
        for part in parts.collect::<Vec<_>>() {
            for (at, answer) in part.await.unwrap_or(Some(Ok(Vec::new()))).ok_or_else(late)?? {
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
            answers[at] = Some(task.await.map_err(|_| late())??);
        }
        Ok(())
    }

    /// Asks one node about all that it has, and hands grants out once its replicas have them. What it does not answer is left out.
    async fn ask_node(
        self: &Arc<Self>,
        mut live: Live,
        prefix: &[u8],
        calls: &[Call],
        mut part: Vec<usize>,
        replicas: Option<Replicas>,
    ) -> Result<Vec<(usize, Answer)>, StoreError> {
        let mut came = Vec::with_capacity(part.len());
        // A replica that has taken over was given no scripts: it is told them once, and has them for all that follows.
        for has_scripts in [true, false] {
            let pipeline = self.part(prefix, calls, &part, has_scripts, replicas);
            let (sent_at, key) = (here(), key(prefix, &calls[part[0]].id));
            let mut values = match live.connection.send_to_node(&pipeline, &key).await {
                Ok(values) => values.into_iter(),
                Err(error) => {
                    live.connection.forget_owners();
                    live.nodes.set_apart(error.redirect_node().and_then(|(_, slot)| Slot::new(slot)));
                    return Ok(came);
                }
            };
            let (mut granted, mut unknown) = (Vec::new(), Vec::new());
            for (at, value) in part.into_iter().zip(values.by_ref()) {
                match answer_or_error(Ok(value)) {
                    Ok(value) => {
                        let answer = self.read(&live, &calls[at], &value, sent_at)?;
                        if matches!(answer, Answer::Claim(Verdict::Claimed(_))) {
                            granted.push(&calls[at]);
                        }
                        came.push((at, answer));
                    }
                    Err(error) if meaning(&error) == Meaning::NoScript => unknown.push(at),
                    Err(_) => {}
                }
            }
            if let Some(replicas) = replicas {
                let waited = answer_or_error(Ok(values.next().unwrap_or_default()));
                self.confirm(prefix, &granted, waited, replicas).await?;
            }
            part = unknown;
            if part.is_empty() {
                break;
            }
        }
        Ok(came)
    }

    /// What one node is sent. One that does not have the scripts is sent each in full with its first call.
    fn part(
        &self,
        prefix: &[u8],
        calls: &[Call],
        part: &[usize],
        has_scripts: bool,
        replicas: Option<Replicas>,
    ) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(part.len() + 1);
        let (mut manner, mut told) = (Manner::first(), HashSet::new());
        for &at in part {
            let hash = has_scripts || !told.insert(calls[at].script().doing);
            pipeline.add_command(self.command(prefix, &calls[at], manner.name(self, hash)));
        }
        if let Some(replicas) = replicas {
            pipeline.add_command(replicas.command());
        }
        pipeline
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
        let slots: Vec<_> = wave.iter().map(|&at| Slot::for_key(key(prefix, &calls[at].id))).collect();
        let owners = connection.owners(&slots).await;
        let apart = self.apart();
        let mut parts: HashMap<_, Vec<usize>> = HashMap::new();
        for ((&at, slot), owner) in wave.iter().zip(slots).zip(owners) {
            if !apart.contains(&slot) {
                // Of a slot whose node is not known, it is found out.
                parts.entry(owner.ok_or(slot)).or_default().push(at);
            }
        }
        parts.into_values().collect()
    }

    fn apart(&self) -> HashSet<Slot> {
        let mut apart = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !apart.is_empty() {
            let now = now();
            apart.retain(|_, until| *until > now);
        }
        apart.keys().copied().collect()
    }

    fn set_apart(&self, slot: Option<Slot>) {
        if let Some(slot) = slot {
            let mut apart = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            apart.insert(slot, now().after(APART));
        }
    }
}
