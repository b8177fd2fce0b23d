//! How the record of a key is found.

use rusqlite::{Connection, Row};

use super::row::{self, Glance, RowError};
use super::tail::Keys;
use crate::machine::Record;
use crate::store::sqlite_record::row::Found;
use crate::store::sqlite_record::{Place, statements};
use crate::{RecordId, StoreError};

/// One statement, as it is asked by the key alone where the table has an index of its own, of a row, and of the row that the index
/// names.
pub(super) struct ByKey {
    pub(super) unique: &'static str,
    pub(super) at: &'static str,
    pub(super) indexed: &'static str,
}

impl ByKey {
    /// The one to ask, of a key that is in row `at` as far as that is known.
    pub(super) fn text(&self, keys: &Keys, at: Option<i64>) -> &'static str {
        match at {
            Some(_) => self.at,
            None if keys.are_unique() => self.unique,
            None => self.indexed,
        }
    }
}

/// What is to be known of a record.
pub(super) struct Question<T> {
    by: ByKey,
    read: fn(&Row<'_>) -> Result<T, RowError>,
}

/// All of it.
const FIND: Question<Found> = Question {
    by: ByKey {
        unique: statements::FIND,
        at: concat!(include_str!("../sqlite_record/find.sql"), "main.idem_record where id = ?2 and k = ?1"),
        indexed: concat!(
            include_str!("../sqlite_record/find.sql"),
            "main.idem_key cross join main.idem_record on id = record where start = substr(?1, 1, 8) and k = ?1"
        ),
    },
    read: row::found,
};

/// As much as a replay needs: half of the columns, and so a tenth less time. The texts are short because they are compared at each look.
const GLANCE: Question<Glance> = Question {
    by: ByKey {
        unique: concat!(include_str!("glance.sql"), "idem_record where k=?1"),
        at: concat!(include_str!("glance.sql"), "idem_record where id=?2 and k=?1"),
        indexed: concat!(
            include_str!("glance.sql"),
            "idem_key cross join idem_record on id=record where start=substr(?1,1,8)and k=?1"
        ),
    },
    read: row::glanced,
};

/// Somebody who looks for records with a connection.
#[derive(Clone, Copy)]
pub(super) struct Looking<'l> {
    pub(super) connection: &'l Connection,
    pub(super) place: &'l Place,
    pub(super) keys: &'l Keys,
}

