//! An operation on its way to the writer.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::promise::Promised;
use super::work::{Said, Work};
use super::writer::Writer;
use crate::store::may_block;
use crate::{StoreError, StoreErrorKind};

/// The answer to come. It is sent when it is first polled or when it is dropped, whichever is first: so it takes effect in any
/// case, and a thread that blocks for it can do the work itself.
pub(super) struct Pending {
    writer: Arc<Writer>,
    state: State,
}

#[allow(clippy::large_enum_variant, reason = "it lives in the one box that the reply has anyway")]
enum State {
    Unsent(Work),
    Sent(Promised<Result<Said, StoreError>>),
    Ended,
}

impl Pending {
    pub(super) fn new(writer: Arc<Writer>, work: Work) -> Self {
        Self { writer, state: State::Unsent(work) }
    }

    fn unanswered(&self) -> StoreError {
        self.writer.place.error(StoreErrorKind::Unavailable, "its writer ended before it answered")
    }
}

impl Future for Pending {
    type Output = Result<Said, StoreError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut promised = match std::mem::replace(&mut this.state, State::Ended) {
            State::Unsent(work) if may_block() => match this.writer.try_here(work) {
                ControlFlow::Break(answer) => return Poll::Ready(answer),
                ControlFlow::Continue(work) => this.writer.send(work),
            },
            State::Unsent(work) => this.writer.send(work),
            State::Sent(promised) => promised,
            State::Ended => return Poll::Ready(Err(this.unanswered())),
        };
        match Pin::new(&mut promised).poll(cx) {
            Poll::Ready(answer) => Poll::Ready(answer.unwrap_or_else(|| Err(this.unanswered()))),
            Poll::Pending => {
                this.state = State::Sent(promised);
                Poll::Pending
            }
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let State::Unsent(work) = std::mem::replace(&mut self.state, State::Ended) {
            drop(self.writer.send(work));
        }
    }
}
