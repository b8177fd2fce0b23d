//! `SqliteStore` against the same by hand: a claim and a completion, each with a sync of its own, as a table with a key makes
//! them. Both sides take turns in one run, on files in one directory; what counts is the ratio.
//!
//! `cargo bench -p idem-benches --bench sqlite`, with `-- first`, `replay`, `crowd` or `size` for one part. `IDEM_BENCH_DIR` says where the
//! files go, `target` if unset: a directory in memory would measure nothing.

use std::path::{Path, PathBuf};

use idem::machine::{Recorded, Verdict};
use idem::{RecordId, SqliteStore, Store};
use idem_benches::{Key, Pairs, claim, completion, fence, keys, per_message};
use rusqlite::{Connection, OptionalExtension, params};

const ROUNDS: usize = 40;
/// Rounds before those that count: a log that has not been as long before grows with each sync, once in the life of a file.
const WARM_UP: usize = 20;
/// Messages in one turn of one side, one at a time. Turns are short, because a disk that others use too is never the same for
/// long.
const TURN: usize = 40;
/// Messages in one turn of the concurrent handlers.
const CROWD_TURN: usize = 20 * CROWD;
const CROWD: usize = 64;
/// Messages in one transaction by hand, where all are there at once.
const GROUP: usize = 100;
/// Replays of each message in one turn.
const PASSES: usize = 50;
const RESULT: [u8; 64] = [b'r'; 64];
/// Records that are counted for their size.
const RECORDS: usize = 1_000_000;

fn main() {
    let dir = std::env::var_os("IDEM_BENCH_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/bench-sqlite"),
        PathBuf::from,
    );
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the directory for the files");

    let hand = ByHand::open(&dir.join("hand.db"));
    let idem = Idem::open(&dir.join("idem.db"));
    let crowd = Idem::open(&dir.join("crowd.db"));
    let threads = Idem::open(&dir.join("threads.db"));
    let groups = ["one.db", "two.db"].map(|name| ByHand::open(&dir.join(name)));

    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let mut first = Pairs::default();
    let mut replay = Pairs::default();
    let mut many = Pairs::default();
    let mut many_threads = Pairs::default();
    let mut grouped = [Pairs::default(), Pairs::default()];
    for round in 0..WARM_UP + ROUNDS {
        let keys = keys(round, TURN);
        let by_hand = per_message(TURN, || keys.iter().for_each(|key| hand.first(&key.text)));
        let by_idem = per_message(TURN, || keys.iter().for_each(|key| idem.first(key.record)));
        let counts = round >= WARM_UP;
        if counts {
            first.add(by_hand, by_idem);
        }

        if wanted("crowd") {
            let keys = self::keys(1_000 + round, CROWD_TURN);
            let together = per_message(CROWD_TURN, || crowd.together(&keys));
            let on_threads = per_message(CROWD_TURN, || threads.on_threads(&keys));
            let in_groups = [2, 1].map(|commits| {
                let keys = self::keys(1_000 * (commits + 1) + round, CROWD_TURN);
                per_message(CROWD_TURN, || groups[commits - 1].in_groups(&keys, commits))
            });
            if counts {
                many.add(by_hand, together);
                many_threads.add(by_hand, on_threads);
                grouped.iter_mut().zip(in_groups).for_each(|(pairs, time)| pairs.add(by_hand, time));
            }
        }
        if wanted("replay") && counts {
            // Many passes, because one takes too little time to measure.
            let passes = |replay: &dyn Fn(&Key)| {
                per_message(PASSES * TURN, || (0..PASSES).for_each(|_| keys.iter().for_each(replay)))
            };
            replay.add(passes(&|key| hand.replay(&key.text)), passes(&|key| idem.replay(key.record)));
        }
    }

    println!("SQLite, synchronous=FULL, {ROUNDS} rounds, medians; results of {} bytes", RESULT.len());
    first.print("first delivery, one at a time");
    replay.print("replay");
    many.print("first delivery, 64 futures on one thread");
    many_threads.print("first delivery, 64 threads");
    grouped[0].print_as("100 claims and 100 results a commit", "also ");
    grouped[1].print_as("100 messages a commit", "also ");
    let operations = 2 * (WARM_UP + many.len()) * CROWD_TURN;
    if let Some(shared) = u64::try_from(operations).expect("a small count").checked_div(crowd.store.commits())
    {
        println!("of 64 futures, {shared} operations share a transaction");
    }
    drop((hand, idem, crowd, threads, groups));
    if wanted("size") {
        size(&dir.join("size.db"));
    }
    let _ = std::fs::remove_dir_all(&dir);
}

