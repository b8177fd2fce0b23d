//! Calls that are under way at once, and go together: each is answered as if it had gone alone.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures::future::join_all;
use idem::machine::{Claim, Recorded, Verdict};
use idem::{RedisStore, Store};
use idem_servers::{Proxy, RedisServer, wait_until};

use crate::messages::{again, came, ending, grant, hear, message};
use crate::place::{RUNTIME, open, prefix, server};

/// Claims all at once.
fn claim_all(store: &RedisStore, claims: &[Claim]) -> Vec<u64> {
    let verdicts = RUNTIME.block_on(join_all(claims.iter().map(|claim| store.claim(claim))));
    let fence = |verdict| match verdict {
        Ok(Verdict::Claimed(granted)) => granted.fence,
        other => panic!("a grant: {other:?}"),
    };
    verdicts.into_iter().map(fence).collect()
}

/// How many scripts ran by their hash.
fn scripts(server: &RedisServer) -> u32 {
    let said = server.ask(&["INFO", "commandstats"]);
    let calls = said.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls=")?.split(',').next());
    calls.expect("scripts").parse().expect("a number")
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_hundred_results_at_once_go_in_few_scripts() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let claims: Vec<_> = (0..100).map(|_| message()).collect();
    let fences = claim_all(&store, &claims);
    assert_eq!(server.ask(&["CONFIG", "RESETSTAT"]), "OK");
    let ends =
        claims.iter().zip(&fences).map(|(claim, fence)| store.complete(&ending(claim, *fence, b"done")));
    let recorded = RUNTIME.block_on(join_all(ends));
    assert!(recorded.iter().all(|recorded| matches!(recorded, Ok(Recorded::Stored))), "{recorded:?}");
    let scripts = scripts(&server);
    // Each by itself it would be a hundred. How many find each other is up to the scheduler.
    assert!(scripts < 75, "{scripts}");
    let duplicates: Vec<_> = claims.iter().map(again).collect();
    for verdict in RUNTIME.block_on(join_all(duplicates.iter().map(|claim| store.claim(claim)))) {
        came!(verdict, Ok(Verdict::Completed { body: Some(body), .. }) if *body == *b"done");
    }
}

/// No reply of a group is there before all are, so a group of large results would keep all in it waiting.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn large_results_at_once_go_in_small_groups() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    let claims: Vec<_> = (0..60).map(|_| message()).collect();
    let fences = claim_all(&store, &claims);
    let size = |at: usize| if at == 30 { 1 << 20 } else { 100 << 10 };
    let body = |at: usize| vec![b'a' + u8::try_from(at % 26).expect("a letter"); size(at)];
    assert_eq!(server.ask(&["CONFIG", "RESETSTAT"]), "OK");
    let ends = claims.iter().zip(&fences).enumerate();
    let ends = ends.map(|(at, (claim, fence))| store.complete(&ending(claim, *fence, &body(at))));
    let recorded = RUNTIME.block_on(join_all(ends));
    assert!(recorded.iter().all(|recorded| matches!(recorded, Ok(Recorded::Stored))), "{recorded:?}");
    // Two hundred kilobytes in each, at most.
    let scripts = scripts(&server);
    assert!(scripts >= 30, "{scripts}");
    let duplicates: Vec<_> = claims.iter().map(again).collect();
    let verdicts = RUNTIME.block_on(join_all(duplicates.iter().map(|claim| store.claim(claim))));
    for (at, verdict) in verdicts.into_iter().enumerate() {
        came!(verdict, Ok(Verdict::Completed { body: Some(found), .. }) if found[..] == body(at)[..]);
    }
}

