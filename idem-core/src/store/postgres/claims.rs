//! Claims, alone and many at once.

use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::postgres::PgRow;

use super::Inner;
use super::ask::Ask;
use super::row::{Damaged, Said, span};
use crate::machine::{Answer, Change, Claim, Grant, OnLapse, Operation, Record, Verdict, decide};
use crate::{RecordId, StoreError, StoreErrorKind, Timestamp};

/// Rounds of a batch: one, and one more for each set of equal ids that cannot be judged from the answers.
const ROUNDS: usize = 8;
/// Claims in one statement. A greater batch goes in several.
const MOST: usize = 1_000;
/// How often a grant that came late is asked for again.
const RENEWALS: u32 = 2;

const DOING: &str = "claim";

impl Inner {
    pub(super) async fn claim(&self, claim: &Claim) -> Result<Verdict, StoreError> {
        let found = if self.storm.rages() { self.look(claim).await? } else { None };
        let verdict = match found {
            Some(verdict) => verdict,
            None => self.write(claim).await?,
        };
        // All that changed nothing were told by what was found, a message that another attempt has too.
        self.storm.count(!matches!(verdict, Verdict::Claimed(_)));
        Ok(verdict)
    }

    /// Judges a claim by a look, where that changes nothing.
    async fn look(&self, claim: &Claim) -> Result<Option<Verdict>, StoreError> {
        let bind = |ask: Ask| ask.bind(claim.id.as_bytes().as_slice());
        // Nothing found is an answer too, and so is nothing said by a replica, which is told by what it says to the claim itself.
        let read = |rows: &[PgRow]| rows.first().map(Judged::read).transpose().map(Some);
        let found = self.ask(DOING, &self.statements.look, bind, read).await?;
        Ok(found.and_then(|found| found.judge(claim)))
    }

    async fn write(&self, claim: &Claim) -> Result<Verdict, StoreError> {
        let texts = &self.statements;
        let (fresh, new, whole) = if self.waits_for_disk(claim) {
            (&texts.claim_fresh, &texts.claim_new, &texts.claim)
        } else {
            (&texts.claim_fresh_at_once, &texts.claim_new_at_once, &texts.claim_at_once)
        };
        let bind_new = |ask: Ask| bind_new(ask, claim);
        let mut answer = if self.storm.is_calm() {
            let read = |rows: &[PgRow]| rows.first().map(|row| Judged::read_of_fresh(row, claim)).transpose();
            self.ask(DOING, fresh, bind_new, |rows| read(rows).map(Some)).await?
        } else {
            Some(self.ask(DOING, new, bind_new, |rows| Judged::read_of_new(rows, claim)).await?)
        };
        // A claim that is sent again because the first answer came late is one claim to its caller.
        let mut resumed = None;
        for renewals in 0.. {
            let mut verdict = answer.as_ref().and_then(|answer| answer.judge(claim));
            match (&mut verdict, &answer) {
                (Some(Verdict::Claimed(grant)), Some(answer)) => {
                    grant.resumed = *resumed.get_or_insert(grant.resumed);
                    if renewals < RENEWALS && answer.said.waited(claim.lease) {
                        verdict = None;
                    }
                }
                (None, _) if renewals > 0 => break,
                _ => {}
            }
            if let Some(verdict) = verdict {
                return Ok(verdict);
            }
            let read = |rows: &[PgRow]| rows.first().map(Judged::read).transpose();
            answer = Some(self.ask(DOING, whole, |ask| bind(ask, claim), read).await?);
        }
        Err(self.unjudged(&claim.id))
    }

    pub(super) async fn claim_many(&self, claims: &[Claim]) -> Result<Vec<Verdict>, StoreError> {
        let mut verdicts: Vec<Option<Verdict>> = vec![None; claims.len()];
        // Whether a grant that came late was a new one, before it was asked for again.
        let mut late: BTreeMap<usize, Grant> = BTreeMap::new();
        let mut idle = 0;
        loop {
            let round = round(claims, &verdicts);
            if round.is_empty() {
                return Ok(verdicts.into_iter().flatten().collect());
            }
            if idle == ROUNDS {
                let what = format_args!("cannot {DOING}: other sessions were faster each of {ROUNDS} times");
                return Err(self.place.error(StoreErrorKind::Unavailable, what));
            }
            idle += 1;
            for answer in self.claim_round(claims, &round).await? {
                let Some(id) = answer.id else { continue };
                let Some(&index) = round.get(&id) else { continue };
                let claim = &claims[index];
                let mut verdict = answer.judge(claim).ok_or_else(|| self.unjudged(&id))?;
                if let Verdict::Claimed(grant) = &mut verdict {
                    if let Some(first) = late.get(&index) {
                        grant.resumed = first.resumed;
                    } else if answer.said.waited(claim.lease) {
                        late.insert(index, *grant);
                        continue;
                    }
                }
                // To a claim with another payload, the server did not say what is stored.
                let is_whole = !matches!(verdict, Verdict::Mismatch { .. });
                verdicts[index] = Some(verdict);
                idle = 0;
                if let Some(record) = answer.said.record.as_ref().filter(|_| is_whole) {
                    judge_equals(claims, &mut verdicts, index, record, answer.said.now);
                }
            }
        }
    }

