//! Servers that are not what they should be: each an error that names the server and the cure, and never the password.

use idem::{RedisStore, Store, StoreError, StoreErrorKind};
use idem_servers::{RedisServer, free_port};

use crate::messages::{grant, hear, message};
use crate::place::{open, try_open};

const SECRET: &str = "tro0ub4dor";

fn refused(url: &str) -> StoreError {
    let error = try_open(RedisStore::builder(url)).expect_err("a server that cannot be used");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    error
}

/// The error's kind, and what its text has to have.
fn must_be(error: &StoreError, kind: StoreErrorKind, parts: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "`{part}` in: {error}");
    }
}

#[test]
fn a_url_that_is_none_is_misconfigured() {
    for url in ["", "127.0.0.1", "http://127.0.0.1", &format!("redis://:{SECRET}@[oops")] {
        must_be(
            &refused(url),
            StoreErrorKind::Misconfigured,
            &["URL", "`redis://user:password@host:port/database`"],
        );
    }
}

#[test]
fn nobody_there_is_unavailable() {
    let port = free_port().to_string();
    let error = refused(&format!("redis://:{SECRET}@127.0.0.1:{port}"));
    must_be(&error, StoreErrorKind::Unavailable, &[&port, "is it running"]);
}

#[test]
fn tls_without_its_feature_is_misconfigured() {
    must_be(&refused("rediss://127.0.0.1:1"), StoreErrorKind::Misconfigured, &["tokio-rustls-comp"]);
}

