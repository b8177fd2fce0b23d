//! The texts of all statements, with the names of one table in them.

use std::sync::Arc;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

use super::names::Table;

/// The server's clock, read where this stands and not once for each transaction, as `now()` is. The functions are named without their
/// schema, so that a test can put a clock of its own in front.
const NOW: &str = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// A record, in the order in which `row.rs` reads it. The body follows where it is wanted.
const RECORD: &str = "t.st, t.token, t.fence, t.tries, t.fp, t.made_at, t.drop_at, t.lease_at, t.prior, t.done_at, t.body_until";

const GRANTED: &str = "1::smallint";

/// This transaction's commit, and no other, does not wait for the disk.
const GRANTED_AT_ONCE: &str =
    "case set_config('synchronous_commit', 'off', true) when 'off' then 1 end::smallint";

pub(super) struct Statements {
    pub(super) claim_fresh: SqlStr,
    pub(super) claim_fresh_at_once: SqlStr,
    pub(super) claim_new: SqlStr,
    pub(super) claim_new_at_once: SqlStr,
    pub(super) claim: SqlStr,
    pub(super) claim_at_once: SqlStr,
    pub(super) claim_many: SqlStr,
    pub(super) claim_many_at_once: SqlStr,
    pub(super) complete: SqlStr,
    pub(super) complete_or_see: SqlStr,
    pub(super) end_many: SqlStr,
    pub(super) renew: SqlStr,
    pub(super) release: SqlStr,
    pub(super) forget: SqlStr,
    pub(super) look: SqlStr,
    pub(super) inspect: SqlStr,
    pub(super) sweep: SqlStr,
}

impl Statements {
    pub(super) fn of(table: &Table) -> Self {
        let claim_fresh = include_str!("claim_fresh.sql");
        let claim_new = include_str!("claim_new.sql");
        let claim = include_str!("claim.sql");
        let claim_many = include_str!("claim_many.sql");
        let plain = |text: &str| fill(text, table, GRANTED);
        Self {
            claim_fresh: plain(claim_fresh),
            claim_fresh_at_once: fill(claim_fresh, table, GRANTED_AT_ONCE),
            claim_new: plain(claim_new),
            claim_new_at_once: fill(claim_new, table, GRANTED_AT_ONCE),
            claim: plain(claim),
            claim_at_once: fill(claim, table, GRANTED_AT_ONCE),
            claim_many: plain(claim_many),
            claim_many_at_once: fill(claim_many, table, GRANTED_AT_ONCE),
            complete: plain(include_str!("complete.sql")),
            complete_or_see: plain(include_str!("complete_or_see.sql")),
            end_many: plain(include_str!("end_many.sql")),
            renew: plain(include_str!("renew.sql")),
            release: plain(include_str!("release.sql")),
            forget: plain(include_str!("forget.sql")),
            look: plain(include_str!("look.sql")),
            inspect: plain(include_str!("inspect.sql")),
            sweep: plain(include_str!("sweep.sql")),
        }
    }
}

/// Puts names and common parts in their places, and leaves comments and line ends out: the text is hashed at each use.
pub(super) fn fill(text: &str, table: &Table, granted: &str) -> SqlStr {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join(" ");
    let text = text
        .replace("{take_over}", &take_over())
        .replace("{granted}", granted)
        .replace("{record}", RECORD)
        .replace("{now}", NOW)
        .replace("{regclass}", &table.regclass())
        .replace("{table}", table.quoted());
    AssertSqlSafe(Arc::<str>::from(text)).into_sql_str()
}

fn take_over() -> String {
    let lines = include_str!("take_over.sql").lines().map(str::trim);
    lines.filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join(" ")
}
