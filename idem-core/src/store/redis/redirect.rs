//! Commands that follow a record to the node of a cluster that has it.
//!
//! While a slot is being moved, its new node answers who says `ASKING`, which counts for whatever comes next on its connection. Another
//! call's command, on its way there by an old map of the slots, would find no record of what the slot's old node still has, and be
//! granted. So it goes in one pipeline with what asks.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Pipeline, RedisResult, RetryMethod, Value};

use super::cluster::Cluster;
use super::slots::{full, slot_of};
use super::source::behind;
use crate::clock::Clock;
use crate::store::sleep;

/// How often something is sent again in a cluster that has no node for it.
const TRIES: u32 = 8;

impl Cluster {
    /// Sends one command to where its record is.
    pub(super) async fn follow_one(&self, command: &Cmd, once: bool) -> RedisResult<Value> {
        let mut pipeline = Pipeline::with_capacity(1);
        pipeline.add_command(command.clone());
        Ok(self.follow(&pipeline, once).await?.pop().unwrap_or_default())
    }

    /// Sends commands about one record to where it is. If only `once`, not again unless a node said that it had not done it.
    pub(super) async fn follow(&self, commands: &Pipeline, once: bool) -> RedisResult<Vec<Value>> {
        let slot = commands.cmd_iter().next().and_then(slot_of);
        let mut taking_over: Option<Arc<str>> = None;
        for tries in 1.. {
            let asks = taking_over.is_some();
            let owner = match taking_over {
                Some(node) => Ok(node),
                None => self.owner(slot).await,
            };
            let (error, at) = match owner {
                Err(error) => (error, None),
                Ok(at) => match self.send_asking(&at, commands, asks).await {
                    Ok(values) => return Ok(values),
                    Err(error) => (error, Some(at)),
                },
            };
            let may_be_done = at.is_some() && error.code().is_none();
            if tries > TRIES || (once && may_be_done) {
                return Err(error);
            }
            let to = error.redirect_node().zip(at).map(|((node, _), at)| Arc::from(full(node, &at)));
            let is_redirected = to.is_some();
            taking_over = match (error.retry_method(), to) {
                (RetryMethod::MovedRedirect, Some(node)) => {
                    self.moved(slot, node);
                    None
                }
                (RetryMethod::AskRedirect, Some(node)) => Some(node),
                (RetryMethod::NoRetry, _) => return Err(error),
                // For a while its slot has no node, or the node no connection.
                _ => {
                    self.forget();
                    None
                }
            };
            // Twice at once: by an old map to the old node of a slot that is being moved, and on from there.
            if !is_redirected || tries > 2 {
                sleep(&Clock::monotonic(), Duration::from_millis(5 << tries.min(6))).await;
            }
        }
        unreachable!("it ends after some tries")
    }

    async fn send_asking(
        &self,
        address: &Arc<str>,
        commands: &Pipeline,
        asks: bool,
    ) -> RedisResult<Vec<Value>> {
        if !asks {
            return self.send_to(address, commands, 0).await;
        }
        self.send_to(address, &behind("ASKING", commands), 1).await
    }
}
