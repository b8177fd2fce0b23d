//! Many callers on few records, while connections are cut, scripts vanish and the server is stopped: whatever happens, one caller at a
//! time has a record, fences grow, and what was acknowledged is found.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use idem::machine::{Claim, End, Ended, Recorded, Verdict};
use idem::{RecordId, RedisStore, Reply, Store};
use idem_servers::{Proxy, RedisCluster, RedisServer};

use crate::messages::{again, ending, message, tagged};
use crate::place::{RUNTIME, open};

/// What is known of one record here.
#[derive(Default)]
struct Known {
    /// Changes with all that is known.
    version: AtomicU64,
    held: AtomicBool,
    fence: AtomicU64,
    result: Mutex<Option<Vec<u8>>>,
}

impl Known {
    /// What is certain now, and when.
    fn now(&self) -> (u64, bool, Option<Vec<u8>>) {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        (self.version.load(Ordering::SeqCst), self.held.load(Ordering::SeqCst), result.clone())
    }

    fn set(&self, held: bool, result: Option<Vec<u8>>) {
        let mut known = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        self.version.fetch_add(1, Ordering::SeqCst);
        let was = self.held.swap(held, Ordering::SeqCst);
        assert!(!(was && held), "two callers have one record");
        *known = result;
    }
}

/// Asks until it is answered; now and then a caller goes away before.
async fn insist<T: Send + 'static>(dice: &mut u64, ask: impl Fn() -> Reply<T>) -> T {
    loop {
        *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let reply = ask();
        let answered = match *dice >> 61 {
            0 => {
                let patience = Duration::from_micros(*dice >> 40 & 0x7ff);
                tokio::time::timeout(patience, reply).await.ok()
            }
            _ => Some(reply.await),
        };
        match answered {
            Some(Ok(answer)) => return answer,
            Some(Err(error)) => assert!(error.is_transient(), "{error}"),
            None => {}
        }
    }
}

