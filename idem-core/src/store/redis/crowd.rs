//! Quick calls of many callers that are under way at once: those that come together go out together.
//!
//! Whoever is alone goes by itself. Else a call waits until those who can run now have had their turn: the first of a group starts a
//! task on the store's runtime that sends what all who have come by then have added to one [`Round`]. A group goes its way whoever
//! stops waiting for it, and an error about it leaves all in it open: each then asks by itself, with the same token.
//!
//! A group takes no more than half of those who are under way, so that one half is served while the other is made: else client and
//! server would wait for each other in turns. Small groups do not gain from it.
//!
//! So a call among many costs its commands, a place for its waker, and a look at its reply. By itself it would cost a message to the
//! connection's task, a channel to hear of its reply, and a script.

use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use tokio::runtime::RuntimeFlavor;

use super::ask::Manner;
use super::call::Call;
use super::estimate::here;
use super::link::{Link, Live};
use super::quick::Quick;
use super::round::{Came, Place, Round};
use crate::RecordId;

/// Groups are no larger, so that no caller waits long for others.
const LARGEST: usize = 128;
/// Up to so many go together though it is more than half of all.
const SMALL: usize = 32;

/// Who is asking.
#[derive(Default)]
pub(super) struct Crowd {
    inside: AtomicUsize,
    /// The group that can still be joined. It belongs to those in it, and to the task that will send it.
    group: Mutex<Weak<Group>>,
}

struct Group(Mutex<Progress>);

struct Progress {
    stage: Stage,
    /// By the order in which they came.
    wakers: Vec<Option<Waker>>,
}

enum Stage {
    Gathering(Gathering),
    /// Sent, or about to be.
    UnderWay,
    Heard(Came),
    /// Nothing came of it.
    Over,
}

/// What will be sent.
struct Gathering {
    live: Live,
    sent_at: u64,
    round: Round,
    /// How the ids of its records begin; they are digests.
    ids: Vec<u64>,
}

/// One call's place in a group.
struct Seat {
    group: Arc<Group>,
    number: usize,
    place: Place,
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

    /// How many go together.
    fn most(&self) -> usize {
        self.inside.load(Ordering::Relaxed).div_ceil(2).clamp(SMALL, LARGEST)
    }