#[test]
fn a_store_outside_of_a_runtime_is_misconfigured() {
    let mut connecting = Box::pin(RedisStore::connect("redis://127.0.0.1:1"));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match connecting.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(Err(error)) => {
            must_be(&error, StoreErrorKind::Misconfigured, &["Tokio runtime"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_that_make_no_sense_are_misconfigured() {
    let builder = || RedisStore::builder("redis://127.0.0.1:1");
    for builder in
        [builder().prefix("{a}"), builder().prefix([b'x'; 65]), builder().deadline(std::time::Duration::ZERO)]
    {
        let error = try_open(builder).expect_err("no sense");
        must_be(&error, StoreErrorKind::Misconfigured, &["127.0.0.1:1"]);
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_server_that_asks_for_tls_is_an_error_that_says_so() {
    let folder = idem_servers::Folder::new("tls");
    let path = |name: &str| folder.as_ref().join(name).to_str().expect("a path of text").to_owned();
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
        ])
        .args(["-subj", "/CN=localhost", "-keyout", &path("key"), "-out", &path("certificate")])
        .output();
    assert!(made.is_ok_and(|made| made.status.success()), "openssl makes a certificate");
    let port = free_port();
    let mut server = std::process::Command::new(idem_servers::program("redis-server"));
    server
        .args(["--port", "0", "--tls-port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args([
            "--tls-cert-file",
            &path("certificate"),
            "--tls-key-file",
            &path("key"),
            "--tls-auth-clients",
            "no",
        ])
        .args(["--logfile", &path("log"), "--dir", &path("")]);
    let _server = idem_servers::Process::start(&mut server);
    idem_servers::wait_until("it listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    must_be(&refused(&format!("redis://127.0.0.1:{port}")), StoreErrorKind::Unavailable, &["rediss://"]);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_password_that_is_missing_or_wrong_is_misconfigured() {
    let server = RedisServer::start();
    let store = open(RedisStore::builder(server.url()));
    grant(&store, &message());
    assert_eq!(server.ask(&["CONFIG", "SET", "requirepass", "another"]), "OK");
    must_be(&refused(&server.url()), StoreErrorKind::Misconfigured, &["password"]);
    let url = format!("redis://:{SECRET}@127.0.0.1:{}", server.port());
    must_be(&refused(&url), StoreErrorKind::Misconfigured, &["password"]);
    let url = format!("redis://nobody:{SECRET}@127.0.0.1:{}", server.port());
    must_be(&refused(&url), StoreErrorKind::Misconfigured, &["password"]);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_user_who_may_not_run_scripts_is_misconfigured() {
    let server = RedisServer::start();
    let user = ["ACL", "SETUSER", "reader", "on", ">tro0ub4dor", "~*", "+@all", "-@scripting"];
    assert_eq!(server.ask(&user), "OK");
    let store = open(RedisStore::builder(format!("redis://reader:{SECRET}@127.0.0.1:{}", server.port())));
    let error = hear(store.claim(&message())).expect_err("no rights");
    must_be(&error, StoreErrorKind::Misconfigured, &["EVALSHA", "claim a message"]);
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error}");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_user_with_the_fewest_rights_keeps_records_and_is_warned() {
    let server = RedisServer::start();
    let rights = ["+evalsha", "+eval", "+time", "+get", "+set", "+del"];
    let user = [&["ACL", "SETUSER", "idem", "on", ">tro0ub4dor", "~idem:*"], &rights[..]].concat();
    assert_eq!(server.ask(&user), "OK");
    let store = open(RedisStore::builder(format!("redis://idem:{SECRET}@127.0.0.1:{}", server.port())));
    assert!(store.warnings().iter().any(|warning| warning.contains("forbidden")), "{:?}", store.warnings());
    let claim = message();
    grant(&store, &claim);
    hear(store.claim_many(&[message(), message()])).expect("verdicts");
    hear(store.release(&claim.id, &claim.token)).expect("a release");
    hear(store.forget(&claim.id, true)).expect("a deletion");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_replica_is_read_only() {
    let (primary, replica) = (RedisServer::start(), RedisServer::start());
    replica.follow(primary.port());
    must_be(&refused(&replica.url()), StoreErrorKind::ReadOnly, &["replica", "primary"]);
    // The same, where only a greeting is allowed.
    let user = ["ACL", "SETUSER", "idem", "on", "nopass", "~*", "+evalsha", "+eval"];
    assert_eq!(replica.ask(&user), "OK");
    let url = format!("redis://idem:x@127.0.0.1:{}", replica.port());
    must_be(&refused(&url), StoreErrorKind::ReadOnly, &["replica"]);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_sentinel_is_misconfigured_and_leads_to_the_primary() {
    let primary = RedisServer::start();
    let folder = idem_servers::Folder::new("sentinel");
    let config = folder.as_ref().join("sentinel.conf");
    let (port, watched) = (free_port(), primary.port());
    let text = format!("port {port}\nbind 127.0.0.1\nsentinel monitor billing 127.0.0.1 {watched} 1\n");
    std::fs::write(&config, text).expect("a folder of our own");
    let mut sentinel = std::process::Command::new(idem_servers::program("redis-server"));
    sentinel
        .arg(&config)
        .arg("--sentinel")
        .arg("--dir")
        .arg(folder.as_ref())
        .stdout(std::process::Stdio::null());
    let _sentinel = idem_servers::Process::start(&mut sentinel);
    let url = format!("redis://127.0.0.1:{port}");
    idem_servers::wait_until("it answers", || {
        idem_servers::RedisClient::to(port).is_ok_and(|mut client| client.try_ask(&["PING"]).is_ok())
    });
    must_be(&refused(&url), StoreErrorKind::Misconfigured, &["sentinel(name)"]);
    let error = try_open(RedisStore::builder(&url).sentinel("mailing")).expect_err("an unknown name");
    must_be(&error, StoreErrorKind::Misconfigured, &["mailing"]);
    let store = open(RedisStore::builder(&url).sentinel("billing"));
    grant(&store, &message());
    assert_eq!(primary.ask(&["DBSIZE"]), "1");
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn a_cluster_without_slots_is_unavailable() {
    let server = RedisServer::with(&["--cluster-enabled", "yes"]);
    let error = try_open(RedisStore::builder(server.url()))
        .and_then(|store| hear(store.claim(&message())))
        .expect_err("no slots");
    must_be(&error, StoreErrorKind::Unavailable, &[&server.port().to_string()]);
}
