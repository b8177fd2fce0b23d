//! Many calls at once: one pipeline, or in a cluster one for each node.

use std::collections::HashSet;
use std::sync::Arc;

use redis::Pipeline;

use super::ask::{Manner, answer_or_error};
use super::call::Call;
use super::estimate::here;
use super::link::Link;
use super::place::{Meaning, meaning};
use super::replicas::Replicas;
use crate::StoreError;
use crate::machine::{Answer, Verdict};

/// Pipelines are no longer than this, so that a server does not gather replies without end.
const LONGEST: usize = 1_000;

/// After so many flushes in one pipeline, no script is called by its hash any more.
const FLUSHES: u32 = 3;

impl Link {
    /// One answer for each call, in order. Of two calls on one record the second is sent once the first was answered.
    pub(super) async fn ask_all(
        self: &Arc<Self>,
        prefix: &Arc<[u8]>,
        calls: Vec<Call>,
        replicas: Option<Replicas>,
    ) -> Result<Vec<Answer>, StoreError> {
        let calls: Arc<[Call]> = calls.into();
        let mut answers: Vec<Option<Answer>> = vec![None; calls.len()];
        for wave in waves(&calls) {
            for part in wave.chunks(LONGEST) {
                self.ask_wave(prefix, &calls, part, &mut answers, replicas).await?;
            }
        }
        Ok(answers.into_iter().map(|answer| answer.expect("each call is in one wave")).collect())
    }

    async fn ask_wave(
        self: &Arc<Self>,
        prefix: &Arc<[u8]>,
        calls: &Arc<[Call]>,
        wave: &[usize],
        answers: &mut [Option<Answer>],
        replicas: Option<Replicas>,
    ) -> Result<(), StoreError> {
        let live = self.live().await?;
        if !live.connection.is_cluster() {
            let mut manner = Manner::first();
            // A grant that is not there yet on replicas may have to be taken back, which takes a script.
            let quick = replicas.is_none() && self.is_quick() && wave.iter().all(|&at| calls[at].is_quick());
            let open = if quick {
                self.ask_wave_quickly(prefix, calls, wave, answers, &mut manner).await?
            } else {
                wave.to_vec()
            };
            return self.ask_pipeline(prefix, calls, open, answers, replicas, manner).await;
        }
        self.ask_nodes(&live, prefix, calls, wave, answers, replicas).await
    }

    /// Asks without scripts that read the clock, and says what is open after that.
    async fn ask_wave_quickly(
        self: &Arc<Self>,
        prefix: &[u8],
        calls: &[Call],
        wave: &[usize],
        answers: &mut [Option<Answer>],
        manner: &mut Manner,
    ) -> Result<Vec<usize>, StoreError> {
        let asked: Vec<_> = wave.iter().map(|&at| &calls[at]).collect();
        let mut open = Vec::new();
        for (&at, quick) in wave.iter().zip(self.ask_quickly(prefix, &asked, manner).await?) {
            answers[at] = self.settle(prefix, &calls[at], quick).await?;
            if answers[at].is_none() {
                open.push(at);
            }
        }
        Ok(open)
    }

    /// Claims, and waits until replicas have the grant.
    pub(super) async fn ask_confirmed(
        self: &Arc<Self>,
        prefix: &[u8],
        call: &Call,
        replicas: Replicas,
    ) -> Result<Answer, StoreError> {
        let mut answers = [None];
        let alone = std::slice::from_ref(call);
        self.ask_pipeline(prefix, alone, vec![0], &mut answers, Some(replicas), Manner::first()).await?;
        let [answer] = answers;
        Ok(answer.expect("a pipeline that ends well has all answers"))
    }

    /// Sends all in one pipeline, and then again those that the server had no script for.
    async fn ask_pipeline(
        self: &Arc<Self>,
        prefix: &[u8],
        calls: &[Call],
        mut open: Vec<usize>,
        answers: &mut [Option<Answer>],
        replicas: Option<Replicas>,
        mut manner: Manner,
    ) -> Result<(), StoreError> {
        // Whoever flushes scripts may do so between two of these commands, time and again.
        let mut flushed = 0;
        while let Some(&first) = open.first() {
            let mut live = self.live().await?;
            let mut pipeline = Pipeline::with_capacity(open.len());
            let sent_at = here();
            let mut full = HashSet::new();
            for &at in &open {
                // In full once, and the server has it for the others; at last all in full.
                let is_first = full.insert(calls[at].script().doing);
                let hash = flushed == 0 || (!is_first && flushed < FLUSHES);
                pipeline.add_command(self.command(prefix, &calls[at], manner.name(self, hash)));
            }
            if let Some(replicas) = replicas {
                pipeline.add_command(replicas.command());
            }
            let script = calls[first].script();
            let values = match live.connection.send_all(&pipeline).await {
                Ok(values) => values,
                Err(error) => {
                    manner.after(self, &live, script, error)?;
                    continue;
                }
            };
            live.heard();
            let mut again = Vec::new();
            let mut trouble = None;
            let mut unknown_script = false;
            let mut granted = Vec::new();
            let mut values = values.into_iter();
            for at in open {
                match answer_or_error(Ok(values.next().unwrap_or_default())) {
                    Ok(value) => {
                        let answer = self.read(&live, &calls[at], &value, sent_at)?;
                        if matches!(answer, Answer::Claim(Verdict::Claimed(_))) {
                            granted.push(&calls[at]);
                        }
                        answers[at] = Some(answer);
                    }
                    Err(error) => {
                        again.push(at);
                        if meaning(&error) == Meaning::NoScript {
                            unknown_script = true;
                        } else {
                            trouble.get_or_insert(error);
                        }
                    }
                }
            }
            if let Some(replicas) = replicas {
                let waited = answer_or_error(Ok(values.next().unwrap_or_default()));
                self.confirm(prefix, &granted, waited, replicas).await?;
            }
            flushed += u32::from(unknown_script);
            if let Some(error) = trouble {
                manner.after(self, &live, script, error)?;
            }
            open = again;
        }
        Ok(())
    }
}

/// The calls by how often their record came before: first all that are first on their records, then all that are second.
fn waves(calls: &[Call]) -> Vec<Vec<usize>> {
    let mut waves = Vec::new();
    let mut left: Vec<usize> = (0..calls.len()).collect();
    while !left.is_empty() {
        let mut seen = HashSet::with_capacity(left.len());
        let (wave, later) = left.into_iter().partition(|&at| seen.insert(calls[at].id));
        waves.push(wave);
        left = later;
    }
    waves
}
