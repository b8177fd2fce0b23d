//! The store under examination: it is asked here, its answers are noted here, and broken clauses are reported here.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use super::fixture::Fixture;
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Grant, Recorded, Released, Renewal, Renewed, Snapshot,
    StateKind, Verdict,
};
use crate::{Body, Reply, Store, StoreError, Timestamp};

/// Operations that a report shows: enough for every check but the random ones.
const SHOWN: usize = 12;

/// How often an operation is sent again when the store did not answer, as the driver would.
const PATIENCE: usize = 20;

/// Which check this is.
#[derive(Clone, Copy)]
pub(super) struct About {
    /// Group and name.
    pub(super) check: &'static str,
    /// The clause that it proves.
    pub(super) clause: &'static str,
}

/// The store, and what was asked of it so far.
pub(super) struct Subject<'f> {
    store: Arc<dyn Store>,
    fixture: &'f dyn Fixture,
    about: About,
    /// Operations and their answers.
    log: Mutex<VecDeque<(String, String)>>,
}

impl<'f> Subject<'f> {
    pub(super) fn new(fixture: &'f dyn Fixture, about: About) -> Self {
        Self { store: fixture.store(), fixture, about, log: Mutex::default() }
    }

    /// The same check on another way to the records.
    pub(super) fn through(&self, store: Arc<dyn Store>) -> Self {
        self.note("from here on", "through another handle");
        Self { store, fixture: self.fixture, about: self.about, log: Mutex::new(self.log().clone()) }
    }

