//! What people write: a table with the key, a row at the start, its result at the end. No fence, no token, no lease.

use std::sync::Arc;

use idem_benches::Key;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls, Statement};

use crate::{RESULT, share};

pub(crate) struct ByHand(Vec<Arc<Session>>);

struct Session {
    client: Client,
    claim: Statement,
    complete: Statement,
    find: Statement,
    guarded: Statement,
}

impl ByHand {
    pub(crate) async fn connect(url: &str, schema: &str, connections: usize) -> Self {
        let mut sessions = Vec::new();
        for n in 0..connections {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
            tokio::spawn(connection);
            if n == 0 {
                let table = format!(
                    "create table {schema}.seen (
                         key text primary key, done boolean not null, result bytea, at timestamptz not null default now()
                     ) with (fillfactor = 90)"
                );
                client.batch_execute(&table).await.expect("a table");
            }
            let prepare = |text: String| {
                let client = &client;
                async move { client.prepare(&text).await.expect("a statement") }
            };
            let claim = format!(
                "insert into {schema}.seen (key, done) values ($1, false) on conflict (key) do nothing"
            );
            let complete = format!("update {schema}.seen set done = true, result = $2 where key = $1");
            let find = format!("select result from {schema}.seen where key = $1 and done");
            // The statement that is often shown: a duplicate changes nothing, and locks its row all the same.
            let guarded = format!(
                "insert into {schema}.seen as t (key, done) values ($1, false)
                 on conflict (key) do update set at = now() where not t.done and t.at < now() - interval '1 minute' returning key"
            );
            let (claim, complete) = (prepare(claim).await, prepare(complete).await);
            let (find, guarded) = (prepare(find).await, prepare(guarded).await);
            sessions.push(Arc::new(Session { client, claim, complete, find, guarded }));
        }
        Self(sessions)
    }

    /// Gives each session its share of `keys`.
    async fn each<F>(&self, keys: &[Key], work: impl Fn(Arc<Session>, Vec<Key>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        for (session, keys) in self.0.iter().zip(share(keys, self.0.len())) {
            tasks.spawn(work(session.clone(), keys));
        }
        tasks.join_all().await;
    }

    pub(crate) async fn first(&self, keys: &[Key]) {
        self.each(keys, |session, keys| async move {
            for key in keys {
                let Session { client, claim, complete, .. } = &*session;
                assert_eq!(client.execute(claim, &[&key.text]).await.expect("a claim"), 1);
                let changed = client.execute(complete, &[&key.text, &RESULT.as_slice()]).await;
                assert_eq!(changed.expect("a result"), 1);
            }
        })
        .await;
    }

    pub(crate) async fn replay(&self, keys: &[Key], passes: usize) {
        self.each(keys, move |session, keys| async move {
            for key in (0..passes).flat_map(|_| &keys) {
                let Session { client, claim, find, .. } = &*session;
                assert_eq!(client.execute(claim, &[&key.text]).await.expect("a claim"), 0);
                let found = client.query_one(find, &[&key.text]).await.expect("a result");
                assert_eq!(found.get::<_, &[u8]>(0), RESULT);
            }
        })
        .await;
    }

    pub(crate) async fn guarded_upsert(&self, keys: &[Key]) {
        self.each(keys, |session, keys| async move {
            for key in keys {
                let found = session.client.query_opt(&session.guarded, &[&key.text]).await;
                assert!(found.expect("an answer").is_none());
            }
        })
        .await;
    }

    /// Bytes of write-ahead log so far.
    pub(crate) async fn written(&self) -> i64 {
        let written = "select (pg_current_wal_insert_lsn() - '0/0')::bigint";
        self.0[0].client.query_one(written, &[]).await.expect("a number").get(0)
    }
}
