//! The texts of the statements that run in a handler's own transaction.

use sqlx::SqlStr;

use super::identity::Identity;
use crate::store::postgres::names::Table;
use crate::store::postgres::statements::fill;

pub(super) struct Statements {
    pub(super) enter_first: SqlStr,
    pub(super) enter: SqlStr,
    pub(super) enter_or_wait: SqlStr,
    pub(super) find: SqlStr,
    pub(super) keep: SqlStr,
    pub(super) stands: SqlStr,
    pub(super) fail: SqlStr,
    pub(super) withdraw: SqlStr,
    pub(super) park: SqlStr,
    pub(super) put: SqlStr,
}

/// Takes the lock, or does not. It is one of a record in a table: another table of the database, as of another tenant, may well have a
/// record of the same name.
const TRY: &str = "pg_try_advisory_xact_lock($7::bigint # ({regclass}::oid::bigint << 32))";
const NOT_SET: &str = "null::text";
/// Waits for the lock, for as long as this statement may, and no other.
const WAIT: &str = "case when set_config('lock_timeout', $8, true) is not null then \
     pg_advisory_xact_lock($7::bigint # ({regclass}::oid::bigint << 32))::text is not null end";
const SET_BACK: &str = "set_config('lock_timeout', was, true)";

impl Statements {
    pub(super) fn of(table: &Table, identity: Option<&Identity>) -> Self {
        let columns = Identity::columns(identity);
        let returning = identity.map_or(String::new(), |_| format!("returning {columns}"));
        let enter = |text: &str, turn, set_back| {
            let text = text.replace("{turn}", turn).replace("{set_back}", set_back);
            fill(&text.replace("{returning}", &returning).replace("{identity}", columns), table, "")
        };
        let plain = |text: &str| fill(text, table, "");
        Self {
            enter_first: enter(include_str!("enter_first.sql"), TRY, NOT_SET),
            enter: enter(include_str!("enter.sql"), TRY, NOT_SET),
            enter_or_wait: enter(include_str!("enter.sql"), WAIT, SET_BACK),
            find: plain(include_str!("find.sql")),
            keep: plain(include_str!("keep.sql")),
            stands: plain(include_str!("stands.sql")),
            fail: plain(include_str!("fail.sql")),
            withdraw: plain(include_str!("withdraw.sql")),
            park: plain(include_str!("park.sql")),
            put: plain(include_str!("put.sql")),
        }
    }
}
