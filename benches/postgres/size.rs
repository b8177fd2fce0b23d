//! What a remembered message takes on the disk.

use idem::PostgresStore;
use idem_benches::keys;
use idem_servers::PostgresServer;
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;

use crate::CROWD;
use crate::with_idem::Idem;

/// Messages in one turn of the handlers.
const TURN: usize = 1_000;

/// On a server that does not wait for its disk: sizes are the same, and a million is there in minutes.
pub(crate) fn count(runtime: &Runtime) {
    let server = PostgresServer::start(&["autovacuum=off"]);
    let records =
        std::env::var("IDEM_BENCH_RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let url = server.url("postgres");
    runtime.block_on(async {
        let builder = PostgresStore::builder(url.as_str()).schema("size");
        builder.migrate().await.expect("a table");
        let idem = Idem::new(builder.open().await.expect("a store"));
        for turn in 0..records / TURN {
            idem.first(&keys(turn, TURN), CROWD).await;
        }
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let size = "select pg_relation_size('size.idem_record'), pg_indexes_size('size.idem_record'),
                           (select count(*) from size.idem_record)";
        let row = client.query_one(size, &[]).await.expect("sizes");
        let [table, index, count] = [0, 1, 2].map(|column| row.get::<_, i64>(column));
        let each = table / count;
        println!("\n{count} records: {each} bytes each in the table, {} in the index", index / count);
    });
}
