//! What the driver itself costs: nanoseconds and allocations for each stage of a call, and bytes in the caller's future.
//!
//! The stores here answer in place and keep nothing, so that what is left is the driver. The first line is what people write
//! by hand for a replay: a formatted key, a locked map, a copy of the bytes.

use std::alloc::System;
use std::collections::HashMap;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use idem::__private::{Call, StoreHandle, codec, run, run_blocking};
use idem::machine::{
    Claim, Completion, Forgotten, Grant, Prior, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use idem::{Body, Clock, Error, Handler, MemoryStore, RecordId, Reply, Store, StoreClass, Token, idempotent};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATIONS: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Answers each claim with the same words.
#[derive(Clone)]
struct Says(Option<Body>);

impl Store for Says {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }
    fn class(&self) -> StoreClass {
        StoreClass::Volatile
    }
    fn clock(&self) -> Clock {
        Clock::monotonic()
    }
    fn claim(&self, _: &Claim) -> Reply<Verdict> {
        Reply::ready(Ok(match &self.0 {
            Some(body) => Verdict::Completed {
                body: Some(body.clone()),
                age: Duration::ZERO,
                valid_for: Duration::ZERO,
                skipped: false,
            },
            None => Verdict::Claimed(Grant {
                fence: 1,
                tries: 1,
                first_age: Duration::ZERO,
                prior: Prior::None,
                resumed: false,
            }),
        }))
    }
    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        Reply::ready(claims.iter().map(|claim| self.claim(claim).wait()).collect())
    }
    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        Reply::ready(Ok(Renewed::Renewed { remaining: renewal.lease }))
    }
    fn complete(&self, _: &Completion) -> Reply<Recorded> {
        Reply::ready(Ok(Recorded::Stored))
    }
    fn fail(&self, _: &Completion) -> Reply<Recorded> {
        Reply::ready(Ok(Recorded::Stored))
    }
    fn release(&self, _: &RecordId, _: &Token) -> Reply<Released> {
        Reply::ready(Ok(Released::Released { tries: 1 }))
    }
    fn forget(&self, _: &RecordId, _: bool) -> Reply<Forgotten> {
        Reply::ready(Ok(Forgotten::Absent))
    }
    fn inspect(&self, _: &RecordId) -> Reply<Option<Snapshot>> {
        Reply::ready(Ok(None))
    }
    fn sweep(&self, _: usize) -> Reply<u64> {
        Reply::ready(Ok(0))
    }
}

static HANDLER: Handler = Handler::new("bench.driver");

fn derive(id: &str) -> Call<'static> {
    Call::derive(&HANDLER, false, |text| {
        text.literal("msg:");
        text.part("message.id", id, None);
    })
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits"),
    }
}

struct Message {
    id: String,
}

#[idempotent(key = "msg:<message.id>", scope = "bench.annotated")]
async fn annotated(message: &Message) -> Result<u64, Error> {
    Ok(black_box(message.id.len() as u64))
}

#[idempotent(key = "msg:<message.id>", scope = "bench.plain")]
fn plain(message: &Message) -> Result<u64, Error> {
    Ok(black_box(message.id.len() as u64))
}

/// Arguments choose the lines to measure, by how their names begin.
const CALLS: usize = 200_000;
/// Calls in a stretch. The best stretch counts: short enough for one to meet nobody else on the machine.
const STRETCH: usize = 500;

#[allow(clippy::cast_precision_loss, reason = "a few hundred thousand calls, a few seconds")]
fn measure(name: &str, ids: &[String], mut operation: impl FnMut(&str)) -> f64 {
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if !only.is_empty() && !only.iter().any(|only| name.starts_with(only.as_str())) {
        return f64::NAN;
    }
    // Once before, for what is made at a first call; the first rounds of the stores below have ids of their own.
    operation("00000000-warm");
    let mut best = f64::MAX;
    let region = Region::new(ALLOCATIONS);
    for chunk in ids.chunks(STRETCH) {
        let start = Instant::now();
        for id in chunk {
            operation(id);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / chunk.len() as f64);
    }
    let made = region.change().allocations as f64 / ids.len() as f64;
    println!("{name:44} {best:8.0} ns {made:8.2} allocations a call");
    best
}

