//! What commits, what does not, and what is answered afterwards.

use idem::{ErrorKind, Handler, Inbox, Key, Outcome, Store, idempotent};

use tokio::sync::Notify;

use crate::database::{open, run};
use crate::ends::ChargeError;
use crate::handlers::{Tx, write};
use crate::promises::{self, hung, until};
use crate::scene::Scene;

macro_rules! promised {
    ($($name:ident($($store:ident)?))*) => {$(
        #[test]
        #[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
        fn $name() {
            let scene = Scene::new();
            $(let $store = open(&scene.store());)?
            run(promises::$name(&scene $(, &$store)?));
        }
    )*};
}

each_promise!(promised);

/// A statement fails, and the body does not say so.
#[idempotent(key = "msg:<message>", tx = tx)]
async fn careless(message: &str, tx: Tx<'_>) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    let _ = sqlx::query("select 1 / 0").execute(&mut **tx).await;
    Ok(1)
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_body_that_hides_a_failed_statement_is_no_success() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        let error = careless("a", &mut tx).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("had failed before"), "{error}");
        let _ = tx.commit().await;
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_record_that_a_lease_holds_is_in_progress_and_taken_over_once_that_has_lapsed() {
    let scene = Scene::new();
    let store = open(&scene.store());
    run(async {
        let handler = || Handler::new("tests.lease");
        let key = Key::trusted("msg:a", "a test").unwrap();
        let held = idem::Idempotent::new(&store, handler());
        let begun = Notify::new();
        until(&begun, held.run(&key, || hung(&begun))).await;
        let inbox = Inbox::within(&store, handler());

        let mut tx = scene.begin().await;
        let busy = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::InProgress, "{busy}");
        tx.commit().await.unwrap();

        // As if it were half a minute later.
        sqlx::query("update idem_record set lease_at = made_at").execute(&scene.pool).await.unwrap();
        let mut tx = scene.begin().await;
        let failed = inbox.run(&mut tx, &key, async |_| Err::<u32, _>(ChargeError::Other("no".into()))).await;
        assert!(matches!(failed, Err(ChargeError::Other(_))), "{failed:?}");
        tx.commit().await.unwrap();
        let state = "select st::integer from idem_record";
        assert_eq!(sqlx::query_scalar::<_, i32>(state).fetch_one(&scene.pool).await.unwrap(), 1);

        let mut tx = scene.begin().await;
        let ran = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(8)).await.unwrap();
        assert_eq!(ran, Outcome::Executed { value: 8, recorded: true });
        tx.commit().await.unwrap();
        assert_eq!(sqlx::query_scalar::<_, i32>(state).fetch_one(&scene.pool).await.unwrap(), 2);
        assert_eq!(store.sweep(10).wait().unwrap(), 0);
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_record_that_is_gone_when_the_body_ends_takes_the_transaction_with_it() {
    let scene = Scene::new();
    run(async {
        let inbox = Inbox::new(Handler::new("tests.gone"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let mut tx = scene.begin().await;
        let ran = inbox.run(&mut tx, &key, async |tx| {
            sqlx::query("insert into charge (message) values ('a')").execute(&mut **tx).await?;
            sqlx::query("delete from idem_record").execute(&mut **tx).await?;
            Ok::<_, ChargeError>(7)
        });
        let error = ran.await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        let _ = tx.commit().await;
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
    });
}
