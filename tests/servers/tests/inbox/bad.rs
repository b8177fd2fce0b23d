//! What is set up wrong, and networks that fail.

use idem::{ErrorKind, PostgresStore};
use idem_servers::Proxy;

use crate::database::{execute, fresh_name, migrated, open, run, url};
use crate::ends::End;
use crate::handlers::{charge, elsewhere, note};
use crate::scene::{Scene, pool};

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn f18_a_store_of_another_database_is_refused() {
    let scene = Scene::new();
    let name = fresh_name();
    execute(&url(), &format!("create database {name}"));
    let server = url();
    let other = format!("{}/{name}", server.strip_suffix("/postgres").expect("the database's name"));
    let other = open(&migrated(PostgresStore::builder(other).schema(&scene.schema)));
    let own = open(&scene.store());
    run(async {
        let mut tx = scene.begin().await;
        assert_eq!(elsewhere("b", 7, &mut tx, &own).await.unwrap(), 7);
        tx.commit().await.unwrap();
        let mut tx = scene.begin().await;
        let error = elsewhere("a", 7, &mut tx, &other).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains("another database"), "{error}");
        drop(tx);
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 1));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn without_its_table_a_handler_says_how_to_make_it() {
    let schema = fresh_name();
    execute(&url(), &format!("create schema {schema}"));
    let pool = pool(&url(), &schema);
    run(async {
        let mut tx = pool.begin().await.unwrap();
        let error = charge("a", End::Well, &mut tx).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains("migrate"), "{error}");
        assert!(error.to_string().contains("own transaction"), "{error}");
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_lost_reply_to_the_commit_is_found_out_by_the_redelivery() {
    let scene = Scene::new();
    let port: u16 = url().rsplit([':', '/']).nth(1).expect("a port").parse().unwrap();
    let proxy = Proxy::to(port);
    let through = url().replace(&port.to_string(), &proxy.port().to_string());
    let flaky = pool(&through, &scene.schema);
    run(async {
        let mut tx = flaky.begin().await.unwrap();
        charge("a", End::Well, &mut tx).await.unwrap();
        note("a", End::Well, &mut tx).await.unwrap();
        proxy.lose_reply_to(b"COMMIT");
        tx.commit().await.unwrap_err();
        proxy.wait_until_lost(1);

        let mut tx = scene.begin().await;
        let again = charge("a", End::Well, &mut tx).await.unwrap();
        assert!(!again.is_executed());
        note("a", End::Well, &mut tx).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!((scene.charges("a").await, scene.records().await), (2, 2));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_connection_that_breaks_before_the_commit_leaves_nothing() {
    let scene = Scene::new();
    let port: u16 = url().rsplit([':', '/']).nth(1).expect("a port").parse().unwrap();
    let proxy = Proxy::to(port);
    let flaky = pool(&url().replace(&port.to_string(), &proxy.port().to_string()), &scene.schema);
    run(async {
        let mut tx = flaky.begin().await.unwrap();
        note("a", End::Well, &mut tx).await.unwrap();
        proxy.cut_once();
        let error = charge("a", End::Well, &mut tx).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        drop(tx);
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
    });
}