    /// Gives the store back, does `act` while nobody holds it, and takes it again.
    pub(super) fn without_it(self, act: impl FnOnce()) -> Self {
        let Self { store, fixture, about, log } = self;
        drop(store);
        act();
        let subject = Self { store: fixture.store(), fixture, about, log };
        subject.note("then", "closed, and opened again");
        subject
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn log(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to what a report shows.
    pub(super) fn note(&self, operation: impl fmt::Display, answer: impl fmt::Display) {
        let line = (operation.to_string(), answer.to_string());
        let mut log = self.log();
        if log.len() == SHOWN {
            log.pop_front();
        }
        log.push_back(line);
    }

    /// Lets a report begin here.
    pub(super) fn forget_the_log(&self) {
        self.log().clear();
    }

    /// Asks and waits for the reply, the way the fixture says. The store is asked there too: it may need its runtime for that.
    fn wait<T: Send>(&self, ask: impl Fn(&dyn Store) -> Reply<T> + Sync) -> Result<T, StoreError> {
        let mut answer = None;
        {
            let work = pin!(async { answer = Some(ask(&*self.store).await) });
            self.fixture.drive(work);
        }
        answer.unwrap_or_else(|| {
            self.broken("that `Fixture::drive` drives its work to the end", &"it came back before")
        })
    }

    /// Asks and drops the reply, after one look at it or before.
    pub(super) fn abandon<T: Send>(&self, polled: bool, ask: impl Fn(&dyn Store) -> Reply<T> + Sync) {
        let work = pin!(async {
            let mut reply = ask(&*self.store);
            if polled {
                poll_fn(|cx| {
                    let _ = Pin::new(&mut reply).poll(cx);
                    Poll::Ready(())
                })
                .await;
            }
            drop(reply);
        });
        self.fixture.drive(work);
        self.note("an operation", format_args!("its reply was dropped, after a look at it: {polled}"));
    }

    /// Asks, and asks again if the store did not answer.
    pub(super) fn try_ask<T: Send + fmt::Debug>(
        &self,
        operation: &dyn fmt::Display,
        ask: impl Fn(&dyn Store) -> Reply<T> + Sync,
    ) -> Result<T, StoreError> {
        for _ in 1..PATIENCE {
            match self.wait(&ask) {
                Err(error) if error.is_transient() => {
                    self.note(operation, format_args!("{error}; sent again"));
                }
                answer => {
                    match &answer {
                        Ok(answer) => self.note(operation, format_args!("{answer:?}")),
                        Err(error) => self.note(operation, format_args!("{error:?}")),
                    }
                    return answer;
                }
            }
        }
        self.wait(&ask)
    }

    fn ask<T: Send + fmt::Debug>(
        &self,
        operation: &dyn fmt::Display,
        ask: impl Fn(&dyn Store) -> Reply<T> + Sync,
    ) -> T {
        self.try_ask(operation, ask).unwrap_or_else(|error| self.broken("an answer", &error))
    }

    pub(super) fn claim(&self, claim: &Claim) -> Verdict {
        self.ask(&Asked("claim", claim), |store| store.claim(claim))
    }

    /// Claims, and says by which instant.
    pub(super) fn claim_at(&self, claim: &Claim) -> (Timestamp, Verdict) {
        let noted = Mutex::new(Timestamp::ZERO);
        let verdict = self.ask(&Asked("claim_at", claim), |store| {
            let mut asked_at = Timestamp::ZERO;
            let reply = store.claim_at(claim, &mut asked_at);
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = asked_at;
            reply
        });
        (noted.into_inner().unwrap_or_else(PoisonError::into_inner), verdict)
    }

    pub(super) fn claim_many(&self, claims: &[Claim]) -> Vec<Verdict> {
        let operation = format!("claim_many of {}", claims.len());
        let verdicts = self.ask(&operation, |store| store.claim_many(claims));
        if verdicts.len() != claims.len() {
            self.broken(&format!("{} verdicts, one for each claim", claims.len()), &verdicts);
        }
        verdicts
    }

    /// Claims, and must be granted.
    pub(super) fn grant(&self, claim: &Claim) -> Grant {
        match self.claim(claim) {
            Verdict::Claimed(grant) => grant,
            other => self.broken("Verdict::Claimed(_)", &other),
        }
    }

    pub(super) fn renew(&self, claim: &Claim, lease: Duration) -> Renewed {
        let renewal = Renewal { id: claim.id, token: claim.token, lease };
        self.ask(&Asked("renew", &renewal), |store| store.renew(&renewal))
    }

    pub(super) fn complete(&self, completion: &Completion) -> Recorded {
        self.ask(&Asked("complete", completion), |store| store.complete(completion))
    }

    pub(super) fn end_many(&self, ends: &[End]) -> Vec<Ended> {
        let operation = format!("end_many of {}", ends.len());
        let answers = self.ask(&operation, |store| store.end_many(ends));
        if answers.len() != ends.len() {
            self.broken(&format!("{} answers, one for each end", ends.len()), &answers);
        }
        answers
    }

    /// The same, where all are successes.
    pub(super) fn complete_many(&self, completions: &[Completion]) -> Vec<Recorded> {
        let answers = self.end_many(&successes(completions));
        let recorded = answers.iter().map(|answer| match answer {
            Ended::Recorded(recorded) => *recorded,
            other @ Ended::Released(_) => self.broken("Ended::Recorded(_)", other),
        });
        recorded.collect()
    }

    pub(super) fn fail(&self, completion: &Completion) -> Recorded {
        self.ask(&Asked("fail", completion), |store| store.fail(completion))
    }

    pub(super) fn release(&self, claim: &Claim) -> Released {
        let operation = format!("release of {:?} by {:?}", claim.id, claim.token);
        self.ask(&operation, |store| store.release(&claim.id, &claim.token))
    }

    pub(super) fn forget(&self, claim: &Claim, force: bool) -> Forgotten {
        let operation = format!("forget {:?}, force {force}", claim.id);
        self.ask(&operation, |store| store.forget(&claim.id, force))
    }

    pub(super) fn inspect(&self, claim: &Claim) -> Option<Snapshot> {
        self.ask(&format_args!("inspect {:?}", claim.id), |store| store.inspect(&claim.id))
    }

    pub(super) fn sweep(&self, limit: usize) -> u64 {
        self.ask(&format_args!("sweep up to {limit}"), |store| store.sweep(limit))
    }

    /// Inspects a record that must be there, in this state.
    pub(super) fn is(&self, claim: &Claim, state: StateKind) -> Snapshot {
        match self.inspect(claim) {
            Some(snapshot) if snapshot.state == state => snapshot,
            other => self.broken(&format!("a record that is {state:?}"), &other),
        }
    }

    /// Inspects a record that must not be there.
    pub(super) fn is_absent(&self, claim: &Claim) {
        if let Some(snapshot) = self.inspect(claim) {
            self.broken("no record", &snapshot);
        }
    }

    /// Inspects a record that must be as it was `before`, only older.
    pub(super) fn is_unchanged(&self, claim: &Claim, before: &Snapshot) {
        let after = self.inspect(claim);
        let same = after.as_ref().is_some_and(|after| {
            let fixed = |of: &Snapshot| {
                (of.state, of.fence, of.tries, of.fingerprint, of.lease.is_some(), of.done_age.is_some())
            };
            fixed(after) == fixed(before)
                && after.body == before.body
                && after.lease <= before.lease
                && after.done_age >= before.done_age
                && after.first_age >= before.first_age
                && after.ends_in <= before.ends_in
        });
        if !same {
            self.broken(&format!("that nothing changes, so still {before:?}"), &after);
        }
    }

    /// Two values that must be equal; `what` is a noun.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "most are made on the spot, and would need a borrow at each call"
    )]
    pub(super) fn equal<T: PartialEq + fmt::Debug>(&self, what: &str, found: T, expected: T) {
        if found != expected {
            self.broken(&format!("{what}: {expected:?}"), &found);
        }
    }