    async fn claim_round(
        &self,
        claims: &[Claim],
        round: &BTreeMap<RecordId, usize>,
    ) -> Result<Vec<Judged>, StoreError> {
        let asked: Vec<&Claim> = round.values().map(|&index| &claims[index]).collect();
        let statement = if asked.iter().any(|claim| self.waits_for_disk(claim)) {
            &self.statements.claim_many
        } else {
            &self.statements.claim_many_at_once
        };
        let bind = |ask| bind_many(ask, &asked);
        self.ask(DOING, statement, bind, |rows| {
            rows.iter().map(Judged::read_of_many).collect::<Result<_, _>>().map(Some)
        })
        .await
    }

    /// A grant that is lost with the server's power means what a lapse means: who reruns lapsed messages need not wait.
    fn waits_for_disk(&self, claim: &Claim) -> bool {
        !self.relaxed_claims || claim.must_survive()
    }

    fn unjudged(&self, id: &RecordId) -> StoreError {
        let what = format_args!(
            "record {id:?} was refused to a claim that the protocol grants; its columns are damaged"
        );
        self.place.error(StoreErrorKind::Corrupt, what)
    }
}

/// The first claim of each id that has no verdict, in the order of the ids.
fn round(claims: &[Claim], verdicts: &[Option<Verdict>]) -> BTreeMap<RecordId, usize> {
    let mut round = BTreeMap::new();
    for (index, claim) in claims.iter().enumerate() {
        if verdicts[index].is_none() {
            round.entry(claim.id).or_insert(index);
        }
        if round.len() == MOST {
            break;
        }
    }
    round
}

/// Judges the claims after `index` that have its id by the record that it left, as far as they change nothing.
fn judge_equals(
    claims: &[Claim],
    verdicts: &mut [Option<Verdict>],
    index: usize,
    record: &Record,
    now: Timestamp,
) {
    let id = claims[index].id;
    let later = claims.iter().enumerate().skip(index + 1);
    for (later, claim) in later.filter(|(_, claim)| claim.id == id) {
        match decide(Some(record), &Operation::Claim(claim.clone()), now) {
            (Answer::Claim(verdict), Change::None) => verdicts[later] = Some(verdict),
            _ => return,
        }
    }
}

/// An answer to a claim.
struct Judged {
    said: Said,
    id: Option<RecordId>,
}

impl Judged {
    fn read(row: &PgRow) -> Result<Self, Damaged> {
        Ok(Self { said: Said::read(row)?, id: None })
    }

    /// Of a claim that made its record, which it does not tell.
    fn read_of_fresh(row: &PgRow, claim: &Claim) -> Result<Self, Damaged> {
        Ok(Self { said: Said::read_of_made(row, claim)?, id: None })
    }

    /// Of a claim as if its message were new. `None` if there is no answer yet.
    fn read_of_new(rows: &[PgRow], claim: &Claim) -> Result<Option<Self>, Damaged> {
        let Some(row) = rows.first() else { return Ok(None) };
        let mut said = Said::read(row)?;
        if said.wrote == 1 {
            said.made(claim);
        }
        Ok(said.record.is_some().then_some(Self { said, id: None }))
    }

    fn read_of_many(row: &PgRow) -> Result<Self, Damaged> {
        Ok(Self { said: Said::read(row)?, id: Some(Said::id(row)?) })
    }

    fn judge(&self, claim: &Claim) -> Option<Verdict> {
        if let Some(grant) = self.said.grant() {
            return Some(Verdict::Claimed(grant));
        }
        match decide(self.said.record.as_ref(), &Operation::Claim(claim.clone()), self.said.now) {
            (Answer::Claim(verdict), Change::None) => Some(verdict),
            _ => None,
        }
    }
}

impl Said {
    /// Whether what was written began too long ago to be given out: another session held the row, and its time counted.
    pub(super) fn waited(&self, lease: Duration) -> bool {
        let waited = self.after.since(self.now);
        waited > Duration::from_millis(20) && waited > lease / 8 && !lease.is_zero()
    }
}

fn bind_new(ask: Ask, claim: &Claim) -> Ask {
    ask.bind(claim.id.as_bytes().as_slice())
        .bind(claim.token.as_bytes().as_slice())
        .bind(claim.fingerprint.as_ref().map(|print| print.as_bytes().as_slice()))
        .bind(span(claim.lease))
        .bind(span(claim.keep.max(claim.lease)))
}

fn bind(ask: Ask, claim: &Claim) -> Ask {
    bind_new(ask, claim).bind(claim.on_lapse == OnLapse::Park).bind(most(claim.max_tries))
}

fn bind_many(ask: Ask, claims: &[&Claim]) -> Ask {
    let ids: Vec<&[u8]> = claims.iter().map(|claim| claim.id.as_bytes().as_slice()).collect();
    let tokens: Vec<&[u8]> = claims.iter().map(|claim| claim.token.as_bytes().as_slice()).collect();
    let prints: Vec<Option<&[u8]>> = claims
        .iter()
        .map(|claim| claim.fingerprint.as_ref().map(|print| print.as_bytes().as_slice()))
        .collect();
    let leases: Vec<i64> = claims.iter().map(|claim| span(claim.lease)).collect();
    let keeps: Vec<i64> = claims.iter().map(|claim| span(claim.keep.max(claim.lease))).collect();
    let parks: Vec<bool> = claims.iter().map(|claim| claim.on_lapse == OnLapse::Park).collect();
    let tries: Vec<i32> = claims.iter().map(|claim| most(claim.max_tries)).collect();
    ask.bind(ids).bind(tokens).bind(prints).bind(leases).bind(keeps).bind(parks).bind(tries)
}

/// The column counts up to here.
fn most(tries: u32) -> i32 {
    i32::try_from(tries).unwrap_or(i32::MAX)
}
