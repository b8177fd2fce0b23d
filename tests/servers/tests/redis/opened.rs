//! Stores that are opened amid a failover: unavailable, as long as waiting may mend it (F43, F46).

use std::io::{Read, Write};
use std::net::TcpListener;

use idem::{RedisStore, RedisStoreBuilder, StoreError, StoreErrorKind};
use idem_servers::{DURABLE, RedisCluster, RedisSentinels, RedisServer, wait_until};

use crate::messages::{grant, hear, message};
use crate::place::{open, try_open};

fn builder(sentinels: &RedisSentinels) -> RedisStoreBuilder {
    let mut urls = sentinels.urls();
    let first = RedisStore::builder(urls.next().expect("a Sentinel")).sentinel(RedisSentinels::NAME);
    urls.fold(first, RedisStoreBuilder::node)
}

fn refused(builder: RedisStoreBuilder) -> StoreError {
    try_open(builder).expect_err("a server that cannot be used now")
}

/// What it says has to name the server, what was done, and what to do.
fn must_be(error: &StoreError, kind: StoreErrorKind, parts: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts.iter().chain(&["cannot connect"]) {
        assert!(error.to_string().contains(part), "`{part}` in: {error}");
    }
}

/// Opens a store once that can be done; nothing but `Unavailable` is said before. How often, comes with it.
fn opened_at_last(builder: impl Fn() -> RedisStoreBuilder) -> (RedisStore, u32) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let mut refusals = 0;
    loop {
        match try_open(builder()) {
            Ok(store) => return (store, refusals),
            Err(error) => must_be(&error, StoreErrorKind::Unavailable, &[]),
        }
        refusals += 1;
        assert!(std::time::Instant::now() < deadline, "a minute went by");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f43_a_store_that_is_opened_while_sentinels_fail_over_is_unavailable_until_they_have() {
    let mut sentinels = RedisSentinels::start(1);
    sentinels.servers_mut()[0].kill();
    let (store, refusals) = opened_at_last(|| builder(&sentinels));
    assert!(refusals > 0, "it was never caught at it");
    grant(&store, &message());
    assert_eq!(sentinels.servers()[1].ask(&["DBSIZE"]), "1");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f43_a_primary_that_sentinels_know_and_hold_for_dead_is_unavailable_and_an_unknown_one_misconfigured() {
    let mut sentinels = RedisSentinels::start(0);
    sentinels.servers_mut()[0].kill();
    wait_until("the Sentinels hold it for dead", || {
        let error = refused(builder(&sentinels));
        must_be(&error, StoreErrorKind::Unavailable, &[RedisSentinels::NAME]);
        error.to_string().contains("name no primary that is up")
    });
    must_be(&refused(builder(&sentinels).sentinel("mailing")), StoreErrorKind::Misconfigured, &["mailing"]);
    // One who does not answer may know it.
    let silent = builder(&sentinels).sentinel("mailing").node("redis://127.0.0.1:1");
    must_be(&refused(silent), StoreErrorKind::Unavailable, &["mailing"]);
    sentinels.servers_mut()[0].restart();
    opened_at_last(|| builder(&sentinels));
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_replica_is_unavailable_without_its_primary_and_read_only_with_it() {
    let (mut primary, replica) = (RedisServer::start(), RedisServer::start());
    replica.follow(primary.port());
    let opening = || RedisStore::builder(replica.url());
    let port = replica.port().to_string();
    must_be(&refused(opening()), StoreErrorKind::ReadOnly, &[&port, "address of the primary"]);
    primary.kill();
    wait_until("the replica misses its primary", || replica.info("master_link_status") == "down");
    must_be(&refused(opening()), StoreErrorKind::Unavailable, &[&port, "try again soon"]);
    primary.restart();
    wait_until("the replica has its primary", || replica.info("master_link_status") == "up");
    must_be(&refused(opening()), StoreErrorKind::ReadOnly, &["replica"]);
    primary.kill();
    replica.promote();
    grant(&open(opening()), &message());
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_store_that_is_opened_while_its_server_reads_its_data_is_unavailable_until_it_has() {
    let options = [&DURABLE[..], &["--key-load-delay", "300"]].concat();
    let mut server = RedisServer::with(&options);
    let claims: Vec<_> = (0..5_000).map(|_| message()).collect();
    hear(idem::Store::claim_many(&open(RedisStore::builder(server.url())), &claims)).expect("verdicts");
    server.relaunch();
    let (_, refusals) = opened_at_last(|| RedisStore::builder(server.url()));
    assert!(refusals > 0, "it was never caught at it");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn f46_a_store_in_a_cluster_that_has_lost_a_node_is_unavailable_until_that_is_back() {
    let mut cluster = RedisCluster::start(3, 3);
    cluster.nodes_mut()[2].kill();
    wait_until("the cluster is down", || {
        cluster.nodes()[0].ask(&["CLUSTER", "INFO"]).contains("cluster_state:fail")
    });
    let urls: Vec<_> = [2, 0].map(|node| cluster.nodes()[node].url()).into();
    for url in &urls {
        // From a node that is up it may be opened, and finds out then.
        let error = try_open(RedisStore::builder(url))
            .and_then(|store| hear(idem::Store::claim(&store, &message())))
            .expect_err("a cluster that is down");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
    cluster.nodes_mut()[2].restart();
    for url in &urls {
        let (store, _) = opened_at_last(|| RedisStore::builder(url));
        wait_until("the cluster is up", || hear(idem::Store::claim(&store, &message())).is_ok());
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_server_that_takes_no_more_clients_is_unavailable_until_it_does() {
    let server = RedisServer::with(&["--maxclients", "1"]);
    let only = server.client();
    // It may hang up before it has been heard to say why.
    must_be(&refused(RedisStore::builder(server.url())), StoreErrorKind::Unavailable, &[]);
    drop(only);
    opened_at_last(|| RedisStore::builder(server.url()));
}

#[test]
fn a_reply_that_is_cut_is_unavailable_and_one_that_is_none_misconfigured() {
    for (reply, kind) in [
        (&b"*14\r\n$6\r\nser"[..], StoreErrorKind::Unavailable),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", StoreErrorKind::Misconfigured),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("redis://{}", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("a client");
            assert!(client.read(&mut [0; 512]).expect("a command") > 0);
            client.write_all(reply).expect("a client that listens");
        });
        must_be(&refused(RedisStore::builder(url)), kind, &[]);
        server.join().expect("a server");
    }
}