impl Looking<'_> {
    /// How often what has come meanwhile is looked through. More than once is for a thread that was stopped midway.
    const TIMES: usize = 4;

    /// The record, whether or not its end has passed.
    pub(super) fn find(self, id: &RecordId) -> Result<Option<Record>, StoreError> {
        Ok(self.ask(&FIND, id)?.map(|found| found.record))
    }

    /// As much of the record as a replay needs.
    pub(super) fn glance(self, id: &RecordId) -> Result<Option<Glance>, StoreError> {
        self.ask(&GLANCE, id)
    }

    /// The record and its row, by somebody who knows all keys: in a transaction that writes, and has
    /// found out at its beginning how far things are. `own` is the row that it has itself given to the key.
    pub(super) fn find_known(self, id: &RecordId, own: Option<i64>) -> Result<Option<Found>, StoreError> {
        self.ask_at(&FIND, id, own.or_else(|| self.keys.known(id).row))
    }

    fn ask<T>(self, question: &Question<T>, id: &RecordId) -> Result<Option<T>, StoreError> {
        self.ask_while(question, id, || ())
    }

    fn ask_while<T>(
        self,
        question: &Question<T>,
        id: &RecordId,
        meanwhile: impl Fn(),
    ) -> Result<Option<T>, StoreError> {
        let mut known = self.keys.known(id);
        for _ in 0..Self::TIMES {
            if let Some(answer) = self.ask_at(question, id, known.row)? {
                return Ok(Some(answer));
            }
            meanwhile();
            if self.keys.catch_up(self.connection, self.place)?.is_none() {
                break;
            }
            // A row that has come since is in the tail, or has left it for an index that was read before.
            let before = std::mem::replace(&mut known, self.keys.known(id));
            if known == before {
                break;
            }
        }
        Ok(None)
    }

    fn ask_at<T>(
        self,
        question: &Question<T>,
        id: &RecordId,
        row: Option<i64>,
    ) -> Result<Option<T>, StoreError> {
        if row.is_some()
            // If it is not there, it was deleted.
            && let Some(answer) = self.read(question, id, row)?
        {
            return Ok(Some(answer));
        }
        self.read(question, id, None)
    }

    fn read<T>(
        self,
        question: &Question<T>,
        id: &RecordId,
        at: Option<i64>,
    ) -> Result<Option<T>, StoreError> {
        let text = question.by.text(self.keys, at);
        let mut statement =
            self.connection.prepare_cached(text).map_err(|error| self.place.fault("read a record", error))?;
        row::first(&mut statement, id, at, question.read).map_err(|error| self.place.unreadable(id, error))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::machine::{Claim, Completion, OnLapse, Recorded, Verdict};
    use crate::store::Store;
    use crate::store::sqlite::open;
    use crate::{Body, SqliteStore, Token};

    /// Which nobody can find, so the index may have to tell them apart only once.
    #[test]
    fn keys_that_begin_in_the_same_way_are_told_apart() {
        let dir = std::env::temp_dir().join(format!("idem-lookup-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let store = SqliteStore::open(dir.join("idem.db")).unwrap();
        let id = |end: u8| {
            let mut bytes = [7; 32];
            bytes[31] = end;
            RecordId::from_bytes(bytes)
        };
        let keep = Duration::from_secs(60);
        let claim = |end: u8| Claim {
            id: id(end),
            token: Token::from_bytes([end; 16]),
            fingerprint: None,
            lease: keep,
            keep,
            on_lapse: OnLapse::Rerun,
            max_tries: 5,
            durable: false,
        };
        // The third is claimed while the first two are in the index, and finished once it is there itself.
        for end in 0..3 {
            let claim = claim(end);
            let Verdict::Claimed(grant) = store.claim(&claim).wait().unwrap() else { panic!("{end} is new") };
            if end > 0 {
                store.index_all().unwrap();
            }
            let completion = Completion {
                id: claim.id,
                token: claim.token,
                fence: grant.fence,
                fingerprint: None,
                body: Body::copy_from(&[end]),
                ttl: keep,
                keep,
            };
            assert_eq!(store.complete(&completion).wait().unwrap(), Recorded::Stored);
        }
        for end in 0..3 {
            let again = Claim { token: Token::from_bytes([9; 16]), ..claim(end) };
            let verdict = store.claim(&again).wait().unwrap();
            assert!(
                matches!(&verdict, Verdict::Completed { body: Some(body), .. } if **body == [end]),
                "{verdict:?}"
            );
        }
        drop(store);
        std::fs::remove_dir_all(dir).unwrap();
    }

    /// Another process writes it and puts its key into the index, and another thread of this one comes upon that, at any moment.
    #[test]
    fn a_record_that_comes_while_it_is_looked_for_is_found() {
        let dir = std::env::temp_dir().join(format!("idem-lookup-{}-meanwhile", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let store = SqliteStore::open(dir.join("idem.db")).unwrap();
        let place = open::locate(&dir.join("idem.db")).unwrap();
        let connect = || open::reader(&place, Duration::from_secs(1)).unwrap();
        let (connection, of_another_thread) = (connect(), connect());
        let keys = Keys::load(&connection, &place).unwrap();
        let looking = Looking { connection: &connection, place: &place, keys: &keys };
        for (n, (index, other)) in
            [(false, false), (false, true), (true, false), (true, true)].iter().enumerate()
        {
            let id = RecordId::from_bytes([u8::try_from(n).unwrap(); 32]);
            let found = looking.ask_while(&FIND, &id, || {
                let token = Token::from_bytes([1; 16]);
                let lease = Duration::from_secs(60);
                let claim = Claim {
                    id,
                    token,
                    fingerprint: None,
                    lease,
                    keep: lease,
                    on_lapse: OnLapse::Rerun,
                    max_tries: 5,
                    durable: false,
                };
                assert!(matches!(
                    store.claim(&claim).wait(),
                    Ok(Verdict::Claimed(_) | Verdict::InProgress { .. })
                ));
                if *index {
                    store.index_all().unwrap();
                }
                if *other {
                    keys.catch_up(&of_another_thread, &place).unwrap();
                }
            });
            assert!(found.unwrap().is_some(), "in the index: {index}, caught up: {other}");
        }
        drop((store, connection));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
