//! Which database a connection is of.

use sqlx::{PgConnection, Row};

/// What tells one database from another: its number, and that of the server's data, which a replica that takes over has too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store::postgres) struct Identity {
    pub(super) database: Option<i64>,
    /// `None` where nobody may ask.
    pub(super) system: Option<i64>,
}

impl Identity {
    pub(in crate::store::postgres) async fn of(connection: &mut PgConnection) -> Result<Self, sqlx::Error> {
        // Everybody may ask, unless an administrator has said otherwise; then a question would fail.
        let row = sqlx::query(
            "select (select oid::bigint from pg_database where datname = current_database()), \
             has_function_privilege('public', 'pg_control_system()', 'execute')",
        )
        .persistent(false)
        .fetch_one(&mut *connection)
        .await?;
        let (database, may_ask) = (row.try_get(0)?, row.try_get(1)?);
        let system = if may_ask {
            let asked = sqlx::query("select system_identifier from pg_control_system()").persistent(false);
            asked.fetch_one(connection).await?.try_get(0)?
        } else {
            None
        };
        Ok(Self { database, system })
    }

    /// What a statement answers for the transaction that it runs in.
    pub(super) fn columns(store: Option<&Self>) -> &'static str {
        match store {
            None => "null::bigint, null::bigint",
            Some(Self { system: None, .. }) => {
                "(select oid::bigint from pg_database where datname = current_database()), null::bigint"
            }
            Some(_) => {
                "(select oid::bigint from pg_database where datname = current_database()), \
                 (select system_identifier from pg_control_system())"
            }
        }
    }
}
