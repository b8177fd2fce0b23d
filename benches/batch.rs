//! A batch of 100 messages against 100 single runs, and against the same by hand: one transaction that inserts the keys, one that
//! keeps the results. All sides take turns in one run, on files in one directory; what counts is the ratio.
//!
//! `cargo bench -p idem-benches --bench batch`, with `-- memory` for what needs no disk. `IDEM_BENCH_DIR` says where the files go, `target` if unset: a directory in memory
//! would measure nothing.

use std::alloc::System;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use idem::{Error, Handler, Idempotent, Key, MemoryStore, SqliteStore, Store};
use rusqlite::{Connection, params};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATIONS: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MESSAGES: usize = 100;
/// Bodies at once.
const LIMIT: usize = 16;

fn rounds() -> usize {
    std::env::var("IDEM_BENCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(40)
}

fn main() {
    let dir = std::env::var_os("IDEM_BENCH_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/bench-batch"),
        PathBuf::from,
    );
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the directory for the files");

    let hand = ByHand::open(&dir.join("hand.db"));
    let open = |name: &str| SqliteStore::open(dir.join(name)).expect("a file");
    let stores = [open("batch.db"), open("single.db"), open("together.db")];
    let memory = MemoryStore::builder().max_records(10_000_000).build();
    let [batch, single, together] = stores.each_ref().map(work);
    let in_memory = work(&memory);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");

    let mut rows: [(&str, Vec<Duration>); 9] = [
        ("by hand: two transactions of 100 rows", Vec::new()),
        ("SQLite, first: a batch", Vec::new()),
        ("SQLite, first: one after the other", Vec::new()),
        ("SQLite, first: all at once, each by itself", Vec::new()),
        ("SQLite, replay: a batch", Vec::new()),
        ("SQLite, replay: one after the other", Vec::new()),
        ("in memory, first: a batch", Vec::new()),
        ("in memory, first: one after the other", Vec::new()),
        ("in memory, replay: a batch", Vec::new()),
    ];
    let memory_only = std::env::args().any(|argument| argument == "memory");
    let wanted = |name: &str| !memory_only || name.starts_with("in memory");
    for round in 0..rounds() {
        let keys: Vec<Key> = (0..MESSAGES).map(|n| key(round * MESSAGES + n)).collect();
        let other: Vec<Key> = (0..MESSAGES).map(|n| key(usize::MAX / 2 - round * MESSAGES - n)).collect();
        let steps: [&dyn Fn(); 9] = [
            &|| hand.first(&keys),
            &|| runtime.block_on(in_a_batch(&batch, &keys)),
            &|| runtime.block_on(one_by_one(&single, &keys)),
            &|| runtime.block_on(all_at_once(&together, &keys)),
            &|| runtime.block_on(in_a_batch(&batch, &keys)),
            &|| runtime.block_on(one_by_one(&single, &keys)),
            &|| runtime.block_on(in_a_batch(&in_memory, &keys)),
            &|| runtime.block_on(one_by_one(&in_memory, &other)),
            &|| runtime.block_on(in_a_batch(&in_memory, &keys)),
        ];
        for ((name, times), step) in rows.iter_mut().zip(steps) {
            if !wanted(name) {
                continue;
            }
            let began = Instant::now();
            step();
            times.push(began.elapsed());
        }
    }

    println!(
        "{MESSAGES} messages, {} rounds; medians a message, and of the ratios to the first row",
        rounds()
    );
    let by_hand = rows[0].1.clone();
    for (name, times) in rows.iter().filter(|(name, _)| wanted(name)) {
        let mut ratios: Vec<f64> =
            times.iter().zip(&by_hand).map(|(time, hand)| time.as_secs_f64() / hand.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        let each = median(times) / u32::try_from(MESSAGES).expect("a hundred");
        let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
        println!("{name:45} {:9.2} µs {ratio:8.2}", each.as_secs_f64() * 1e6);
    }
    let keys: Vec<Key> = (0..MESSAGES).map(|n| key(usize::MAX - n)).collect();
    for step in ["first", "replay"] {
        let region = Region::new(ALLOCATIONS);
        runtime.block_on(in_a_batch(&in_memory, &keys));
        let made = region.change().allocations;
        println!("in memory, {step}: {made} allocations for a batch of {MESSAGES}");
    }
    drop((hand, stores));
    let _ = std::fs::remove_dir_all(&dir);
}

fn key(n: usize) -> Key {
    Key::trusted(format!("msg:8f14e45f-ceea-467f-9a36-{n:020}"), "the bench counts").expect("a key")
}

fn work(store: &impl Store) -> Idempotent {
    Idempotent::new(store, Handler::new("bench.batch"))
}

async fn body(n: usize) -> Result<usize, Error> {
    Ok(black_box(n))
}

async fn in_a_batch(work: &Idempotent, keys: &[Key]) {
    let entries = keys.iter().cloned().enumerate().map(|(n, key)| (key, n));
    for result in work.run_batch(entries, LIMIT, body).await {
        result.expect("a result");
    }
}

async fn one_by_one(work: &Idempotent, keys: &[Key]) {
    for (n, key) in keys.iter().enumerate() {
        work.run(key, || body(n)).await.expect("a result");
    }
}

/// As a consumer does that spawns a task for each message.
async fn all_at_once(work: &Idempotent, keys: &[Key]) {
    let calls = keys.iter().enumerate().map(|(n, key)| work.run(key, move || body(n)));
    let mut calls: Vec<_> = calls.map(|call| Some(Box::pin(call))).collect();
    std::future::poll_fn(|cx| {
        let mut left = 0;
        for slot in &mut calls {
            let Some(call) = slot else { continue };
            match call.as_mut().poll(cx) {
                std::task::Poll::Ready(result) => {
                    result.expect("a result");
                    *slot = None;
                }
                std::task::Poll::Pending => left += 1,
            }
        }
        if left == 0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// What people write for a batch: a table with the key, rows at the start, results at the end.
struct ByHand(std::cell::RefCell<Connection>);

impl ByHand {
    fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("a file");
        connection
            .execute_batch(
                "pragma journal_mode = wal; pragma synchronous = full;
                 create table seen (key text primary key, done integer not null, result blob);",
            )
            .expect("a table");
        Self(connection.into())
    }

    fn first(&self, keys: &[Key]) {
        let result = [b'r'; 3];
        let mut connection = self.0.borrow_mut();
        let claims = connection.transaction().expect("a transaction");
        for key in keys {
            let sql = "insert or ignore into seen (key, done) values (?1, 0)";
            let new = claims.prepare_cached(sql).and_then(|mut insert| insert.execute([key.as_str()]));
            assert_eq!(new.expect("a claim"), 1);
        }
        claims.commit().expect("a commit");
        let results = connection.transaction().expect("a transaction");
        for (n, key) in keys.iter().enumerate() {
            black_box(n);
            let sql = "update seen set done = 1, result = ?2 where key = ?1";
            let kept = results
                .prepare_cached(sql)
                .and_then(|mut update| update.execute(params![key.as_str(), result]));
            assert_eq!(kept.expect("a result"), 1);
        }
        results.commit().expect("a commit");
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2]
}
