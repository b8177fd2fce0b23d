//! Quick calls of many callers that are under way at once: those that come together go out together.
//!
//! Whoever is alone goes by itself. Else a call waits until those who can run now have had their turn: the first of a group starts a
//! task on the store's runtime that sends all who have come by then. A group goes its way whoever stops waiting for it, and an
//! error about it leaves all in it open: each then asks by itself, with the same token.

use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;

use tokio::sync::oneshot;

use super::ask::Manner;
use super::call::Call;
use super::link::Link;
use super::quick::Quick;

/// Groups are no larger, so that no caller waits long for others.
const LARGEST: usize = 128;

/// Who is asking.
#[derive(Default)]
pub(super) struct Crowd {
    inside: AtomicUsize,
    /// The group that can still be joined. It belongs to the task that will send it: if its runtime ends, it ends.
    group: Mutex<Weak<Group>>,
}

/// `None` once it was sent.
type Group = Mutex<Option<Vec<Member>>>;

struct Member {
    call: Call,
    hear: oneshot::Sender<Quick>,
}

/// How a call goes, and its place among those that are under way.
pub(super) enum Entered<'c> {
    Alone(Inside<'c>),
    Among(Inside<'c>),
}

/// Leaves when it is dropped.
pub(super) struct Inside<'c>(&'c Crowd);

impl Crowd {
    pub(super) fn enter(&self) -> Entered<'_> {
        let others = self.inside.fetch_add(1, Ordering::Relaxed);
        let inside = Inside(self);
        if others == 0 { Entered::Alone(inside) } else { Entered::Among(inside) }
    }

    /// Adds a call to the group, and says what to send if it is a new one. Two calls about one record do not go together.
    fn join(&self, call: &Call, hear: oneshot::Sender<Quick>) -> Option<Arc<Group>> {
        let member = Member { call: call.clone(), hear };
        let mut last = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = last.upgrade()
            && let Some(members) = &mut *group.lock().unwrap_or_else(PoisonError::into_inner)
            && members.len() < LARGEST
            && members.iter().all(|member| member.call.id != call.id)
        {
            members.push(member);
            return None;
        }
        let mut members = Vec::with_capacity(16);
        members.push(member);
        let group = Arc::new(Mutex::new(Some(members)));
        *last = Arc::downgrade(&group);
        Some(group)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Link {
    /// Asks together with others. Open if nothing came of it.
    pub(super) async fn ask_among(self: &Arc<Self>, prefix: &Arc<[u8]>, call: &Call) -> Quick {
        let (hear, heard) = oneshot::channel();
        if let Some(group) = self.crowd.join(call, hear) {
            let (link, prefix) = (self.clone(), prefix.clone());
            self.runtime.spawn(async move { link.send_group(&prefix, &group).await });
        }
        heard.await.unwrap_or(Quick::Open)
    }

    async fn send_group(self: &Arc<Self>, prefix: &[u8], group: &Group) {
        step_back().await;
        let members = group.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let calls: Vec<_> = members.iter().map(|member| &member.call).collect();
        let mut manner = Manner::first();
        let asked = self.deadline.within(self.ask_quickly(prefix, &calls, &mut manner)).await;
        if let Some(Ok(quick)) = asked {
            for (member, quick) in members.into_iter().zip(quick) {
                // Who went away has no use for it.
                let _ = member.hear.send(quick);
            }
        }
    }
}

/// Lets those run who can run now. A task that was just spawned would come before most of them.
async fn step_back() {
    let mut stepped = false;
    poll_fn(|cx| {
        if mem::replace(&mut stepped, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