    fn last(&self) -> MutexGuard<'_, Weak<Group>> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Group {
    fn new(gathering: Gathering) -> Self {
        let wakers = Vec::with_capacity(16);
        Self(Mutex::new(Progress { stage: Stage::Gathering(gathering), wakers }))
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call, if it can be joined. Two calls about one record do not go together.
    fn join(&self, prefix: &[u8], call: &Call, most: usize) -> Option<(usize, Place)> {
        let mut progress = self.progress();
        let Progress { stage: Stage::Gathering(gathering), wakers } = &mut *progress else { return None };
        let id = begins(&call.id);
        if wakers.len() >= most || gathering.ids.contains(&id) {
            return None;
        }
        let place = gathering.round.add(prefix, call)?;
        gathering.ids.push(id);
        wakers.push(None);
        Some((wakers.len() - 1, place))
    }

    /// Whether it was not sent yet.
    fn is_open(&self) -> bool {
        matches!(self.progress().stage, Stage::Gathering(_))
    }

    /// What is to be sent. Nobody can join any more.
    fn close(&self) -> Option<Gathering> {
        let mut progress = self.progress();
        match mem::replace(&mut progress.stage, Stage::UnderWay) {
            Stage::Gathering(gathering) => Some(gathering),
            other => {
                progress.stage = other;
                None
            }
        }
    }

    fn end(&self, stage: Stage) {
        let mut progress = self.progress();
        // What is left of it may be the last to hold a connection.
        let before = mem::replace(&mut progress.stage, stage);
        let wakers = mem::take(&mut progress.wakers);
        drop(progress);
        drop(before);
        // A waker may poll at once, on this thread.
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

/// The task that sends a group. Where it ends before its time, with its runtime, nobody waits for it in vain.
struct Sender(Option<Arc<Group>>);

impl Sender {
    fn end(mut self, came: Came) {
        if let Some(group) = self.0.take() {
            group.end(Stage::Heard(came));
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if let Some(group) = self.0.take() {
            group.end(Stage::Over);
        }
    }
}

impl Seat {
    fn poll(&self, call: &Call, cx: &Context<'_>) -> Poll<Quick> {
        let mut progress = self.group.progress();
        match &mut progress.stage {
            Stage::Heard(came) => Poll::Ready(came.quick(self.place, call)),
            Stage::Over => Poll::Ready(Quick::Open),
            Stage::Gathering(_) | Stage::UnderWay => {
                match &mut progress.wakers[self.number] {
                    Some(kept) => kept.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl Link {
    /// Asks together with others. Open if nothing came of it.
    pub(super) async fn ask_among(self: &Arc<Self>, prefix: &Arc<[u8]>, call: &Call) -> Quick {
        match self.join(prefix, call) {
            Some(seat) => poll_fn(|cx| seat.poll(call, cx)).await,
            None => Quick::Open,
        }
    }

    /// Adds a call to the group, or to a new one. Not where a connection has to be made first, or the server's time be asked.
    fn join(self: &Arc<Self>, prefix: &[u8], call: &Call) -> Option<Seat> {
        let most = self.crowd.most();
        let mut last = self.crowd.last();
        let mut behind = false;
        if let Some(group) = last.upgrade() {
            if let Some((number, place)) = group.join(prefix, call, most) {
                return Some(Seat { group, number, place });
            }
            behind = group.is_open();
        }
        let live = self.connected()?;
        // Before the time is read that goes into a record: a pause between the two counts.
        let sent_at = here();
        let round = Round::at(live.estimate.now()?);
        let group = Arc::new(Group::new(Gathering { live, sent_at, round, ids: Vec::with_capacity(16) }));
        let (number, place) = group.join(prefix, call, most)?;
        *last = Arc::downgrade(&group);
        drop(last);
        let (link, sender) = (self.clone(), Sender(Some(group.clone())));
        self.runtime.spawn(async move { link.send_group(sender, behind).await });
        Some(Seat { group, number, place })
    }

    async fn send_group(self: &Arc<Self>, sender: Sender, behind: bool) {
        // Where there is one thread, those who can run now come before a task that was just spawned.
        if self.runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            step_back().await;
        }
        if behind {
            // First the task of the group before has its turn, then that of the connection, which writes it.
            step_back().await;
            step_back().await;
        }
        let Some(mut gathered) = sender.0.as_ref().and_then(|group| group.close()) else { return };
        let mut manner = Manner::first();
        let asked = self.ask_round(&mut gathered.live, &mut gathered.round, gathered.sent_at, &mut manner);
        if let Some(Ok(came)) = self.deadline.within(asked).await {
            sender.end(came);
        }
    }
}

/// The first eight bytes of an id.
fn begins(id: &RecordId) -> u64 {
    id.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

/// Lets those run who can run now. On a runtime of several threads, a task that was just spawned would come before most of them.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;
    use crate::machine::Operation;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One that was sent, with so many in it.
    fn under_way(members: usize) -> Arc<Group> {
        Arc::new(Group(Mutex::new(Progress { stage: Stage::UnderWay, wakers: vec![None; members] })))
    }

    #[test]
    fn f22_whose_group_will_not_be_sent_asks_by_itself() {
        let group = under_way(2);
        let sender = Sender(Some(group.clone()));
        let seats = [0, 1].map(|number| Seat { group: group.clone(), number, place: Place::Claim(number) });
        let call = Call::new(RecordId::from_bytes([1; 32]), Operation::Inspect);
        let woken = Arc::<Woken>::default();
        let waker = Waker::from(woken.clone());
        let cx = &mut Context::from_waker(&waker);
        assert!(seats.iter().all(|seat| seat.poll(&call, cx).is_pending()));
        drop(sender);
        assert_eq!(woken.0.load(Ordering::Relaxed), 2);
        assert!(seats.iter().all(|seat| matches!(seat.poll(&call, cx), Poll::Ready(Quick::Open))));
    }

    #[test]
    fn half_of_a_large_crowd_goes_together_and_a_small_one_as_a_whole() {
        let crowd = Crowd::default();
        let all: Vec<_> = (0..20).map(|_| crowd.enter()).collect();
        assert_eq!(crowd.most(), SMALL);
        let more: Vec<_> = (0..80).map(|_| crowd.enter()).collect();
        assert_eq!(crowd.most(), 50);
        drop((all, more));
        assert!(matches!(crowd.enter(), Entered::Alone(_)));
    }
}
