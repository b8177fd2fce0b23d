//! The table.

use idem::StoreErrorKind;
use idem::inbox::SqliteRecords;
use sqlx::{Connection, Executor, SqliteConnection};

use super::run;
use super::scene::Scene;

async fn in_memory() -> SqliteConnection {
    SqliteConnection::connect("sqlite::memory:").await.unwrap()
}

#[test]
fn it_is_made_once_and_only_where_nothing_else_has_its_name() {
    run(async {
        let mut connection = in_memory().await;
        SqliteRecords::ensure_schema(&mut connection).await.unwrap();
        SqliteRecords::ensure_schema(&mut connection).await.unwrap();

        let mut connection = in_memory().await;
        connection.execute(SqliteRecords::schema()).await.unwrap();
        SqliteRecords::ensure_schema(&mut connection).await.unwrap();

        let mut connection = in_memory().await;
        let mut tx = connection.begin().await.unwrap();
        SqliteRecords::ensure_schema(&mut tx).await.unwrap();
        tx.rollback().await.unwrap();
        connection.execute("create table idem_record (id integer primary key, k blob)").await.unwrap();
        let error = SqliteRecords::ensure_schema(&mut connection).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Foreign, "{error}");
    });
}

#[test]
fn many_may_make_it_at_once() {
    let scene = Scene::new();
    run(async {
        scene.file.open().execute_batch("drop table idem_record").unwrap();
        let one = async || {
            SqliteRecords::ensure_schema(&mut scene.pool.acquire().await.unwrap()).await.unwrap();
        };
        tokio::join!(one(), one(), one(), one());
        assert_eq!(scene.file.records(), 0);
    });
}