async fn rush(store: RedisStore, records: Arc<HashMap<RecordId, (Claim, Known)>>, seed: u64) -> u32 {
    let mut dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let all: Vec<_> = records.values().collect();
    let mut granted = 0;
    for round in 0..30 {
        let (claim, known) = all[(dice >> 33) as usize % all.len()];
        let claim = again(claim);
        let before = known.now();
        let verdict = if dice >> 59 & 1 == 0 {
            insist(&mut dice, || store.claim(&claim)).await
        } else {
            let alone = [claim.clone()];
            insist(&mut dice, || store.claim_many(&alone)).await.remove(0)
        };
        let still = before.0 == known.now().0;
        match verdict {
            Verdict::Claimed(grant) => {
                known.set(true, None);
                granted += 1;
                let last = known.fence.swap(grant.fence, Ordering::SeqCst);
                assert!(last < grant.fence, "fence {} after {last}", grant.fence);
                if dice >> 62 == 0 {
                    known.set(false, None);
                    insist(&mut dice, || store.release(&claim.id, &claim.token)).await;
                    continue;
                }
                let size = if dice >> 60 == 15 { 200_000 } else { 20 };
                let mut body = format!("{seed} {round} {}", grant.fence).into_bytes();
                body.resize(size, b'.');
                let end = ending(&claim, grant.fence, &body);
                let recorded = if dice >> 57 & 1 == 0 {
                    insist(&mut dice, || store.complete(&end)).await
                } else {
                    let ends = [End::Complete(end)];
                    match insist(&mut dice, || store.end_many(&ends)).await[..] {
                        [Ended::Recorded(recorded)] => recorded,
                        ref other => panic!("{other:?}"),
                    }
                };
                assert!(matches!(recorded, Recorded::Stored), "{recorded:?}");
                known.set(false, Some(body.clone()));
                let found = insist(&mut dice, || store.claim(&again(&claim))).await;
                assert!(
                    matches!(&found, Verdict::Completed { body: Some(found), .. } if found[..] == body[..]),
                    "what was recorded: {found:?}"
                );
                known.set(false, None);
                // The operator's word, once: if its answer is lost, another caller may have the record next.
                let _ = store.forget(&claim.id, false).await;
            }
            other if still && before.2.is_some() => {
                let result = before.2.as_deref();
                assert!(
                    matches!(&other, Verdict::Completed { body: Some(body), .. } if Some(&body[..]) == result),
                    "what was recorded: {other:?}"
                );
            }
            Verdict::InProgress { .. } | Verdict::Completed { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    granted
}

/// So many callers on all of the records, while there is `weather`, which is told how often it was asked for.
fn storm(stores: &[RedisStore], claims: Vec<Claim>, callers: usize, mut weather: impl FnMut(usize)) {
    let claims = claims.into_iter().map(|claim| Claim { max_tries: u32::MAX, ..claim });
    let records: Arc<HashMap<_, _>> =
        Arc::new(claims.map(|claim| (claim.id, (claim, Known::default()))).collect());
    let callers: Vec<_> = (0..callers)
        .map(|caller| {
            let store = stores[caller % stores.len()].clone();
            RUNTIME.spawn(rush(store, records.clone(), caller as u64 + 1))
        })
        .collect();
    let mut times = 0;
    while callers.iter().any(|caller| !caller.is_finished()) {
        times += 1;
        weather(times);
        std::thread::sleep(Duration::from_millis(20));
    }
    let granted: u32 = callers.into_iter().map(|caller| RUNTIME.block_on(caller).expect("no fault")).sum();
    // What callers that went away had asked for may still hold records; not all of them.
    assert!(granted > 40, "{granted}");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn few_records_among_many_callers_have_one_holder_each_in_any_weather() {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let stores: Vec<_> =
        (0..3).map(|_| open(RedisStore::builder(format!("redis://127.0.0.1:{}", proxy.port())))).collect();
    storm(&stores, (0..40).map(|_| message()).collect(), 300, |times| match times % 6 {
        0 => proxy.cut_once(),
        1 => assert_eq!(server.ask(&["SCRIPT", "FLUSH"]), "OK"),
        2 => proxy.lose_reply_to(b"EVALSHA"),
        3 => proxy.lose_reply_to(b"NX"),
        4 => {
            server.pause();
            std::thread::sleep(Duration::from_millis(20));
            server.go_on();
        }
        _ => proxy.pass(),
    });
}

/// Their slots are moved to and fro meanwhile.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_few_records_in_a_cluster_have_one_holder_each_in_any_weather() {
    let cluster = RedisCluster::start(3, 3);
    let proxies = cluster.behind_proxies();
    let url = |proxy: &Proxy| format!("redis://127.0.0.1:{}", proxy.port());
    let stores: Vec<_> = proxies.iter().map(|proxy| open(RedisStore::builder(url(proxy)))).collect();
    let tags = [b'x', b'y', b'z'];
    let claims = (0..40).map(|number| if number < 20 { tagged(tags[number % 3]) } else { message() });
    let mut slots = tags.map(|tag| cluster.slot(&[b'{', tag, b'}'], 3));
    storm(&stores, claims.collect(), 150, |times| {
        let at = times / 6 % 3;
        match times % 6 {
            0 => proxies[at].cut_once(),
            1 => assert_eq!(cluster.nodes()[at].ask(&["SCRIPT", "FLUSH"]), "OK"),
            2 => proxies[at].lose_reply_to(b"EVALSHA"),
            3 => {
                cluster.nodes()[at].pause();
                std::thread::sleep(Duration::from_millis(20));
                cluster.nodes()[at].go_on();
            }
            4 => {
                let (slot, owner) = slots[at];
                slots[at].1 = (owner + 1) % 3;
                cluster.move_slot(slot, owner, slots[at].1);
            }
            _ => proxies[at].pass(),
        }
    });
}

/// Primaries and their replicas change places, as an operator lets them: nothing is lost by that.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_few_records_in_a_cluster_have_one_holder_each_while_replicas_take_over() {
    let cluster = RedisCluster::with_replicas(3);
    let stores = [0, 1, 5].map(|node| open(RedisStore::builder(cluster.nodes()[node].url())));
    let mut primaries = [0, 1, 2];
    storm(&stores, (0..40).map(|_| message()).collect(), 150, |times| {
        // There and back.
        if times <= 6 {
            let primary = &mut primaries[times % 3];
            *primary = (*primary + 3) % 6;
            cluster.hand_over(*primary);
        }
    });
}
