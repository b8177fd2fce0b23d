//! `RedisStore` against the same by hand, on a server of its own: `SET … NX EX`, then `SET … EX` over one multiplexed connection of
//! redis-rs. That is how most people write it: no token is compared, no fence given, and a killed worker's message is lost.
//!
//! `cargo bench -p idem-benches --bench redis`, with `-- first`, `replay`, `batch` or `size` for one part. All sides take turns in one
//! run, on one runtime of one thread; what counts is the ratio.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use idem::machine::{End, Ended, Recorded, Verdict};
use idem::{RedisStore, Store, Token};
use idem_benches::{Key, claim, completion, fence, keys, median};
use idem_servers::RedisServer;
use redis::aio::MultiplexedConnection;
use redis::{Pipeline, Script, Value, cmd};
use tokio::runtime::Runtime;

/// Messages in one turn of one side.
const TURN: usize = 1_600;
const CROWDS: [usize; 3] = [1, 16, 64];
const BATCH: usize = 100;
const RESULT: [u8; 64] = [b'r'; 64];
/// Records for the measurement of size.
const RECORDS: usize = 1_000_000;
const KEEP: Duration = Duration::from_hours(45 * 24);

fn main() {
    let rounds = std::env::var("IDEM_BENCH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(21);
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = RedisServer::start();
    let hand = runtime.block_on(ByHand::connect(&server));
    let idem = Idem(runtime.block_on(RedisStore::connect(server.url())).expect("a server"));
    let sides: [&dyn Side; 3] = [&hand, &idem, &Fenced(hand.clone())];

    println!("Redis {}, {rounds} rounds, results of {} bytes", server.info("redis_version"), RESULT.len());
    println!("{:<32}{:>24}{:>24}{:>24}", "medians, per message", "by hand", "idem", "by hand, fenced");
    let bench = Bench { runtime, server, rounds };
    if wanted("first") {
        for crowd in CROWDS {
            bench.compare(&format!("first delivery, {crowd} at once"), &sides, crowd, Work::First);
        }
    }
    if wanted("replay") {
        for crowd in CROWDS {
            bench.compare(&format!("replay, {crowd} at once"), &sides[..2], crowd, Work::Replay);
        }
    }
    if wanted("batch") {
        bench.compare(&format!("first delivery, batches of {BATCH}"), &sides[..2], 1, Work::Batch);
    }
    if wanted("size") {
        bench.size(&idem);
    }
}

type Doing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One way to do it.
trait Side {
    /// Claims and records each key's message, one after the other.
    fn first(&self, keys: Vec<Key>) -> Doing;
    /// Gets the result of each key's message.
    fn replay(&self, keys: Vec<Key>) -> Doing;
    /// As `first`, all at once.
    fn batch(&self, keys: Vec<Key>) -> Doing;
}

#[derive(Clone, Copy)]
enum Work {
    First,
    Replay,
    Batch,
}

struct Bench {
    runtime: Runtime,
    server: RedisServer,
    rounds: usize,
}

impl Bench {
    fn compare(&self, what: &str, sides: &[&dyn Side], crowd: usize, work: Work) {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); sides.len()];
        // One more for the caches.
        for round in 0..=self.rounds {
            assert_eq!(self.server.ask(&["FLUSHALL"]), "OK");
            // In another order each time: who comes first pays for what the others left behind.
            for turn in 0..sides.len() {
                let at = (round + turn) % sides.len();
                let (side, times) = (&sides[at], &mut times[at]);
                let keys = keys(round * sides.len() + at, TURN);
                if matches!(work, Work::Replay) {
                    self.run(*side, &keys, CROWDS[1], Work::First);
                }
                let time = self.run(*side, &keys, crowd, work);
                if round > 0 {
                    times.push(time.as_secs_f64() * 1e6 / as_float(TURN));
                }
            }
        }
        print!("{what:<32}");
        for side in &times {
            let ratios = side.iter().zip(&times[0]).map(|(side, hand)| side / hand);
            print!("{:>24}", format!("{:.1} us ({:.2})", median(side.iter().copied()), median(ratios)));
        }
        println!();
    }

    fn run(&self, side: &dyn Side, keys: &[Key], crowd: usize, work: Work) -> Duration {
        let share = if matches!(work, Work::Batch) { BATCH } else { keys.len().div_ceil(crowd) };
        let all: Vec<_> = keys
            .chunks(share)
            .map(|keys| match work {
                Work::First => side.first(keys.to_vec()),
                Work::Replay => side.replay(keys.to_vec()),
                Work::Batch => side.batch(keys.to_vec()),
            })
            .collect();
        let started = Instant::now();
        self.runtime.block_on(async {
            if crowd == 1 {
                for one in all {
                    one.await;
                }
            } else {
                let handlers: Vec<_> = all.into_iter().map(tokio::spawn).collect();
                for handler in handlers {
                    handler.await.expect("a handler");
                }
            }
        });
        started.elapsed()
    }

    /// Bytes of the server's memory for each of a million records.
    fn size(&self, idem: &Idem) {
        for (what, body) in [("no result", 0), ("a result of 200 bytes", 200)] {
            assert_eq!(self.server.ask(&["FLUSHALL"]), "OK");
            let used = || self.server.info("used_memory").parse::<usize>().expect("a number");
            let before = used();
            for round in 0..RECORDS / 1_000 {
                let keys = keys(round, 1_000);
                self.runtime.block_on(idem.finish(&keys, &vec![b'r'; body]));
            }
            println!("{what:<32}{:>24}", format!("{} bytes", (used() - before) / RECORDS));
        }
    }
}

