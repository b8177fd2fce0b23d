//! The faults, one each, and what they are made of.

use idem::machine::{Answer, Change, Completion, Operation, Record, State, decide};
use idem::{RecordId, Timestamp};

/// Declares a fault that is a change of one method.
macro_rules! faults {
    ($( $(#[$meta:meta])* $fault:ident { $($method:item)+ } )+) => {
        $(
            $(#[$meta])*
            pub(in crate::broken) struct $fault;
            impl Fault for $fault {
                $($method)+
            }
        )+
    };
}

mod batches;
mod claims;
mod endings;
mod records;

pub(super) use batches::*;
pub(super) use claims::*;
pub(super) use endings::*;
pub(super) use records::*;

/// What `decide` says, with something about it changed.
type Judged = (Answer, Change);

fn held(found: Option<&Record>, now: Timestamp) -> Option<(&Record, Timestamp)> {
    let record = found.filter(|record| now < record.drop_at)?;
    match record.state {
        State::Held { lease_at, .. } => Some((record, lease_at)),
        _ => None,
    }
}

/// Judges as if the operation came from the holder.
fn as_the_holder(found: Option<&Record>, operation: &Operation, now: Timestamp) -> Judged {
    let Some(record) = found else { return decide(found, operation, now) };
    let token = record.token;
    let operation = match operation.clone() {
        Operation::Renew(renewal) => Operation::Renew(idem::machine::Renewal { token, ..renewal }),
        Operation::Complete(completion) => Operation::Complete(Completion { token, ..completion }),
        Operation::Release(_) => Operation::Release(token),
        other => other,
    };
    decide(found, &operation, now)
}

/// Changes the record that would be written.
fn written(judged: Judged, change: impl FnOnce(&mut Record)) -> Judged {
    match judged {
        (answer, Change::Put(mut record)) => {
            change(&mut record);
            (answer, Change::Put(record))
        }
        other => other,
    }
}

fn text(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes).into_owned().into_bytes()
}

fn up_to_nil(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(bytes)
}

fn id_of(bytes: &[u8]) -> RecordId {
    let mut id = [0; 32];
    id[..bytes.len()].copy_from_slice(bytes);
    RecordId::from_bytes(id)
}

fn just_before(now: Timestamp) -> Timestamp {
    Timestamp::from_micros(now.as_micros() - 1)
}
