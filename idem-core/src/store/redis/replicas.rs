//! Claims that count only once replicas have them.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, RedisError, Value, cmd};

use super::call::{Call, withdraw};
use super::link::Link;
use super::script::WITHDRAW;
use crate::join::Join;
use crate::{StoreError, StoreErrorKind};

/// How many replicas must have a grant before it is handed out, and how long to wait for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replicas {
    pub(super) count: u32,
    pub(super) timeout: Duration,
}

impl Replicas {
    /// To be sent in one pipeline with the claims: it speaks of what the same connection wrote, and of nothing else.
    pub(super) fn command(self) -> Cmd {
        let mut wait = cmd("WAIT");
        // Zero would mean for ever.
        wait.arg(self.count).arg(self.timeout.as_millis().max(1));
        wait
    }
}

impl Link {
    /// Whether enough replicas have what was granted. If not, it is not handed out, so it is taken back, and its try does not count;
    /// where that does not arrive, the lease runs out.
    pub(super) async fn confirm(
        self: &Arc<Self>,
        prefix: &[u8],
        granted: &[&Call],
        waited: Result<Value, RedisError>,
        Replicas { count, timeout }: Replicas,
    ) -> Result<(), StoreError> {
        let have = match &waited {
            Ok(Value::Int(have)) => *have,
            _ => 0,
        };
        if granted.is_empty() || have >= i64::from(count) {
            return Ok(());
        }
        // All at once: one after the other, those of a large batch would outlast the deadline, and lapse.
        let taken_back = granted.iter().map(|&call| {
            Box::pin(
                async move { self.send(&WITHDRAW, |naming| withdraw(prefix, call, naming)).await.is_ok() },
            )
        });
        let taken_back = Join::new(taken_back).await.into_iter().all(|is_taken| is_taken);
        let rest = if taken_back { "it was taken back" } else { "it lapses with its lease" };
        Err(match waited {
            Err(error) => self.place.fault("wait for its replicas", error),
            Ok(_) => self.place.error(
                StoreErrorKind::Unavailable,
                format_args!(
                    "cannot claim a message: {have} of {count} replicas had the grant after {timeout:?}, so {rest}. Are its replicas \
                     running, and not behind?"
                ),
            ),
        })
    }
}
