//! Random operations, beside the protocol itself: every answer must be the one that `decide` gives.

use std::collections::HashMap;
use std::time::Duration;

use super::super::checks::checks;
use super::super::fixture::MovesClock;
use super::super::messages::{OTHER_PAYLOAD, PAYLOAD, fresh_id};
use super::super::random::Random;
use super::super::subject::{About, Subject};
use crate::machine::{
    Answer, Change, Claim, Completion, OnLapse, Operation, Record, Renewal, State, Verdict, decide,
};
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// Sets the first seed, to see a failure again.
const SEED: &str = "IDEM_CONFORMANCE_SEED";
/// Sets how many sequences are tried.
const RUNS: &str = "IDEM_CONFORMANCE_RUNS";

/// Sequences in one run of the check: some seconds on a store that waits for a disk.
const DEFAULT_RUNS: u64 = 40;
const STEPS: usize = 50;

/// The clock goes on by no more than this at once: many sequences share it, and none is to see the end of time.
const FARTHEST: Duration = Duration::from_secs(2 * 86_400);

/// Sixteen zero bytes, which are a payload like all others.
const ZEROS: Option<Fingerprint> = Some(Fingerprint::from_bytes([0; 16]));

checks! {
    $ __conformance_clock_model, "clock", MovesClock;


    /// Clause 1: each operation answers and changes what `machine::decide` does on the record found at the store's own now.
    ///
    /// Tries random sequences of operations on a few records. The seed is new each time; a failure names it, and
    /// `IDEM_CONFORMANCE_SEED` repeats it. `IDEM_CONFORMANCE_RUNS` sets how many sequences are tried. Fences may be greater than
    /// those of `decide`, and must grow.
    fn any_sequence_is_answered_as_the_protocol_says(store, clock) {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let seed = number(SEED).unwrap_or_else(fresh_seed);
        for run in 0..number(RUNS).unwrap_or(DEFAULT_RUNS) {
            let seed = seed.wrapping_add(run);
            store.note(format_args!("a sequence begins"), format_args!("{SEED}={seed} {RUNS}=1 repeats it"));
            Run::new(&store, clock, seed).steps();
        }
    }
}

fn fresh_seed() -> u64 {
    let [a, b, c, d, ..] = *Token::fresh().as_bytes();
    u64::from(u32::from_le_bytes([a, b, c, d]))
}

/// One sequence, on records of its own.
struct Run<'r> {
    store: &'r Subject<'r>,
    clock: &'r dyn MovesClock,
    seed: u64,
    random: Random,
    ids: [RecordId; 3],
    tokens: [Token; 4],
    records: HashMap<RecordId, Record>,
    /// The highest fence that each record was ever granted.
    fences: HashMap<RecordId, u64>,
    /// What finished each record.
    endings: HashMap<RecordId, Completion>,
}

impl<'r> Run<'r> {
    fn new(store: &'r Subject<'r>, clock: &'r dyn MovesClock, seed: u64) -> Self {
        Self {
            store,
            clock,
            seed,
            random: Random::new(seed),
            ids: std::array::from_fn(|_| fresh_id()),
            tokens: std::array::from_fn(|_| Token::fresh()),
            records: HashMap::new(),
            fences: HashMap::new(),
            endings: HashMap::new(),
        }
    }

    fn steps(&mut self) {
        for _ in 0..STEPS {
            match self.random.below(20) {
                0..=14 => self.operation(),
                15 => self.batch(),
                16 => {
                    self.store.sweep(1_000);
                }
                17 => {
                    let by = self.duration().min(FARTHEST);
                    self.advance(by);
                }
                _ => self.go_to_an_end(),
            }
        }
        for id in self.ids {
            self.ask(id, &Operation::Inspect);
        }
    }

    fn now(&self) -> Timestamp {
        self.store.store().clock().now()
    }

    fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.store.note("the clock goes on", format_args!("by {by:?}"));
    }

    /// Moves to the next end of something, or to one step before or after.
    fn go_to_an_end(&mut self) {
        let now = self.now();
        let tick = self.clock.tick();
        let mut ends: Vec<_> = self
            .records
            .values()
            .flat_map(ends)
            .filter(|end| *end > now && end.since(now) < FARTHEST)
            .collect();
        ends.sort_unstable();
        if ends.is_empty() {
            return self.advance(tick);
        }
        let to = ends[self.random.below(ends.len().min(3))].since(now);
        let by = match self.random.below(4) {
            0 => to.saturating_sub(tick),
            1 => to + tick,
            _ => to,
        };
        self.advance(by);
    }

    fn duration(&mut self) -> Duration {
        let tick = self.clock.tick();
        match self.random.below(8) {
            0 => Duration::ZERO,
            1 => tick,
            2 => tick * 2,
            3 => Duration::from_millis(1 + self.random.next() % 50),
            4 => Duration::from_secs(86_400),
            5 => Duration::from_secs(100 * 365 * 86_400),
            _ => Duration::from_secs(1 + self.random.next() % 90),
        }
    }

    /// The attempt that wrote last, or any.
    fn token(&mut self, id: RecordId) -> Token {
        match self.records.get(&id) {
            Some(record) if self.random.one_in(2) => record.token,
            _ => self.random.pick(&self.tokens),
        }
    }

    fn claim(&mut self) -> Claim {
        let id = self.random.pick(&self.ids);
        // Mostly one payload, and mostly not by the attempt that wrote last.
        let token = if self.random.one_in(4) { self.token(id) } else { self.random.pick(&self.tokens) };
        Claim {
            id,
            token,
            fingerprint: self.random.pick(&[PAYLOAD, PAYLOAD, PAYLOAD, PAYLOAD, OTHER_PAYLOAD, ZEROS, None]),
            lease: self.duration(),
            keep: self.duration(),
            on_lapse: self.random.pick(&[OnLapse::Rerun, OnLapse::Rerun, OnLapse::Park]),
            max_tries: self.random.pick(&[0, 1, 2, 3, 5, u32::MAX]),
            durable: self.random.one_in(4),
        }
    }

    fn completion(&mut self) -> Completion {
        let id = self.random.pick(&self.ids);
        let len = self.random.pick(&[0, 1, 94, 95, 300, 600]);
        let byte = self.random.next().to_le_bytes()[0];
        let token = self.token(id);
        // An attempt has one payload from its claim to its end, and one end: what it sends again is what it sent, and at once.
        // What a store makes of later or other ones has checks of its own: a cache in front of it cannot tell these apart.
        let (token, fingerprint) = match self.records.get(&id).filter(|record| record.token == token) {
            Some(Record { state: State::Done(kept) | State::Failed(kept), .. }) => {
                match self.endings.get(&id) {
                    Some(sent) if self.now() == kept.done_at => return sent.clone(),
                    _ => (Token::fresh(), None),
                }
            }
            Some(record) => (token, record.fingerprint),
            None => (token, self.random.pick(&[PAYLOAD, OTHER_PAYLOAD, ZEROS, None])),
        };
        Completion {
            id,
            token,
            fence: self.fences.get(&id).copied().unwrap_or(1),
            fingerprint,
            body: Body::from(vec![byte; len]),
            ttl: self.duration(),
            keep: self.duration(),
        }
    }

    fn operation(&mut self) {
        let id = self.random.pick(&self.ids);
        let token = self.token(id);
        match self.random.below(14) {
            0..=4 => {
                let claim = self.claim();
                self.ask(claim.id, &Operation::Claim(claim));
            }
            5..=7 => {
                let completion = self.completion();
                self.ask(completion.id, &Operation::Complete(completion));
            }
            8 => {
                let completion = self.completion();
                self.ask(completion.id, &Operation::Fail(completion));
            }
            9 => {
                let lease = self.duration();
                self.ask(id, &Operation::Renew(Renewal { id, token, lease }));
            }
            10 | 11 => self.ask(id, &Operation::Release(token)),
            12 => {
                let force = self.random.one_in(2);
                self.ask(id, &Operation::Forget { force });
            }
            _ => self.ask(id, &Operation::Inspect),
        }
    }

    fn batch(&mut self) {
        let claims: Vec<_> = (0..self.random.below(7)).map(|_| self.claim()).collect();
        for id in self.ids {
            self.let_fences_grow(id);
        }
        let now = self.now();
        let verdicts = self.store.claim_many(&claims);
        for (claim, verdict) in claims.into_iter().zip(verdicts) {
            self.judge(claim.id, &Operation::Claim(claim), now, &Answer::Claim(verdict));
        }
    }

    /// Asks the store, sometimes twice, and compares.
    fn ask(&mut self, id: RecordId, operation: &Operation) {
        let times = if self.random.one_in(4) { 2 } else { 1 };
        for _ in 0..times {
            self.let_fences_grow(id);
            let now = self.now();
            let asked = format_args!("{operation:?} on {id:?}").to_string();
            let store = self.store;
            match store.try_ask(&asked, |store| send(store, id, operation)) {
                Ok(answer) => self.judge(id, operation, now, &answer),
                Err(error) => store.broken("an answer", &error),
            }
        }
    }

    /// After a loss of its record, a fence is held up by the clock alone: so it is past the last fence when the next one is due.
    fn let_fences_grow(&self, id: RecordId) {
        let now = self.now();
        let gone = self.records.get(&id).is_none_or(|record| record.drop_at <= now);
        let last = self.fences.get(&id).copied().unwrap_or(0);
        if gone && last >= now.as_micros() {
            let tick = self.clock.tick();
            let behind = Timestamp::from_micros(last).since(now);
            let ticks = u32::try_from(behind.as_micros() / tick.as_micros().max(1)).unwrap_or(u32::MAX);
            self.advance(tick.saturating_mul(ticks.saturating_add(1)));
        }
    }

    /// Compares with `decide`, and goes on from the store's own fence.
    fn judge(&mut self, id: RecordId, operation: &Operation, now: Timestamp, answer: &Answer) {
        let (mut expected, change) = decide(self.records.get(&id), operation, now);
        match change {
            Change::None => {}
            Change::Put(mut record) => {
                if let (Answer::Claim(Verdict::Claimed(expected)), Answer::Claim(Verdict::Claimed(found))) =
                    (&mut expected, answer)
                    && !expected.resumed
                {
                    let before = self.fences.get(&id).copied();
                    if before >= Some(found.fence) {
                        self.broken(&format!("a fence above {before:?}"), answer);
                    }
                    expected.fence = found.fence;
                    record.fence = found.fence;
                }
                let highest = self.fences.entry(id).or_default();
                *highest = record.fence.max(*highest);
                self.records.insert(id, record);
                if let Operation::Complete(ending) | Operation::Fail(ending) = operation {
                    self.endings.insert(id, ending.clone());
                }
            }
            Change::Remove => {
                self.records.remove(&id);
            }
        }
        // A cache in front may have answered, and may know its answer to be true for a shorter time.
        if let (
            Answer::Claim(Verdict::Completed { valid_for: expected, skipped, .. }),
            Answer::Claim(Verdict::Completed { valid_for: found, skipped: by_cache, .. }),
        ) = (&mut expected, answer)
        {
            *skipped = *by_cache;
            *expected = (*expected).min(*found);
        }
        if *answer != expected {
            self.broken(&format!("{expected:?}"), answer);
        }
    }

    fn broken(&self, expected: &str, found: &Answer) -> ! {
        let seed = self.seed;
        self.store.broken(&format!("{expected} ({SEED}={seed} {RUNS}=1 repeats it)"), found)
    }
}

fn ends(record: &Record) -> [Timestamp; 2] {
    match &record.state {
        State::Open => [record.drop_at; 2],
        State::Held { lease_at, .. } => [*lease_at, record.drop_at],
        State::Done(kept) | State::Failed(kept) => [kept.body_until, record.drop_at],
    }
}

fn send(store: &dyn crate::Store, id: RecordId, operation: &Operation) -> crate::Reply<Answer> {
    match operation {
        Operation::Claim(claim) => store.claim(claim).map(Answer::Claim),
        Operation::Renew(renewal) => store.renew(renewal).map(Answer::Renew),
        Operation::Complete(completion) => store.complete(completion).map(Answer::Record),
        Operation::Fail(completion) => store.fail(completion).map(Answer::Record),
        Operation::Release(token) => store.release(&id, token).map(Answer::Release),
        Operation::Forget { force } => store.forget(&id, *force).map(Answer::Forget),
        Operation::Inspect => store.inspect(&id).map(Answer::Inspect),
    }
}
