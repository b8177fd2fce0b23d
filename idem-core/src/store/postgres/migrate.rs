//! Making the table, and bringing it up to date.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, Row, SqlSafeStr};

use super::names::Table;
use super::open::Found;
use super::place::Place;
use crate::StoreError;

/// All steps from nothing on, as statements.
pub(super) fn schema(table: &Table) -> String {
    let create = include_str!("schema.sql").replace("{table}", table.quoted());
    match table.schema() {
        Some(schema) => format!("create schema if not exists {schema};\n\n{create}"),
        None => create,
    }
}

/// Brings the table to the present version, in one transaction, on a connection that ends with it: dropped without its commit, it is
/// undone.
pub(super) async fn migrate(
    options: &PgConnectOptions,
    table: &Table,
    place: &Place,
) -> Result<(), StoreError> {
    let fault = |error| place.fault("bring the table up to date", error);
    let mut connection = options.connect().await.map_err(fault)?;
    run(&mut connection, include_str!("begin.sql")).await.map_err(fault)?;
    lock(&mut connection, table).await.map_err(fault)?;
    let found = Found::at(&mut connection, table).await.map_err(fault)?;
    found.judge_server(place)?;
    if found.version(place)?.is_none() {
        create(&mut connection, table).await.map_err(fault)?;
    }
    // There is one version so far; the steps from an older one to the next go here.
    run(&mut connection, "commit").await.map_err(fault)
}

async fn lock(connection: &mut PgConnection, table: &Table) -> Result<(), sqlx::Error> {
    let lock = sqlx::query(include_str!("lock.sql")).persistent(false);
    lock.bind(table.quoted()).execute(connection).await.map(drop)
}

async fn create(connection: &mut PgConnection, table: &Table) -> Result<(), sqlx::Error> {
    if let Some(schema) = table.schema() {
        let found = sqlx::query(include_str!("namespace.sql")).persistent(false);
        let is_there: bool = found.bind(schema).fetch_one(&mut *connection).await?.try_get(0)?;
        // `if not exists` would need the permission to create one even where it is there.
        if !is_there {
            run(connection, AssertSqlSafe(format!("create schema {schema}"))).await?;
        }
    }
    let table = include_str!("schema.sql").replace("{table}", table.quoted());
    run(connection, AssertSqlSafe(table)).await
}

/// Statements without arguments, one or several.
async fn run(connection: &mut PgConnection, statements: impl SqlSafeStr) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(statements).execute(connection).await.map(drop)
}