/// What a remembered message takes on the disk, delivered by handlers at once.
fn size(file: &Path) {
    const TURN: usize = 100 * CROWD;
    let idem = Idem::open(file);
    let turns = RECORDS.div_ceil(TURN);
    for turn in 0..turns {
        idem.together(&keys(turn, TURN));
    }
    // The last connection copies the log back.
    drop(idem);
    let bytes = std::fs::metadata(file).expect("the file").len() / (turns * TURN) as u64;
    println!("{} records: {bytes} bytes each", turns * TURN);
}

/// What people write: a table with the key, a row at the start, its result at the end.
struct ByHand(Connection);

impl ByHand {
    fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("a file");
        connection
            .execute_batch(
                "pragma journal_mode = wal; pragma synchronous = full;
                 create table seen (key text primary key, done integer not null, result blob, at integer not null);",
            )
            .expect("a table");
        Self(connection)
    }

    /// Whether the message is new.
    fn claim(&self, key: &str) -> bool {
        let sql = "insert or ignore into seen (key, done, at) values (?1, 0, ?2)";
        self.0
            .prepare_cached(sql)
            .and_then(|mut insert| insert.execute(params![key, now()]))
            .expect("a claim")
            == 1
    }

    fn first(&self, key: &str) {
        assert!(self.claim(key));
        self.complete(key);
    }

    /// All that can be saved by sharing: everybody is there at once, and nobody asks or waits for another thread.
    fn in_groups(&self, keys: &[Key], commits: usize) {
        let run =
            |sql| self.0.prepare_cached(sql).and_then(|mut run| run.execute([])).expect("a transaction");
        for group in keys.chunks(GROUP) {
            run("begin immediate");
            for key in group {
                assert!(self.claim(&key.text));
            }
            if commits == 2 {
                run("commit");
                run("begin immediate");
            }
            for key in group {
                self.complete(&key.text);
            }
            run("commit");
        }
    }

    fn complete(&self, key: &str) {
        let sql = "update seen set done = 1, result = ?2 where key = ?1";
        let changed = self
            .0
            .prepare_cached(sql)
            .and_then(|mut update| update.execute(params![key, RESULT]))
            .expect("a result");
        assert_eq!(changed, 1);
    }

    fn replay(&self, key: &str) {
        assert!(!self.claim(key));
        let sql = "select result from seen where key = ?1 and done = 1";
        let result: Option<Vec<u8>> = self
            .0
            .prepare_cached(sql)
            .and_then(|mut select| select.query_row([key], |row| row.get(0)).optional())
            .expect("a look");
        assert_eq!(result.expect("a result"), RESULT);
    }
}

fn now() -> i64 {
    let since =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time after 1970");
    i64::try_from(since.as_micros()).expect("a time before the year 294,247")
}

#[derive(Clone)]
struct Idem {
    store: SqliteStore,
}

impl Idem {
    fn open(path: &Path) -> Self {
        Self { store: SqliteStore::open(path).expect("a file") }
    }

    fn first(&self, record: RecordId) {
        let claim = claim(record);
        let fence = fence(self.store.claim(&claim).wait().expect("a claim"));
        let recorded = self.store.complete(&completion(&claim, fence, &RESULT)).wait().expect("a result");
        assert_eq!(recorded, Recorded::Stored);
    }

    async fn handle(&self, record: RecordId) {
        let claim = claim(record);
        let fence = fence(self.store.claim(&claim).await.expect("a claim"));
        let recorded = self.store.complete(&completion(&claim, fence, &RESULT)).await.expect("a result");
        assert_eq!(recorded, Recorded::Stored);
    }

    fn replay(&self, record: RecordId) {
        match self.store.claim(&claim(record)).wait().expect("a claim") {
            Verdict::Completed { body: Some(body), .. } => assert_eq!(*body, RESULT),
            other => panic!("{other:?}"),
        }
    }

    /// 64 handlers at once, as futures on one thread.
    fn together(&self, keys: &[Key]) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let handlers: Vec<_> = share(keys)
            .map(|keys| {
                let this = self.clone();
                runtime.spawn(async move {
                    for key in keys {
                        this.handle(key.record).await;
                    }
                })
            })
            .collect();
        runtime.block_on(async {
            for handler in handlers {
                handler.await.expect("a handler");
            }
        });
    }

    /// 64 handlers at once, each on a thread of its own.
    fn on_threads(&self, keys: &[Key]) {
        std::thread::scope(|scope| {
            for keys in share(keys) {
                scope.spawn(move || keys.iter().for_each(|key| self.first(key.record)));
            }
        });
    }
}

fn share(keys: &[Key]) -> impl Iterator<Item = Vec<Key>> + '_ {
    keys.chunks(keys.len().div_ceil(CROWD)).map(<[Key]>::to_vec)
}
