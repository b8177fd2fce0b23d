//! `PostgresStore` against the same by hand: `insert … on conflict do nothing` and an `update`, with tokio-postgres on connections that
//! are kept. Both sides take turns in one run, in one database of a server that the bench starts; what counts is the ratio.
//!
//! `cargo bench -p idem-benches --bench postgres`, with `-- first`, `replay`, `storm` or `size` for one part. `TMPDIR` says where the
//! server's data go: a directory in memory would measure nothing. `IDEM_BENCH_RECORDS` says how many records are counted for their
//! size, a million if unset.

use idem::PostgresStore;
use idem_benches::{Key, Pairs, keys, per_message};
use idem_servers::PostgresServer;
use tokio::runtime::Runtime;

mod by_hand;
mod size;
mod with_idem;

use by_hand::ByHand;
use with_idem::Idem;

const ROUNDS: usize = 20;
/// Messages in one turn of one side, on one connection.
const TURN: usize = 60;
/// Connections of the concurrent handlers, and messages in one of their turns.
const CROWD: usize = 16;
const CROWD_TURN: usize = 40 * CROWD;
/// Replays of each message in one turn.
const PASSES: usize = 10;
const RESULT: [u8; 100] = [b'r'; 100];

fn main() {
    let server =
        PostgresServer::start(&["fsync=on", "synchronous_commit=on", "autovacuum=off", "max_wal_size=4GB"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);

    println!(
        "PostgreSQL, fsync and synchronous_commit on; {ROUNDS} rounds, medians; results of {} bytes",
        RESULT.len()
    );
    if wanted("first") || wanted("replay") || wanted("storm") {
        for connections in [1, CROWD] {
            contest(&server, &runtime, connections, &wanted);
        }
    }
    if wanted("size") {
        size::count(&runtime);
    }
}

fn contest(server: &PostgresServer, runtime: &Runtime, connections: usize, wanted: &dyn Fn(&str) -> bool) {
    let url = server.url("postgres");
    let schema = format!("with_{connections}");
    let (hand, idem, again, relaxed) = runtime.block_on(async {
        let builder = PostgresStore::builder(url.as_str()).schema(&schema).max_connections(connections);
        builder.migrate().await.expect("a table");
        let idem = Idem::new(builder.open().await.expect("a store"));
        // Of a consumer that is handed what the first has done: a storm there is none of the first's.
        let again = Idem::new(builder.open().await.expect("a store"));
        let relaxed = Idem::new(builder.relaxed_claims().open().await.expect("a store"));
        (ByHand::connect(&url, &schema, connections).await, idem, again, relaxed)
    });
    let turn = if connections == 1 { TURN } else { CROWD_TURN };
    let (mut first, mut unsynced, mut replay, mut storm) =
        (Pairs::default(), Pairs::default(), Pairs::default(), Pairs::default());
    let mut written = 0;
    for round in 0..ROUNDS {
        let [own, mine, yours] = [0, 1, 2].map(|side| keys(3 * round + side, turn));
        let by_hand = per_message(turn, || runtime.block_on(hand.first(&own)));
        first.add(by_hand, per_message(turn, || runtime.block_on(idem.first(&mine, connections))));
        unsynced.add(by_hand, per_message(turn, || runtime.block_on(relaxed.first(&yours, connections))));
        // The first look at a row after a write sets a hint in its page.
        runtime.block_on(again.replay(&mine, connections, 1));
        if wanted("replay") {
            let by_hand = per_message(PASSES * turn, || runtime.block_on(hand.replay(&own, PASSES)));
            let before = runtime.block_on(hand.written());
            let with_idem =
                per_message(PASSES * turn, || runtime.block_on(again.replay(&mine, connections, PASSES)));
            written += runtime.block_on(hand.written()) - before;
            replay.add(by_hand, with_idem);
        }
        if wanted("storm") {
            let guarded = per_message(turn, || runtime.block_on(hand.guarded_upsert(&own)));
            let with_idem = per_message(turn, || runtime.block_on(again.replay(&mine, connections, 1)));
            storm.add(guarded, with_idem);
        }
    }
    println!("\n{connections} connections");
    first.print("first delivery");
    unsynced.print("first delivery, relaxed claims");
    replay.print("replay");
    storm.print("duplicate, against a guarded upsert");
    println!("{written} bytes of write-ahead log in {} replays", PASSES * turn * replay.len());
}

/// Gives each connection its share of `keys`, at once.
fn share(keys: &[Key], connections: usize) -> impl Iterator<Item = Vec<Key>> + '_ {
    keys.chunks(keys.len().div_ceil(connections)).map(<[Key]>::to_vec)
}
