//! Two deliveries of one message at once.

use std::time::Duration;

use idem::ErrorKind;
use sqlx::Executor;

use super::handlers::{charge, hasty, note, patient};
use super::run;
use super::scene::{Scene, waiting};
use crate::ends::End;

#[test]
fn a_racing_duplicate_waits_for_the_lock_and_gets_the_first_ones_result() {
    let scene = Scene::new();
    run(async {
        let mut first = scene.begin().await;
        charge("a", End::Well, &mut first).await.unwrap();
        let mut second = scene.begin().await;
        // The second one is asked first: it waits from its first poll on.
        let (second, ()) = tokio::join!(
            async {
                let answer = charge("a", End::Well, &mut second).await.unwrap();
                second.commit().await.unwrap();
                answer
            },
            async { first.commit().await.unwrap() }
        );
        assert!(!second.is_executed());
        assert_eq!(scene.found("a"), (1, 1));
    });
}

#[test]
fn a_duplicate_that_may_not_wait_is_told_to_come_back() {
    let scene = Scene::new();
    run(async {
        let hurried = waiting(&scene.file.path, Duration::ZERO);
        let mut first = scene.begin().await;
        charge("a", End::Well, &mut first).await.unwrap();
        let mut second = hurried.begin().await.unwrap();
        let error = charge("a", End::Well, &mut second).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("another connection is writing"), "{error}");
        assert!(error.to_string().contains("run the whole transaction again"), "{error}");
        first.commit().await.unwrap();
        // Nothing had been read, so it may go on.
        assert!(!charge("a", End::Well, &mut second).await.unwrap().is_executed());
    });
}

#[test]
fn a_duplicate_that_is_to_wait_does_so_whatever_its_connection_says() {
    let scene = Scene::new();
    run(async {
        let hurried = waiting(&scene.file.path, Duration::ZERO);
        let mut first = scene.begin().await;
        patient("a", &mut first).await.unwrap();
        let mut second = hurried.begin().await.unwrap();
        let error = hasty("a", &mut second).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let (second, ()) = tokio::join!(
            async {
                let answer = patient("a", &mut second).await.unwrap();
                second.commit().await.unwrap();
                answer
            },
            async {
                tokio::task::yield_now().await;
                first.commit().await.unwrap();
            }
        );
        assert!(!second.is_executed());
        assert_eq!(scene.found("a"), (1, 1));
    });
}

/// A transaction that has read keeps seeing the file as it was, and cannot write to it once it is another one.
#[test]
fn a_snapshot_that_is_older_than_the_first_commit_has_to_begin_anew() {
    let scene = Scene::new();
    run(async {
        let mut late = scene.begin().await;
        late.execute("select count(*) from charge").await.unwrap();
        let mut first = scene.begin().await;
        charge("a", End::Well, &mut first).await.unwrap();
        patient("b", &mut first).await.unwrap();
        first.commit().await.unwrap();
        // Neither waits: no time would help.
        for error in [
            charge("a", End::Well, &mut late).await.unwrap_err().idem(),
            patient("b", &mut late).await.unwrap_err().idem(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains("wrote after this transaction had read"), "{error}");
        }
        late.commit().await.unwrap();
        let mut again = scene.pool.begin_with("begin immediate").await.unwrap();
        assert!(!charge("a", End::Well, &mut again).await.unwrap().is_executed());
        assert_eq!(scene.found("a"), (1, 2));
    });
}

#[test]
fn of_many_deliveries_at_once_one_runs() {
    let scene = Scene::new();
    run(async {
        for round in 0..10 {
            let message = format!("round {round}");
            let one = async || {
                let mut tx = scene.begin().await;
                let ran = charge(&message, End::Well, &mut tx).await.unwrap();
                note(&message, End::Well, &mut tx).await.unwrap();
                tx.commit().await.unwrap();
                usize::from(ran.is_executed())
            };
            let ran = tokio::join!(one(), one(), one(), one());
            assert_eq!(ran.0 + ran.1 + ran.2 + ran.3, 1);
            assert_eq!(scene.file.charges(&message), 2);
        }
    });
}
