//! The protocol: each row of its table, each of its invariants, and the faults that a pure function can have.

mod faults;
mod history;
mod inbox;
mod invariants;
mod ledger;
mod operations;
mod table;

use std::time::Duration;

use idem_core::machine::{
    Answer, Change, Claim, Completion, Forgotten, Grant, Operation, Record, Recorded, Released, Renewal,
    Renewed, Snapshot, Verdict, decide,
};
use idem_core::{Body, Fingerprint, OnLapse, RecordId, Timestamp, Token};

const SECOND: Duration = Duration::from_secs(1);

const FIRST: Option<Fingerprint> = Some(Fingerprint::from_bytes([1; 16]));
const OTHER: Option<Fingerprint> = Some(Fingerprint::from_bytes([2; 16]));

const A: Token = Token::from_bytes([0xaa; 16]);
const B: Token = Token::from_bytes([0xbb; 16]);
const C: Token = Token::from_bytes([0xcc; 16]);

fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// A claim with a lease of 30 s, a keep of 1,000 s and three tries.
fn claim(token: Token) -> Claim {
    Claim {
        id: RecordId::from_bytes([0; 32]),
        token,
        fingerprint: FIRST,
        lease: 30 * SECOND,
        keep: 1_000 * SECOND,
        on_lapse: OnLapse::Rerun,
        max_tries: 3,
        durable: false,
    }
}

/// A completion whose result is replayed for 100 s, and whose record lives for 500 s.
fn completion(token: Token, body: &str) -> Completion {
    Completion {
        id: RecordId::from_bytes([0; 32]),
        token,
        fence: 7,
        fingerprint: FIRST,
        body: Body::copy_from(body.as_bytes()),
        ttl: 100 * SECOND,
        keep: 500 * SECOND,
    }
}

/// One record, and the clock of its store.
#[derive(Clone, Debug, Default)]
struct Place {
    record: Option<Record>,
    now: Timestamp,
}

impl Place {
    /// No record, one second after the clock's epoch.
    fn new() -> Self {
        Self { record: None, now: at(1_000_000) }
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    fn apply(&mut self, operation: &Operation) -> (Answer, Change) {
        let (answer, change) = decide(self.record.as_ref(), operation, self.now);
        match &change {
            Change::None => {}
            Change::Put(record) => self.record = Some(record.clone()),
            Change::Remove => self.record = None,
        }
        (answer, change)
    }

    fn claim(&mut self, claim: &Claim) -> Verdict {
        match self.apply(&Operation::Claim(claim.clone())).0 {
            Answer::Claim(verdict) => verdict,
            other => unreachable!("{other:?}"),
        }
    }

    /// Claims what is to be had.
    #[track_caller]
    fn grant(&mut self, claim: &Claim) -> Grant {
        match self.claim(claim) {
            Verdict::Claimed(grant) => grant,
            other => panic!("not granted: {other:?}"),
        }
    }

    fn renew(&mut self, token: Token, lease: Duration) -> Renewed {
        let renewal = Renewal { id: RecordId::from_bytes([0; 32]), token, lease };
        match self.apply(&Operation::Renew(renewal)).0 {
            Answer::Renew(renewed) => renewed,
            other => unreachable!("{other:?}"),
        }
    }

    fn complete(&mut self, completion: &Completion) -> Recorded {
        match self.apply(&Operation::Complete(completion.clone())).0 {
            Answer::Record(recorded) => recorded,
            other => unreachable!("{other:?}"),
        }
    }

    fn fail(&mut self, completion: &Completion) -> Recorded {
        match self.apply(&Operation::Fail(completion.clone())).0 {
            Answer::Record(recorded) => recorded,
            other => unreachable!("{other:?}"),
        }
    }

    fn release(&mut self, token: Token) -> Released {
        match self.apply(&Operation::Release(token)).0 {
            Answer::Release(released) => released,
            other => unreachable!("{other:?}"),
        }
    }

    fn forget(&mut self, force: bool) -> Forgotten {
        match self.apply(&Operation::Forget { force }).0 {
            Answer::Forget(forgotten) => forgotten,
            other => unreachable!("{other:?}"),
        }
    }

    fn inspect(&mut self) -> Option<Snapshot> {
        match self.apply(&Operation::Inspect).0 {
            Answer::Inspect(snapshot) => snapshot,
            other => unreachable!("{other:?}"),
        }
    }

    /// Applies what must change nothing.
    #[track_caller]
    fn unchanged<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.record.clone();
        let answer = ask(self);
        assert_eq!(self.record, before);
        answer
    }
}
