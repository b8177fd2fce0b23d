//! Annotated handlers on Redis: what becomes of its faults, and of keys (F07, F22 to F24, F55, F58 to F60).

use std::sync::atomic::{AtomicU32, Ordering};

use idem::{Attempt, Disposition, Error, ErrorKind, Outcome, RedisStore, idempotent};
use idem_servers::{DURABLE, Proxy, RedisServer};

use crate::place::{RUNTIME, open, prefix, server};

struct Payment {
    id: Option<String>,
}

/// What a body does; boxed, as a handler with two types would be two handlers of one scope.
type Effect<'e> = Box<dyn FnOnce() + Send + 'e>;

fn payment(id: impl Into<String>) -> Payment {
    Payment { id: Some(id.into()) }
}

#[idempotent(key = "msg:<message.id>", store = store, scope = "redis.bill")]
async fn bill(message: Payment, store: &RedisStore, effects: &AtomicU32) -> Result<Outcome<u32>, Error> {
    Ok(effects.fetch_add(1, Ordering::Relaxed).into())
}

#[idempotent(key = "msg:<message.id>", store = store, scope = "redis.mail")]
fn mail(message: &Payment, store: &RedisStore, effects: &AtomicU32) -> Result<u32, Error> {
    Ok(effects.fetch_add(1, Ordering::Relaxed))
}