    /// A statement that must be true of `found`.
    pub(super) fn holds(&self, statement: &str, is_true: bool, found: &dyn fmt::Debug) {
        if !is_true {
            self.broken(statement, found);
        }
    }

    /// A replay that must bring these bytes.
    pub(super) fn brings(&self, found: Option<&Body>, expected: &[u8]) {
        if found.map(Body::as_slice) != Some(expected) {
            let found = found.map(|body| Shown(body));
            self.broken(&format!("the stored bytes, {:?}", Shown(expected)), &found);
        }
    }

    /// Reports that the clause does not hold.
    #[track_caller]
    pub(super) fn broken(&self, expected: &str, found: &dyn fmt::Debug) -> ! {
        self.broken_by(expected, &format_args!("{found:?}"), "")
    }

    /// The same, of a store that breaks it when it is asked a sequence of things.
    #[track_caller]
    pub(super) fn broken_by(&self, expected: &str, found: &dyn fmt::Display, sequence: &str) -> ! {
        let About { check, clause } = self.about;
        let clause = clause.split("\n\n").next().unwrap_or(clause);
        let clause = clause.split_whitespace().collect::<Vec<_>>().join(" ");
        let log = self.log().clone();
        let mut report = format!("the store breaks its contract in `{check}`.\n  clause:   {clause}\n");
        if let Some((operation, _)) = log.back() {
            let _ = writeln!(report, "  at:       {operation}");
        }
        let _ = writeln!(report, "  expected: {expected}\n  came:     {found}\n  after:");
        for (operation, answer) in log {
            let _ = writeln!(report, "    - {operation}: {answer}");
        }
        if !sequence.is_empty() {
            let _ = writeln!(report, "  {}", sequence.trim_end());
        }
        // The lock is free again, and the log whole: other threads may go on reporting.
        panic!("{report}");
    }
}

/// A batch of successes.
pub(super) fn successes(completions: &[Completion]) -> Vec<End> {
    completions.iter().cloned().map(End::Complete).collect()
}

/// An operation in one line of a report.
struct Asked<'o, O>(&'static str, &'o O);

impl<O: fmt::Debug> fmt::Display for Asked<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0, self.1)
    }
}

/// The first bytes of a body, for a report.
struct Shown<'b>(&'b [u8]);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = &self.0[..self.0.len().min(48)];
        write!(f, "{} bytes: \"{}\"", self.0.len(), head.escape_ascii())
    }
}
