//! Two deliveries of one message at once.

use idem::{ErrorKind, Outcome};
use sqlx::{Executor, Row};

use crate::database::run;
use crate::ends::End;
use crate::handlers::{charge, hasty, note, patient};
use crate::scene::Scene;

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_racing_duplicate_is_told_so_and_keeps_its_transaction() {
    let scene = Scene::new();
    run(async {
        let mut first = scene.begin().await;
        charge("a", End::Well, &mut first).await.unwrap();

        let mut second = scene.begin().await;
        let error = charge("a", End::Well, &mut second).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::InProgress, "{error}");
        assert!(error.retry_after().is_some());
        note("other work", End::Well, &mut second).await.unwrap();
        second.commit().await.unwrap();

        first.commit().await.unwrap();
        let mut third = scene.begin().await;
        assert!(!charge("a", End::Well, &mut third).await.unwrap().is_executed());
        assert_eq!((scene.charges("a").await, scene.charges("other work").await), (1, 1));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_duplicate_that_waits_gets_the_first_ones_result() {
    let scene = Scene::new();
    run(async {
        let mut first = scene.begin().await;
        patient("a", &mut first).await.unwrap();
        let (second, ()) = tokio::join!(
            async {
                let mut tx = scene.begin().await;
                let answer = patient("a", &mut tx).await.unwrap();
                tx.commit().await.unwrap();
                answer
            },
            async {
                scene.somebody_waits().await;
                first.commit().await.unwrap();
            }
        );
        assert!(matches!(&second, Outcome::Replayed { value, .. } if value == "receipt of a"), "{second:?}");
        assert_eq!(scene.charges("a").await, 1);
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_duplicate_that_waits_runs_if_the_first_is_rolled_back() {
    let scene = Scene::new();
    run(async {
        let mut first = scene.begin().await;
        patient("a", &mut first).await.unwrap();
        let (second, ()) = tokio::join!(
            async {
                let mut tx = scene.begin().await;
                let answer = patient("a", &mut tx).await.unwrap();
                tx.commit().await.unwrap();
                answer
            },
            async {
                scene.somebody_waits().await;
                first.rollback().await.unwrap();
            }
        );
        assert!(second.is_executed());
        assert_eq!(scene.charges("a").await, 1);
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_duplicate_waits_no_longer_than_it_said_and_leaves_lock_timeout_as_it_was() {
    let scene = Scene::new();
    run(async {
        let mut first = scene.begin().await;
        first.execute("set local lock_timeout = '7s'").await.unwrap();
        hasty("a", &mut first).await.unwrap();
        // A replay, too, which took no lock.
        hasty("a", &mut first).await.unwrap();
        let left: String = first.fetch_one("show lock_timeout").await.unwrap().get(0);
        assert_eq!(left, "7s");

        let mut second = scene.begin().await;
        let error = hasty("a", &mut second).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::InProgress, "{error}");
        drop(second);
        first.commit().await.unwrap();
        assert_eq!(scene.charges("a").await, 1);

        let connection = &mut *scene.pool.acquire().await.unwrap();
        let left: String = connection.fetch_one("show lock_timeout").await.unwrap().get(0);
        assert_eq!(left, "0");
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_snapshot_that_is_older_than_the_first_commit_has_to_begin_anew() {
    let scene = Scene::new();
    run(async {
        for level in ["repeatable read", "serializable"] {
            let mut late = scene.begin().await;
            late.execute(sqlx::AssertSqlSafe(format!("set transaction isolation level {level}")))
                .await
                .unwrap();
            late.execute("select count(*) from charge").await.unwrap();

            let mut first = scene.begin().await;
            charge(level, End::Well, &mut first).await.unwrap();
            first.commit().await.unwrap();

            let error = charge(level, End::Well, &mut late).await.unwrap_err().idem();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains("run the whole transaction again"), "{error}");
            drop(late);

            let mut again = scene.begin().await;
            again
                .execute(sqlx::AssertSqlSafe(format!("set transaction isolation level {level}")))
                .await
                .unwrap();
            assert!(!charge(level, End::Well, &mut again).await.unwrap().is_executed());
            again.commit().await.unwrap();
            assert_eq!(scene.charges(level).await, 1);
        }
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn of_many_deliveries_at_once_one_runs() {
    let scene = Scene::new();
    run(async {
        for round in 0..25 {
            let message = format!("round {round}");
            let one = async || {
                let mut tx = scene.begin().await;
                let ran = charge(&message, End::Well, &mut tx).await;
                tx.commit().await.unwrap();
                usize::from(ran.is_ok_and(|ran| ran.is_executed()))
            };
            let ran = tokio::join!(one(), one(), one(), one());
            assert_eq!(ran.0 + ran.1 + ran.2 + ran.3, 1);
            assert_eq!(scene.charges(&message).await, 1);
        }
    });
}

/// As where each tenant has a schema of its own.
#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn the_same_record_of_another_table_is_another_one() {
    let (scene, other) = (Scene::new(), Scene::new());
    run(async {
        let (mut first, mut second) = (scene.begin().await, other.begin().await);
        charge("a", End::Well, &mut first).await.unwrap();
        assert!(charge("a", End::Well, &mut second).await.unwrap().is_executed());
        patient("b", &mut first).await.unwrap();
        assert!(patient("b", &mut second).await.unwrap().is_executed());
    });
}
