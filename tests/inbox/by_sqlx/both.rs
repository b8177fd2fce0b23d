//! One file for code that uses rusqlite, code that uses sqlx, and the store.

use std::time::Duration;

use idem::inbox::SqliteRecords;
use idem::{
    ErrorKind, Handler, Idempotent, Inbox, Key, ManualClock, Outcome, SqliteStore, Store, idempotent,
};

use super::handlers::{Tx, write};
use super::run;
use super::scene::Scene;
use crate::ends::ChargeError;
use crate::files;

#[idempotent(key = "msg:<message>", tx = tx, scope = "weigh", final_error = ChargeError::is_final)]
fn weigh(message: &str, tx: &rusqlite::Transaction<'_>) -> Result<Outcome<String>, ChargeError> {
    files::write(tx, message)?;
    if message.contains("no") {
        Err(ChargeError::Declined("rusqlite".to_owned()))
    } else {
        Ok("rusqlite".to_owned().into())
    }
}

/// The same handler, in the half of the program that uses sqlx. There is one of a scope, so this one is made by hand.
async fn weigh_by_sqlx(message: &str, tx: Tx<'_>) -> Result<Outcome<String>, ChargeError> {
    let key = Key::trusted(format!("msg:{message}"), "a test").unwrap();
    let inbox = Inbox::new(Handler::new("weigh"));
    let work = async |tx: &mut sqlx::Transaction<'static, sqlx::Sqlite>| {
        write(tx, message).await?;
        Ok("sqlx".to_owned())
    };
    inbox.run(tx, &key, work).await
}

#[test]
fn what_one_driver_has_recorded_the_other_replays() {
    fn replayed(answer: Result<Outcome<String>, ChargeError>) -> String {
        match answer {
            Ok(Outcome::Replayed { value, .. }) => value,
            other => panic!("not replayed: {other:?}"),
        }
    }
    let scene = Scene::new();
    run(async {
        let mut connection = scene.file.open();
        let tx = connection.transaction().unwrap();
        assert!(weigh("a", &tx).unwrap().is_executed());
        weigh("b,no", &tx).unwrap_err();
        tx.commit().unwrap();

        let mut tx = scene.begin().await;
        assert_eq!(replayed(weigh_by_sqlx("a", &mut tx).await), "rusqlite");
        assert_eq!(weigh_by_sqlx("b,no", &mut tx).await.unwrap_err().idem().kind(), ErrorKind::Refused);
        assert!(weigh_by_sqlx("c", &mut tx).await.unwrap().is_executed());
        tx.commit().await.unwrap();

        let tx = connection.transaction().unwrap();
        assert_eq!(replayed(weigh("c", &tx)), "sqlx");
        drop(tx);
        assert_eq!((scene.found("a"), scene.found("b,no")), ((1, 3), (1, 3)));
    });
}

/// Each of them waits for the lock that the other has.
#[test]
fn of_deliveries_to_both_drivers_and_the_store_at_once_one_runs() {
    let scene = Scene::new();
    run(async {
        let store = scene.file.store();
        for round in 0..20 {
            let key = Key::trusted(format!("msg:{round}"), "a test").unwrap();
            let handler = || Handler::new("tests.both");
            let leased = std::thread::spawn({
                let (store, key) = (store.clone(), key.clone());
                move || {
                    let ran =
                        Idempotent::new(&store, handler()).run_blocking(&key, || Ok::<_, idem::Error>(1));
                    ran.is_ok_and(|ran| ran.is_executed())
                }
            });
            let plain = std::thread::spawn({
                let (mut connection, key) = (scene.file.open(), key.clone());
                connection.busy_timeout(Duration::from_secs(20)).unwrap();
                move || {
                    let tx = connection.transaction().unwrap();
                    let ran = Inbox::new(handler()).run_blocking(&tx, &key, || Ok::<_, idem::Error>(1));
                    tx.commit().unwrap();
                    ran.is_ok_and(|ran| ran.is_executed())
                }
            });
            let mut tx = scene.begin().await;
            let ran = Inbox::new(handler()).run(&mut tx, &key, async |_| Ok::<_, idem::Error>(1)).await;
            tx.commit().await.unwrap();
            let ran = [ran.is_ok_and(|ran| ran.is_executed()), plain.join().unwrap(), leased.join().unwrap()];
            assert_eq!(ran.iter().filter(|ran| **ran).count(), 1, "{ran:?} in round {round}");
        }
        assert_eq!(scene.file.records(), 20);
    });
}

#[test]
fn the_store_replays_and_sweeps_what_sqlx_has_recorded() {
    let scene = Scene::new();
    run(async {
        let clock = ManualClock::new();
        let store = SqliteStore::builder(&scene.file.path).beside_other_tables();
        let store = store.clock(clock.clone()).open().unwrap();
        let day = Duration::from_secs(86_400);
        let handler = || Handler::new("tests.swept").ttl(day).keep(2 * day);
        let key = Key::trusted("msg:a", "a test").unwrap();
        let mut tx = scene.begin().await;
        let ran =
            Inbox::within(&store, handler()).run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await;
        assert!(ran.unwrap().is_executed());
        tx.commit().await.unwrap();
        let again =
            Idempotent::new(&store, handler()).run_blocking(&key, || Ok::<_, idem::Error>(8)).unwrap();
        assert!(matches!(again, Outcome::Replayed { value: 7, .. }), "{again:?}");
        clock.advance(2 * day + Duration::from_secs(1));
        assert_eq!(store.sweep(10).wait().unwrap(), 1);
        assert_eq!(scene.file.records(), 0);
    });
}

#[test]
fn either_driver_finds_the_others_table_in_order() {
    let scene = Scene::new();
    run(async {
        let mut connection = scene.pool.acquire().await.unwrap();
        SqliteRecords::ensure_schema(&mut connection).await.unwrap();
        scene.file.open().execute_batch("drop table idem_record").unwrap();
        SqliteRecords::ensure_schema(&mut connection).await.unwrap();
        SqliteStore::ensure_schema(&scene.file.open()).unwrap();
        assert_eq!(SqliteRecords::schema(), SqliteStore::schema());
    });
}