/// What people write.
#[derive(Clone)]
struct ByHand {
    connection: MultiplexedConnection,
}

impl ByHand {
    async fn connect(server: &RedisServer) -> Self {
        let client = redis::Client::open(server.url()).expect("a URL");
        let connection = client.get_multiplexed_async_connection().await.expect("a server");
        Self { connection }
    }

    async fn claim(&mut self, key: &str) -> bool {
        let mut set = cmd("SET");
        set.arg(key).arg("processing").arg("NX").arg("EX").arg(KEEP.as_secs());
        set.query_async::<Value>(&mut self.connection).await.expect("a claim") == Value::Okay
    }
}

impl Side for ByHand {
    fn first(&self, keys: Vec<Key>) -> Doing {
        let mut this = self.clone();
        Box::pin(async move {
            for key in keys {
                assert!(this.claim(&key.text).await);
                let mut set = cmd("SET");
                set.arg(&key.text).arg(&RESULT[..]).arg("EX").arg(KEEP.as_secs());
                set.exec_async(&mut this.connection).await.expect("a result");
            }
        })
    }

    fn replay(&self, keys: Vec<Key>) -> Doing {
        let mut this = self.clone();
        Box::pin(async move {
            for key in keys {
                assert!(!this.claim(&key.text).await);
                let result: Vec<u8> =
                    cmd("GET").arg(&key.text).query_async(&mut this.connection).await.expect("a look");
                assert_eq!(result, RESULT);
            }
        })
    }

    fn batch(&self, keys: Vec<Key>) -> Doing {
        let mut this = self.clone();
        Box::pin(async move {
            let mut claims = Pipeline::with_capacity(keys.len());
            for key in &keys {
                claims.cmd("SET").arg(&key.text).arg("processing").arg("NX").arg("EX").arg(KEEP.as_secs());
            }
            let claimed: Vec<Value> = claims.query_async(&mut this.connection).await.expect("claims");
            assert!(claimed.iter().all(|value| *value == Value::Okay));
            let mut results = Pipeline::with_capacity(keys.len());
            for key in &keys {
                results.cmd("SET").arg(&key.text).arg(&RESULT[..]).arg("EX").arg(KEEP.as_secs());
            }
            results.exec_async(&mut this.connection).await.expect("results");
        })
    }
}

/// The least that protects from a stale owner: a token in the claim, compared by a script that then writes the result.
struct Fenced(ByHand);

impl Side for Fenced {
    fn first(&self, keys: Vec<Key>) -> Doing {
        let mut this = self.0.clone();
        let script = Script::new(
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
             redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) return 1",
        );
        Box::pin(async move {
            for key in keys {
                let token = Token::fresh();
                let mut set = cmd("SET");
                set.arg(&key.text).arg(token.as_bytes()).arg("NX").arg("EX").arg(KEEP.as_secs());
                set.exec_async(&mut this.connection).await.expect("a claim");
                let mut end = script.prepare_invoke();
                end.key(&key.text).arg(token.as_bytes()).arg(&RESULT[..]).arg(KEEP.as_secs());
                let stored: bool = end.invoke_async(&mut this.connection).await.expect("a result");
                assert!(stored);
            }
        })
    }

    fn replay(&self, keys: Vec<Key>) -> Doing {
        self.0.replay(keys)
    }

    fn batch(&self, keys: Vec<Key>) -> Doing {
        self.0.batch(keys)
    }
}

#[derive(Clone)]
struct Idem(RedisStore);

impl Idem {
    async fn finish(&self, keys: &[Key], result: &[u8]) {
        let claims: Vec<_> = keys.iter().map(|key| claim(key.record)).collect();
        let verdicts = self.0.claim_many(&claims).await.expect("claims");
        let ends: Vec<_> = claims
            .iter()
            .zip(verdicts)
            .map(|(claim, verdict)| End::Complete(completion(claim, fence(verdict), result)))
            .collect();
        let ended = self.0.end_many(&ends).await.expect("results");
        assert!(ended.iter().all(|ended| *ended == Ended::Recorded(Recorded::Stored)));
    }
}

impl Side for Idem {
    fn first(&self, keys: Vec<Key>) -> Doing {
        let this = self.clone();
        Box::pin(async move {
            for key in keys {
                let claim = claim(key.record);
                let fence = fence(this.0.claim(&claim).await.expect("a claim"));
                let recorded = this.0.complete(&completion(&claim, fence, &RESULT)).await.expect("a result");
                assert_eq!(recorded, Recorded::Stored);
            }
        })
    }

    fn replay(&self, keys: Vec<Key>) -> Doing {
        let this = self.clone();
        Box::pin(async move {
            for key in keys {
                match this.0.claim(&claim(key.record)).await.expect("a claim") {
                    Verdict::Completed { body: Some(body), .. } => assert_eq!(*body, RESULT),
                    other => panic!("{other:?}"),
                }
            }
        })
    }

    fn batch(&self, keys: Vec<Key>) -> Doing {
        let this = self.clone();
        Box::pin(async move { this.finish(&keys, &RESULT).await })
    }
}

#[allow(clippy::cast_precision_loss, reason = "a few thousand messages")]
fn as_float(count: usize) -> f64 {
    count as f64
}