/// Each call of the handler has a handle to the store of its own.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_batch_is_claimed_together_and_a_message_twice_in_it_runs_once() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let effects = AtomicU32::new(0);
    let reads = || server.info("total_reads_processed").parse::<u64>().expect("a number");
    let before = reads();
    let calls = (0..50).chain(0..50).map(|n| bill(payment(n.to_string()), &store, &effects));
    let results = RUNTIME.block_on(idem::batch(calls, 16));
    // Who asks for this is heard twice, and the batch in pipelines of a few packets: each call by itself would be heard twice.
    assert!(reads() - before <= 30, "{}", reads() - before);
    let outcomes: Vec<_> = results.into_iter().map(|result| result.expect("an outcome")).collect();
    for (first, second) in outcomes[..50].iter().zip(&outcomes[50..]) {
        assert!(first.is_executed() && !second.is_executed(), "{first:?} {second:?}");
        assert_eq!(first.value(), second.value());
    }
    assert_eq!(effects.into_inner(), 50);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f22_a_result_whose_reply_is_lost_is_recorded_and_its_body_runs_once() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    let store = open(RedisStore::builder(url).prefix(prefix()));
    let effects = AtomicU32::new(0);
    // The claim's.
    proxy.lose_reply_to(b"");
    let first = RUNTIME.block_on(bill(payment("7"), &store, &effects)).expect("a result");
    assert_eq!(first, Outcome::Executed { value: 0, recorded: true });
    proxy.lose_reply_to(b"");
    let second = RUNTIME.block_on(bill(payment("7"), &store, &effects)).expect("a result");
    assert!(matches!(second, Outcome::Replayed { value: 0, .. }), "{second:?}");
    proxy.wait_until_lost(2);
    assert_eq!(effects.into_inner(), 1);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f23_a_store_that_is_gone_after_the_effect_costs_the_record_and_never_the_result() {
    #[idempotent(key = "msg:<message.id>", store = store, scope = "redis.gone", lease = "600ms")]
    async fn charge(message: Payment, store: &RedisStore, effect: Effect<'_>) -> Result<Outcome<u32>, Error> {
        effect();
        Ok(7.into())
    }
    let mut server = RedisServer::with(&DURABLE);
    let store = open(RedisStore::builder(server.url()));
    let result = RUNTIME
        .block_on(charge(payment("7"), &store, Box::new(|| server.kill())))
        .expect("the result stands");
    assert_eq!(result, Outcome::Executed { value: 7, recorded: false });
    server.restart();
    // The claim was on the disk, and lapses: what is delivered again runs again.
    idem_servers::wait_until("it runs again", || {
        RUNTIME
            .block_on(charge(payment("7"), &store, Box::new(|| {})))
            .is_ok_and(|outcome| outcome.is_executed())
    });
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f23_a_store_that_comes_back_within_the_lease_gets_the_record() {
    #[idempotent(key = "msg:<message.id>", store = store, scope = "redis.back")]
    async fn charge(message: Payment, store: &RedisStore, effect: Effect<'_>) -> Result<Outcome<u32>, Error> {
        effect();
        Ok(7.into())
    }
    let server = server();
    let proxy = Proxy::to(server.port());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    let store = open(RedisStore::builder(url).prefix(prefix()));
    let result = std::thread::scope(|scope| {
        let (cut, was_cut) = std::sync::mpsc::channel();
        let proxy = &proxy;
        scope.spawn(move || {
            was_cut.recv().expect("the effect");
            let before = proxy.accepted();
            // It was tried in vain once at least.
            idem_servers::wait_until("the store looks for its server", || proxy.accepted() > before);
            proxy.pass();
        });
        RUNTIME.block_on(charge(
            payment("7"),
            &store,
            Box::new(|| {
                proxy.cut();
                cut.send(()).expect("a thread that waits");
            }),
        ))
    });
    assert_eq!(result.expect("a result"), Outcome::Executed { value: 7, recorded: true });
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f24_a_store_that_is_gone_before_the_body_is_a_delivery_for_later() {
    let mut server = RedisServer::with(&DURABLE);
    let store = open(RedisStore::builder(server.url()));
    let effects = AtomicU32::new(0);
    server.kill();
    let error = RUNTIME.block_on(bill(payment("7"), &store, &effects)).expect_err("no server");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(matches!(error.disposition(), Disposition::RetryAfter(_)));
    let error = mail(&payment("7"), &store, &effects).expect_err("no server");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(effects.load(Ordering::Relaxed), 0);
    server.restart();
    let outcome = RUNTIME.block_on(bill(payment("7"), &store, &effects)).expect("a result");
    assert!(outcome.is_executed());
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f07_a_body_that_starves_its_renewals_learns_that_it_lost_the_message() {
    /// Its effect says the fence of whoever took over meanwhile.
    #[idempotent(key = "msg:<message.id>", store = store, scope = "redis.starving", lease = "200ms")]
    async fn charge(
        message: Payment,
        store: &RedisStore,
        effect: Box<dyn FnOnce() -> Option<u64> + Send + '_>,
        #[attempt] attempt: &Attempt,
    ) -> Result<Outcome<(bool, u64)>, Error> {
        let newer = effect().is_some_and(|fence| fence > attempt.fence());
        Ok((newer && attempt.is_lost(), attempt.fence()).into())
    }
    let (server, prefix) = (server(), prefix());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let builder = RedisStore::builder(server.url()).prefix(prefix.clone());
    let store = runtime.block_on(builder.connect()).expect("a server");
    let other = open(RedisStore::builder(server.url()).prefix(prefix));
    // Blocks the only thread of its runtime until another delivery has taken over.
    let starve = || {
        let mut fence = None;
        idem_servers::wait_until("the lease has ended", || {
            let taken = std::thread::scope(|scope| {
                let take_over = || RUNTIME.block_on(charge(payment("7"), &other, Box::new(|| None)));
                scope.spawn(take_over).join().expect("another delivery")
            });
            fence = taken.ok().map(|outcome| outcome.value().1);
            fence.is_some()
        });
        fence
    };
    let first = runtime.block_on(charge(payment("7"), &store, Box::new(starve))).expect("the result stands");
    assert!(matches!(first, Outcome::Executed { value: (true, _), recorded: false }), "{first:?}");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f55_two_handlers_of_one_message_both_run_and_each_once() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let effects = AtomicU32::new(0);
    for _ in 0..3 {
        RUNTIME.block_on(bill(payment("7"), &store, &effects)).expect("a result");
        mail(&payment("7"), &store, &effects).expect("a result");
    }
    assert_eq!(effects.into_inner(), 2);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f58_missing_and_empty_ids_run_nothing_and_blanks_are_kept() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let effects = AtomicU32::new(0);
    for message in [Payment { id: None }, payment(""), payment(" "), payment("null")] {
        let error = RUNTIME.block_on(bill(message, &store, &effects)).expect_err("no key");
        assert_eq!(error.kind(), ErrorKind::MissingKeyPart, "{error}");
        assert!(matches!(error.disposition(), Disposition::Park(_)));
    }
    assert_eq!(effects.load(Ordering::Relaxed), 0);
    for id in ["7", "7 ", " 7", "\t7"] {
        RUNTIME.block_on(bill(payment(id), &store, &effects)).expect("a result");
    }
    assert_eq!(effects.into_inner(), 4);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f59_bytes_decide_and_no_collation() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let effects = AtomicU32::new(0);
    let ids = ["\u{e9}", "e\u{301}", "\u{df}", "SS", "ss", "I", "\u{131}", "i", "\u{130}", "a", "A"];
    for _ in 0..2 {
        for id in ids {
            RUNTIME.block_on(bill(payment(id), &store, &effects)).expect("a result");
        }
    }
    assert_eq!(effects.into_inner() as usize, ids.len());
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f60_hostile_ids_are_keys_of_their_own_and_too_long_ones_none() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let effects = AtomicU32::new(0);
    let ids = [
        "\0",
        "\0\0",
        "'",
        "\"",
        "{tag}",
        "{tag",
        "x\r\n",
        "\r\nDEL *\r\n",
        "*",
        ">",
        "$6\r\n",
        "'; drop table idem; --",
    ];
    for _ in 0..2 {
        for id in ids {
            RUNTIME.block_on(bill(payment(id), &store, &effects)).expect("a result");
        }
    }
    assert_eq!(effects.load(Ordering::Relaxed) as usize, ids.len());
    let error = RUNTIME.block_on(bill(payment("x".repeat(1 << 20)), &store, &effects)).expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::InvalidKey, "{error}");
    assert_eq!(effects.into_inner() as usize, ids.len());
}
