//! Tables of one name in several files: the record belongs in the file that the connection is of, and in no other.

use idem::inbox::SqliteRecords;
use idem::{ErrorKind, SqliteStore};
use sqlx::{AssertSqlSafe, Connection as _, Executor};

use crate::by_sqlx::handlers as of_sqlx;
use crate::by_sqlx::run;
use crate::by_sqlx::scene::options;
use crate::ends::End;
use crate::files::{File, charge, note};

/// A file whose table is not made yet, or is gone: another one's is not taken for it. In WAL mode, files commit one after the other.
#[test]
fn a_record_is_not_written_in_an_attached_file() {
    let (file, other) = (File::new(), File::new());
    let attach = format!("drop table idem_record; attach '{}' as archive", other.path.display());
    let mut connection = file.open();
    connection.execute_batch(&attach).unwrap();
    let tx = connection.transaction().unwrap();
    let error = charge("a", End::Well, &tx).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("SqliteStore::ensure_schema(&connection)"), "{error}");
    drop(tx);
    // Nor does the other one's keep this one's from being made.
    SqliteStore::ensure_schema(&connection).unwrap();
    let tx = connection.transaction().unwrap();
    assert!(charge("a", End::Well, &tx).unwrap().is_executed());
    tx.commit().unwrap();
    drop(connection);
    assert_eq!((file.records(), other.records()), (1, 0));
}

#[test]
fn nor_by_sqlx() {
    let (file, other) = (File::new(), File::new());
    let attach = format!("drop table idem_record; attach '{}' as archive", other.path.display());
    run(async {
        let mut connection = sqlx::SqliteConnection::connect_with(&options(&file.path)).await.unwrap();
        connection.execute(AssertSqlSafe(attach)).await.unwrap();
        let inbox = idem::Inbox::new(idem::Handler::new("tests.attached"));
        let key = idem::Key::trusted("msg:a", "a test").unwrap();
        let mut tx = connection.begin().await.unwrap();
        let error = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
        assert!(error.to_string().contains("SqliteRecords::ensure_schema(&mut connection)"), "{error}");
        tx.rollback().await.unwrap();
        SqliteRecords::ensure_schema(&mut connection).await.unwrap();
        let mut tx = connection.begin().await.unwrap();
        let ran = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap();
        assert!(ran.is_executed());
        tx.commit().await.unwrap();
    });
    assert_eq!((file.records(), other.records()), (1, 0));
}

/// It would end with the connection, and the message be handled again.
#[test]
fn a_temporary_table_of_its_name_hides_no_record() {
    let file = File::new();
    let mut connection = file.open();
    connection.execute_batch("create temp table idem_record as select * from main.idem_record").unwrap();
    let tx = connection.transaction().unwrap();
    note("a", End::Well, &tx).unwrap();
    tx.commit().unwrap();
    drop(connection);
    assert_eq!(file.records(), 1);
    let scene = crate::by_sqlx::scene::Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        tx.execute("create temp table idem_record as select * from main.idem_record").await.unwrap();
        of_sqlx::note("a", End::Well, &mut tx).await.unwrap();
        of_sqlx::charge("a", End::Well, &mut tx).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(scene.found("a"), (2, 2));
    });
}
