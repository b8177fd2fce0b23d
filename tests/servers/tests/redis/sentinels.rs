//! A primary that dies, and Sentinels that promote one of its replicas (F43).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use idem::machine::{Claim, Completion, Recorded, Verdict};
use idem::{RecordId, RedisStore, RedisStoreBuilder, Store, StoreErrorKind};
use idem_servers::{RedisSentinels, wait_until};

use crate::messages::{again, at_last, came, complete_many, ending, grant, hear, message};
use crate::place::open;

fn builder(sentinels: &RedisSentinels) -> RedisStoreBuilder {
    let mut urls = sentinels.urls();
    let first = RedisStore::builder(urls.next().expect("a Sentinel")).sentinel(RedisSentinels::NAME);
    urls.fold(first, RedisStoreBuilder::node)
}

/// What attempts were told, by message: grants in their order, and how each ended.
type History = HashMap<RecordId, Vec<(u64, Recorded)>>;

/// Claims and records each message twice, as its queue would deliver it.
fn work(store: &RedisStore, ended: &AtomicBool) -> (Vec<Claim>, History) {
    let (mut claims, mut history) = (Vec::new(), History::new());
    while !ended.load(Ordering::Relaxed) {
        let first = message();
        for claim in [first.clone(), again(&first)] {
            match at_last(|| store.claim(&claim)) {
                Verdict::Claimed(granted) => {
                    let recorded = at_last(|| store.complete(&ending(&claim, granted.fence, b"done")));
                    history.entry(claim.id).or_default().push((granted.fence, recorded));
                }
                Verdict::Completed { .. } => {}
                other => panic!("a grant or a replay: {other:?}"),
            }
        }
        claims.push(first);
    }
    (claims, history)
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f43_a_failover_by_sentinels_keeps_what_replicas_have_and_the_store_carries_on() {
    let mut sentinels = RedisSentinels::start(1);
    let store = open(builder(&sentinels));
    let careful = open(builder(&sentinels).wait_replicas(1, Duration::from_secs(1)));
    // I1, I2 and I5 hold for what a replica has: claims that waited for it, and results that are there.
    let held: Vec<_> = (0..8).map(|_| message()).collect();
    let fences: Vec<_> = held
        .iter()
        .map(|claim| match at_last(|| careful.claim(claim)) {
            Verdict::Claimed(granted) => granted.fence,
            other => panic!("a grant: {other:?}"),
        })
        .collect();
    let done: Vec<_> = (0..8).map(|_| message()).collect();
    let ends: Vec<Completion> =
        done.iter().map(|claim| ending(claim, grant(&store, claim).fence, b"before")).collect();
    came!(hear(complete_many(&store, &ends)), Ok(recorded) if recorded == [Recorded::Stored; 8]);
    let offset = |server: usize, field: &str| sentinels.servers()[server].info(field);
    let written = offset(0, "master_repl_offset").parse::<u64>().expect("a number");
    wait_until("the replica has it", || {
        offset(1, "slave_repl_offset").parse::<u64>().is_ok_and(|there| there >= written)
    });

    let ended = AtomicBool::new(false);
    let workers = std::thread::scope(|scope| {
        let workers = [(); 3].map(|()| scope.spawn(|| work(&store, &ended)));
        let old = sentinels.servers()[0].port();
        sentinels.servers_mut()[0].kill();
        assert_eq!(sentinels.wait_for_another_than(old), 1);
        // Whoever began before it ends after it, and more.
        came!(at_last(|| store.claim(&message())), Verdict::Claimed(_));
        ended.store(true, Ordering::Relaxed);
        workers.map(|worker| worker.join().expect("a worker"))
    });

    for (claim, fence) in held.iter().zip(&fences) {
        came!(at_last(|| store.claim(&again(claim))), Verdict::InProgress { tries: 1, .. });
        came!(at_last(|| store.complete(&ending(claim, *fence, b"after"))), Recorded::Stored);
    }
    for claim in done.iter().chain(&held) {
        came!(at_last(|| store.claim(&again(claim))), Verdict::Completed { body: Some(_), .. });
    }
    // What was lost ran a second time, and was told so: I5 and I9. What was not is answered with its result.
    for (claims, history) in workers {
        for claim in &claims {
            let ends = &history[&claim.id];
            assert!(
                ends.len() <= 2 && ends.is_sorted_by(|(earlier, _), (later, _)| earlier < later),
                "{ends:?}"
            );
            assert!(
                ends.iter().all(|(_, recorded)| matches!(recorded, Recorded::Stored | Recorded::Recreated)),
                "{ends:?}"
            );
        }
        let last = claims.last().expect("a message");
        came!(at_last(|| store.claim(&again(last))), Verdict::Completed { .. });
    }
    // Nobody is there to have a copy, until the old primary is back as a replica.
    let claim = message();
    came!(hear(careful.claim(&claim)), Err(error) if error.kind() == StoreErrorKind::Unavailable);
    sentinels.servers_mut()[0].relaunch();
    came!(at_last(|| careful.claim(&claim)), Verdict::Claimed(granted) if granted.tries == 1);
    assert_eq!(sentinels.servers()[0].info("role"), "slave");
}
