//! Files, claims and completions for the tests.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use idem_core::machine::{Claim, Completion, Grant, OnLapse, Verdict};
use idem_core::{Body, ManualClock, Namespace, RecordId, Reply, SqliteStore, StoreError, Timestamp, Token};

/// A directory that goes when the test ends.
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sqlite-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("idem.db")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A clock at a time of this century, so that its times look like the wall clock's.
pub(crate) fn clock() -> ManualClock {
    ManualClock::at(Timestamp::from_micros(1_800_000_000_000_000))
}

/// A store that decides by `clock` and soon gives up on a lock.
pub(crate) fn open(file: &Path, clock: &ManualClock) -> SqliteStore {
    SqliteStore::builder(file).clock(clock.clone()).open().unwrap()
}

pub(crate) fn id(key: &str) -> RecordId {
    Namespace::new("", "", "test").record(key)
}

pub(crate) const LEASE: Duration = Duration::from_secs(30);
pub(crate) const KEEP: Duration = Duration::from_secs(3_600);

pub(crate) fn claim(key: &str) -> Claim {
    Claim {
        id: id(key),
        token: Token::fresh(),
        fingerprint: None,
        lease: LEASE,
        keep: KEEP,
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

pub(crate) fn completion(claim: &Claim, grant: Grant, body: &[u8]) -> Completion {
    Completion {
        id: claim.id,
        token: claim.token,
        fence: grant.fence,
        fingerprint: claim.fingerprint,
        body: Body::copy_from(body),
        ttl: KEEP,
        keep: KEEP,
    }
}

pub(crate) fn granted(verdict: Result<Verdict, StoreError>) -> Grant {
    match verdict.unwrap() {
        Verdict::Claimed(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

pub(crate) fn replayed(verdict: Result<Verdict, StoreError>) -> Vec<u8> {
    match verdict.unwrap() {
        Verdict::Completed { body: Some(body), .. } => body.to_vec(),
        other => panic!("not replayed: {other:?}"),
    }
}

/// Awaits a reply as a task does, which may not block: the writer's thread does the work.
pub(crate) fn awaited<T>(mut reply: Reply<T>) -> Result<T, StoreError> {
    loop {
        if let Poll::Ready(answer) = poll(&mut reply) {
            return answer;
        }
        std::thread::park();
    }
}

/// Polls once; whoever answers unparks this thread.
pub(crate) fn poll<T>(reply: &mut Reply<T>) -> Poll<Result<T, StoreError>> {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    std::pin::Pin::new(reply).poll(&mut Context::from_waker(&waker))
}