/// Among many that go together, what is not as usual is found out by itself.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn results_that_are_superseded_or_recreated_are_told_so_among_others() {
    let server = server();
    let prefix = prefix();
    let store = open(RedisStore::builder(server.url()).prefix(prefix.clone()));
    let claims: Vec<_> = (0..40).map(|_| message()).collect();
    let fences = claim_all(&store, &claims);
    let foreign = [prefix.as_bytes(), claims[3].id.as_bytes()].concat();
    let mut client = server.client();
    assert_eq!(client.ask(&[b"SET", &foreign[..], b"another program's"]), "OK");
    hear(store.forget(&claims[5].id, true)).expect("a deletion");
    hear(store.release(&claims[7].id, &claims[7].token)).expect("a release");
    grant(&store, &again(&claims[7]));
    // Twice, and not with the same result: what was recorded first stays.
    let end = |at: usize, body: &[u8]| store.complete(&ending(&claims[at], fences[at], body));
    let ends = (0..40).map(|at| end(at, b"done")).chain([end(9, b"another")]);
    for (at, recorded) in RUNTIME.block_on(join_all(ends)).into_iter().enumerate() {
        match at {
            3 => assert_eq!(recorded.expect_err("no record").kind(), idem::StoreErrorKind::Foreign),
            5 => came!(recorded, Ok(Recorded::Recreated)),
            7 => came!(recorded, Ok(Recorded::Superseded { .. })),
            _ => came!(recorded, Ok(Recorded::Stored)),
        }
    }
    assert_eq!(client.ask(&[b"GET", &foreign[..]]), "another program's");
    let recorded = |claim| match hear(store.claim(&again(claim))) {
        Ok(Verdict::Completed { body: Some(body), .. }) => body.to_vec(),
        other => panic!("a result: {other:?}"),
    };
    let first = recorded(&claims[9]);
    came!(hear(end(9, b"a third")), Ok(Recorded::Stored));
    assert_eq!(recorded(&claims[9]), first);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f32_results_whose_callers_went_away_are_recorded_or_not_sent_at_all() {
    let server = server();
    let store = open(RedisStore::builder(server.url()).prefix(prefix()));
    let claims: Vec<_> = (0..60).map(|_| message()).collect();
    let fences = claim_all(&store, &claims);
    let mut replies: Vec<_> = claims
        .iter()
        .zip(&fences)
        .map(|(claim, fence)| store.complete(&ending(claim, *fence, b"done")))
        .collect();
    // All have begun, and every other one is waited for by nobody.
    RUNTIME.block_on(async {
        // A busy thread finds the first ones answered when it comes to the last.
        replies.retain_mut(|reply| match pin!(reply).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(recorded) => {
                came!(recorded, Ok(Recorded::Stored));
                false
            }
            Poll::Pending => true,
        });
        let mut at = 0;
        replies.retain(|_| {
            at += 1;
            at % 2 == 0
        });
        for recorded in join_all(replies).await {
            came!(recorded, Ok(Recorded::Stored));
        }
    });
    for (claim, fence) in claims.iter().zip(fences) {
        came!(hear(store.complete(&ending(claim, fence, b"done"))), Ok(Recorded::Stored));
        came!(hear(store.claim(&again(claim))), Ok(Verdict::Completed { .. }));
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f22_calls_that_lose_their_connection_together_are_each_done_once() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let store = open(RedisStore::builder(format!("redis://127.0.0.1:{}", proxy.port())).prefix(prefix()));
    for _ in 0..5 {
        let claims: Vec<_> = (0..50).map(|_| message()).collect();
        proxy.lose_reply_to(claims[20].token.as_bytes());
        let fences = claim_all(&store, &claims);
        proxy.lose_reply_to(claims[30].token.as_bytes());
        let ends =
            claims.iter().zip(fences).map(|(claim, fence)| store.complete(&ending(claim, fence, b"done")));
        for recorded in RUNTIME.block_on(join_all(ends)) {
            came!(recorded, Ok(Recorded::Stored));
        }
        for claim in &claims {
            came!(hear(store.claim(&again(claim))), Ok(Verdict::Completed { .. }));
        }
    }
    proxy.wait_until_lost(10);
}

/// Who waits on threads of their own goes together with the others.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn scripts_that_are_flushed_while_many_are_at_it_spoil_nothing() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let claim = message();
                    let fence = match store.claim(&claim).wait() {
                        Ok(Verdict::Claimed(granted)) => granted.fence,
                        other => panic!("a grant: {other:?}"),
                    };
                    came!(store.complete(&ending(&claim, fence, b"done")).wait(), Ok(Recorded::Stored));
                }
            });
        }
        for _ in 0..20 {
            assert_eq!(server.ask(&["SCRIPT", "FLUSH"]), "OK");
        }
    });
    wait_until("all records are there", || server.ask(&["DBSIZE"]) == "400");
}

/// Some of them are recorded, some fail for good, and some are given back.
#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn ends_of_all_kinds_are_one_round_trip() {
    use idem::machine::{End, Ended, Released};

    let server = RedisServer::start();
    for builder in [RedisStore::builder(server.url()), RedisStore::builder(server.url()).only_scripts()] {
        let store = open(builder.prefix(prefix()));
        let claims: Vec<_> = (0..30).map(|_| message()).collect();
        let ends: Vec<_> = (0..)
            .zip(&claims)
            .map(|(number, claim)| {
                let end = ending(claim, grant(&store, claim).fence, b"how it ended");
                match number % 3 {
                    0 => End::Complete(end),
                    1 => End::Fail(end),
                    _ => End::Release { id: claim.id, token: claim.token },
                }
            })
            .collect();
        let mut client = server.client();
        let mut packets = || {
            let info = client.ask(&["INFO", "stats"]);
            let field = info.lines().find_map(|line| line.strip_prefix("total_reads_processed:"));
            field.and_then(|reads| reads.trim().parse::<u64>().ok()).expect("a number")
        };
        let before = packets();
        let ended = hear(store.end_many(&ends)).expect("answers");
        // The ends, and this question.
        assert_eq!(packets() - before, 2);
        for (number, (claim, ended)) in claims.iter().zip(ended).enumerate() {
            let verdict = hear(store.claim(&again(claim)));
            match number % 3 {
                0 => came!(
                    (ended, verdict),
                    (Ended::Recorded(Recorded::Stored), Ok(Verdict::Completed { .. }))
                ),
                1 => {
                    came!((ended, verdict), (Ended::Recorded(Recorded::Stored), Ok(Verdict::Refused { .. })));
                }
                _ => came!(
                    (ended, verdict),
                    (Ended::Released(Released::Released { tries: 1 }), Ok(Verdict::Claimed(grant))) if grant.tries == 2
                ),
            }
        }
    }
}
