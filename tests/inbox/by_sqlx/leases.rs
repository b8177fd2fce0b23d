//! Records of leases, which the inbox meets in a store's file.

use std::time::Duration;

use idem::{ErrorKind, Handler, Idempotent, Inbox, Key, ManualClock, SqliteStore};
use tokio::sync::Notify;

use super::promises::{hung, until};
use super::run;
use super::scene::Scene;
use crate::ends::ChargeError;

#[test]
fn records_of_leases_and_former_scopes_answer() {
    let scene = Scene::new();
    run(async {
        let clock = ManualClock::new();
        let store = SqliteStore::builder(&scene.file.path).beside_other_tables();
        let store = store.clock(clock.clone()).open().unwrap();
        let key = |name: &str| Key::trusted(name, "a test").unwrap();
        let lease = Duration::from_secs(30);
        let old = Idempotent::new(&store, Handler::new("orders.old").lease(lease));
        old.run(&key("msg:done"), async || Ok::<_, idem::Error>(1)).await.unwrap();
        // Held: its worker fell silent.
        let (begun, held) = (Notify::new(), key("msg:held"));
        until(&begun, old.run(&held, || hung(&begun))).await;

        let new = Inbox::within(&store, Handler::new("orders.new").scope_was(&["orders.old"]).lease(lease));
        let mut tx = scene.begin().await;
        let done = new.run(&mut tx, &key("msg:done"), async |_| Ok::<_, idem::Error>(2)).await.unwrap();
        assert_eq!(done.into_value(), 1);
        let busy = new.run(&mut tx, &held, async |_| Ok::<_, idem::Error>(2)).await.unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::InProgress, "{busy}");
        clock.advance(lease);
        let ran = new.run(&mut tx, &held, async |_| Ok::<_, idem::Error>(2)).await.unwrap();
        assert!(ran.is_executed());
        tx.commit().await.unwrap();
        assert_eq!(scene.file.records(), 3);

        // Of the same scope, the lapsed record itself is taken over, and put back after an error.
        let same = Inbox::within(&store, Handler::new("orders.old").lease(lease));
        let unsettled = || -> u32 {
            let count = "select count(*) from idem_record where st < 2";
            scene.file.open().query_row(count, [], |row| row.get(0)).unwrap()
        };
        let mut tx = scene.begin().await;
        let failed = same.run(&mut tx, &held, async |_| Err::<u32, _>(ChargeError::Other("no".into()))).await;
        assert!(matches!(failed, Err(ChargeError::Other(_))), "{failed:?}");
        tx.commit().await.unwrap();
        assert_eq!(unsettled(), 1);
        let mut tx = scene.begin().await;
        let ran = same.run(&mut tx, &held, async |_| Ok::<_, idem::Error>(3)).await.unwrap();
        assert!(ran.is_executed());
        tx.commit().await.unwrap();
        assert_eq!((unsettled(), scene.file.records()), (0, 3));
    });
}
