//! What the writing side can be asked for, and what it answers.

use crate::RecordId;
use crate::machine::{Answer, Claim, End, Ended, Operation, Verdict};

/// One piece of work.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all are of the large kind, and each would need one more allocation"
)]
pub(super) enum Work {
    One(RecordId, Operation),
    Claims(Vec<Claim>),
    Ends(Vec<End>),
    /// Delete `left` dead records behind row `after`; `swept` are gone already.
    Sweep {
        after: i64,
        left: usize,
        swept: u64,
    },
    #[cfg(test)]
    Panic,
}

/// The answer.
pub(super) enum Said {
    One(Answer),
    Claims(Vec<Verdict>),
    Ended(Vec<Ended>),
    Swept(u64),
    /// One transaction's share is done, and this is left: others first.
    More(Work),
}

/// Whether an answer has to wait for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A commit that power loss may take back is enough.
    Commit,
    /// The commit must be on the disk.
    Disk,
}

impl Work {
    /// A grant, a renewal or a release that is lost with the power means what a lapse means. A result, a deletion on an operator's
    /// word, and a grant that must not be given twice have to last.
    pub(super) fn wait(&self) -> Wait {
        let lasts = match self {
            Self::One(_, Operation::Claim(claim)) => claim.must_survive(),
            Self::One(_, Operation::Complete(_) | Operation::Fail(_) | Operation::Forget { .. }) => true,
            Self::One(_, Operation::Renew(_) | Operation::Release(_) | Operation::Inspect) => false,
            Self::Claims(claims) => claims.iter().any(Claim::must_survive),
            Self::Ends(ends) => ends.iter().any(|end| end.completion().is_some()),
            Self::Sweep { .. } => false,
            #[cfg(test)]
            Self::Panic => false,
        };
        if lasts { Wait::Disk } else { Wait::Commit }
    }
}
