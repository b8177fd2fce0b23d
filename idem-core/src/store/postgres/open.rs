//! Opening: what the server and the table are, and nothing written.

use sqlx::{PgConnection, Row};

use super::names::Table;
use super::place::Place;
use crate::{StoreError, StoreErrorKind};

/// Raised whenever `schema.sql` changes; each step then gets its migration.
pub(super) const VERSION: u32 = 1;
/// What the table's comment says, and the version after it.
const COMMENT: &str = "idem records, version ";

const OLDEST_SERVER: i32 = 140_000;

/// What was found.
pub(super) struct Found {
    server: i32,
    replica: bool,
    read_only: bool,
    synchronous_commit: String,
    /// The kind of relation, if there is one of the name.
    kind: Option<String>,
    persistence: Option<String>,
    comment: Option<String>,
    permitted: Option<bool>,
    unique: bool,
}

impl Found {
    pub(super) async fn at(connection: &mut PgConnection, table: &Table) -> Result<Self, sqlx::Error> {
        let row = sqlx::query(include_str!("check.sql"))
            .persistent(false)
            .bind(table.quoted())
            .fetch_one(connection)
            .await?;
        Ok(Self {
            server: row.try_get(0)?,
            replica: row.try_get(1)?,
            read_only: row.try_get(2)?,
            synchronous_commit: row.try_get(3)?,
            kind: row.try_get(4)?,
            persistence: row.try_get(5)?,
            comment: row.try_get(6)?,
            permitted: row.try_get(7)?,
            unique: row.try_get(8)?,
        })
    }

    /// Whether records can be written on this server.
    pub(super) fn judge_server(&self, place: &Place) -> Result<(), StoreError> {
        if self.replica {
            let what =
                "the server is in recovery, as a replica is, and may lag behind; connect to the primary";
            return Err(place.error(StoreErrorKind::ReadOnly, what));
        }
        if self.read_only {
            let what =
                "sessions only read here, as `default_transaction_read_only` says; set it off for this user";
            return Err(place.error(StoreErrorKind::ReadOnly, what));
        }
        if self.server < OLDEST_SERVER {
            let what = format_args!(
                "the server has version {}; idem needs PostgreSQL 14 or newer",
                self.server / 10_000
            );
            return Err(place.error(StoreErrorKind::Misconfigured, what));
        }
        if self.synchronous_commit == "off" {
            let what = "sessions commit without waiting for the disk, so that what was recorded could be lost; \
                        set `synchronous_commit = on` in the options of the pool, or for this user";
            return Err(place.error(StoreErrorKind::Misconfigured, what));
        }
        Ok(())
    }

    /// The version of the schema; `None` if there is no table.
    pub(super) fn version(&self, place: &Place) -> Result<Option<u32>, StoreError> {
        let Some(kind) = &self.kind else { return Ok(None) };
        let foreign = |what: &str| Err(place.error(StoreErrorKind::Foreign, what));
        if kind != "r" && kind != "p" {
            return foreign("this is no table; name another");
        }
        let version = self.comment.as_deref().and_then(|comment| comment.strip_prefix(COMMENT)?.parse().ok());
        match version {
            None => foreign(
                "the table belongs to something else: its comment is not the one that idem's schema gives it; name another",
            ),
            Some(version) if version > VERSION => Err(place.error(
                StoreErrorKind::Foreign,
                format_args!(
                    "its schema has version {version}, made by a newer idem; this one knows {VERSION}"
                ),
            )),
            version => Ok(version),
        }
    }

    /// Whether the table can be used.
    pub(super) fn judge_table(&self, place: &Place) -> Result<(), StoreError> {
        let misconfigured = |what: &str| Err(place.error(StoreErrorKind::Misconfigured, what));
        match self.version(place)? {
            None => {
                return misconfigured(
                    "the table is missing; call `migrate` on the builder, or apply what `schema` prints",
                );
            }
            Some(version) if version < VERSION => {
                return Err(place.error(
                    StoreErrorKind::Misconfigured,
                    format_args!("its schema has version {version}, and this idem needs {VERSION}; call `migrate` on the builder"),
                ));
            }
            Some(_) => {}
        }
        if !self.unique {
            return misconfigured(
                "no unique index covers the column `k` alone, so that one message could have two records; \
                 a table that is partitioned by time cannot have one: partition by `hash (k)`, or not at all",
            );
        }
        if self.persistence.as_deref() != Some("p") {
            return misconfigured(
                "the table is unlogged or temporary, and would be empty after a crash; make it an ordinary one",
            );
        }
        if self.permitted != Some(true) {
            return misconfigured(
                "the user lacks a permission; grant select, insert, update and delete on the table",
            );
        }
        Ok(())
    }
}