fn main() {
    let ids: Vec<String> = (0..CALLS).map(|n| format!("8f14e45f-ceea-467f-9a36-{n:012}")).collect();
    let by_hand = Mutex::new(HashMap::new());
    for id in &ids {
        by_hand.lock().unwrap().insert(format!("msg:{id}"), vec![b'7'; 3]);
    }
    let hand = measure("by hand: format!, lock, get, clone", &ids, |id| {
        black_box(by_hand.lock().unwrap().get(&format!("msg:{id}")).cloned());
    });
    let hot = ids[7].as_str();
    let hand_hot = measure("by hand, one key", &ids, |_| {
        black_box(by_hand.lock().unwrap().get(&format!("msg:{hot}")).cloned());
    });
    measure("token", &ids, |_| _ = black_box(Token::fresh()));
    measure("call: key, id, token", &ids, |id| drop(black_box(derive(id))));
    measure("clock", &ids, |_| _ = black_box(Clock::monotonic().now()));
    idem::install(Says(Some(Body::copy_from(b"j36"))));
    measure("replay, async", &ids, |id| {
        let call = derive(id);
        black_box(now(run(&call, codec(), async { Ok::<u64, Error>(1) }))).unwrap();
    });
    measure("replay, plain", &ids, |id| {
        let call = derive(id);
        black_box(run_blocking(&call, codec(), || Ok::<u64, Error>(1))).unwrap();
    });
    idem::install(Says(None));
    measure("first, async, ready at the first poll", &ids, |id| {
        let call = derive(id);
        black_box(now(run(&call, codec(), async { Ok::<u64, Error>(1) }))).unwrap();
    });
    measure("first, plain", &ids, |id| {
        let call = derive(id);
        black_box(run_blocking(&call, codec(), || Ok::<u64, Error>(1))).unwrap();
    });
    let shared: Arc<dyn Store> = Arc::new(Says(None));
    measure("first, async, in a shared store", &ids, |id| {
        let call = derive(id).with(|call| call.use_store(StoreHandle::shared(shared.clone())));
        black_box(now(run(&call, codec(), async { Ok::<u64, Error>(1) }))).unwrap();
    });
    idem::install(MemoryStore::builder().max_records(10_000_000).build());
    let message = |id: &str| Message { id: id.to_owned() };
    measure("annotated async fn, in memory: first", &ids, |id| {
        black_box(now(annotated(&message(id)))).unwrap();
    });
    measure("annotated async fn, in memory: replay", &ids, |id| {
        black_box(now(annotated(&message(id)))).unwrap();
    });
    let one = message(hot);
    let replay = measure("annotated async fn, in memory: replay, one", &ids, |_| {
        black_box(now(annotated(&one))).unwrap();
    });
    measure("annotated fn, in memory: first", &ids, |id| {
        black_box(plain(&message(id))).unwrap();
    });
    measure("annotated fn, in memory: replay", &ids, |id| {
        black_box(plain(&message(id))).unwrap();
    });
    println!(
        "replay of one key: {:.2} times by hand ({hand_hot:.0} ns; all keys {hand:.0} ns)",
        replay / hand_hot
    );
    sizes();
}

fn size_of_future<F: Future>(future: F) -> usize {
    let size = size_of_val(&future);
    drop(Box::pin(future) as Pin<Box<dyn Future<Output = F::Output> + '_>>);
    size
}

async fn small_by_hand(id: u64) -> Result<u64, Error> {
    std::future::ready(()).await;
    Ok(id)
}

#[idempotent(key = "msg:<id>", scope = "bench.small")]
async fn small(id: u64) -> Result<u64, Error> {
    std::future::ready(()).await;
    Ok(id)
}

#[allow(clippy::large_types_passed_by_value, reason = "its size is what is measured")]
async fn large_by_hand(id: u64, payload: [u8; 8192]) -> Result<u64, Error> {
    std::future::ready(()).await;
    Ok(id + u64::from(black_box(&payload)[7]))
}

#[allow(clippy::large_types_passed_by_value, reason = "its size is what is measured")]
#[idempotent(key = "msg:<id>", scope = "bench.large")]
async fn large(id: u64, payload: [u8; 8192]) -> Result<u64, Error> {
    std::future::ready(()).await;
    Ok(id + u64::from(black_box(&payload)[7]))
}

fn sizes() {
    let call = derive("1");
    let body = async { Ok::<u64, Error>(1) };
    let bare = size_of_val(&body);
    println!(
        "Call {} bytes; Run without its body {} bytes",
        size_of_val(&call),
        size_of_val(&run(&call, codec(), body)) - bare
    );
    for (name, by_hand, guarded) in [
        ("one-word argument", size_of_future(small_by_hand(1)), size_of_future(small(1))),
        ("8 KiB argument", size_of_future(large_by_hand(1, [0; 8192])), size_of_future(large(1, [0; 8192]))),
    ] {
        println!("{name}: {by_hand} bytes without idem, {guarded} with it, {} more", guarded - by_hand);
    }
}
