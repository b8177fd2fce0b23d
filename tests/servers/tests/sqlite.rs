//! What a power loss takes of a `SqliteStore`, and what it must not (F52): a worker is killed, and of its disk is left what was synced.
#![allow(missing_docs, reason = "a test's name says what it is about")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use idem::machine::{Claim, Completion, Forgotten, Grant, OnLapse, Prior, Recorded, Verdict};
use idem::{Body, ManualClock, Namespace, SqliteStore, Store, Timestamp, Token};
use idem_servers::Disk;

const FOLDER: &str = "IDEM_TEST_FOLDER";
const PART: &str = "IDEM_TEST_PART";
const LEASE: Duration = Duration::from_secs(30);
const KEEP: Duration = Duration::from_hours(1);
const THREADS: usize = 4;

fn claim(key: &str, on_lapse: OnLapse) -> Claim {
    Claim {
        id: Namespace::new("", "", "test").record(key),
        token: Token::fresh(),
        fingerprint: None,
        lease: LEASE,
        keep: KEEP,
        on_lapse,
        max_tries: 5,
        durable: false,
    }
}

/// A clock that stands: no lease ends by itself.
fn open(folder: &Path) -> (SqliteStore, ManualClock) {
    let clock = ManualClock::at(Timestamp::from_micros(1_800_000_000_000_000));
    // So few that keys go into the index while it happens.
    let store = SqliteStore::builder(folder.join("idem.db")).clock(clock.clone()).tail(8).open();
    (store.expect("a file that can be opened"), clock)
}

fn judged(store: &SqliteStore, claim: &Claim) -> Verdict {
    store.claim(claim).wait().expect("a verdict")
}

fn granted(store: &SqliteStore, claim: &Claim) -> Grant {
    match judged(store, claim) {
        Verdict::Claimed(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

fn is_new(grant: &Grant) -> bool {
    (grant.tries, grant.prior, grant.resumed) == (1, Prior::None, false)
}

fn complete(store: &SqliteStore, claim: &Claim, grant: Grant, key: &str) {
    let completion = Completion {
        id: claim.id,
        token: claim.token,
        fence: grant.fence,
        fingerprint: None,
        body: Body::copy_from(key.as_bytes()),
        ttl: KEEP,
        keep: KEEP,
    };
    assert_eq!(store.complete(&completion).wait().expect("an answer"), Recorded::Stored);
}

/// What a worker has been told by its store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Said {
    what: String,
    key: String,
}

fn say(what: &str, key: &str) {
    println!("says: {what} {key}");
}

/// This test binary once more, on a disk that forgets.
struct Worker {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(part: &str, disk: &Disk, syncs: Option<u32>) -> Self {
        Self::with(part, disk, |command| disk.give_to(command, syncs))
    }

    fn with(part: &str, disk: &Disk, on: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--ignored", "--exact", "--nocapture", "worker"]);
        command.env(FOLDER, disk.path()).env(PART, part).stdin(Stdio::null()).stdout(Stdio::piped());
        on(&mut command);
        let mut child = command.spawn().expect("this program starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output }
    }

    /// The next thing that it was told; nothing more once it is dead.
    fn hears(&mut self) -> Option<Said> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).expect("a pipe") == 0 {
                return None;
            }
            if let Some((_, said)) = line.trim_end().split_once("says: ") {
                let (what, key) = said.split_once(' ').expect("two words");
                return Some(Said { what: what.to_owned(), key: key.to_owned() });
            }
        }
    }

    /// Kills it once it was told this much, and returns all that it was told.
    fn killed_after(mut self, least: usize) -> Vec<Said> {
        let mut said: Vec<Said> = std::iter::from_fn(|| self.hears()).take(least).collect();
        assert_eq!(said.len(), least, "the worker died early");
        self.child.kill().expect("a child of ours");
        said.extend(std::iter::from_fn(|| self.hears()));
        said
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "the worker that the other tests kill"]
fn worker() {
    let (Ok(part), Some(folder)) = (std::env::var(PART), std::env::var_os(FOLDER)) else { return };
    if part == "opens" {
        match SqliteStore::open(Path::new(&folder).join("idem.db")) {
            Ok(_) => say("opened", "it"),
            Err(error) => say(&format!("{:?}", error.kind()), &error.to_string()),
        }
        return;
    }
    let (store, _) = open(Path::new(&folder));
    if part == "last words" {
        // After one that waits for no sync.
        granted(&store, &claim("earlier", OnLapse::Rerun));
        granted(&store, &claim("parks", OnLapse::Park));
        say("held", "parks");
        granted(&store, &claim("reruns", OnLapse::Rerun));
        say("taken", "reruns");
    } else {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (store, part) = (&store, &part);
                scope.spawn(move || works(store, &format!("{part}.{thread}")));
            }
        });
    }
    loop {
        std::thread::park();
    }
}

/// Messages of all kinds, and of each the last answer.
fn works(store: &SqliteStore, name: &str) {
    for n in 0..5_000 {
        let key = format!("{name}.{n}");
        let parks = n % 2 == 0;
        let claim = claim(&key, if parks { OnLapse::Park } else { OnLapse::Rerun });
        let grant = granted(store, &claim);
        match n % 7 {
            3 | 4 => say(if parks { "held" } else { "taken" }, &key),
            6 => {
                complete(store, &claim, grant, &key);
                let forgotten = store.forget(&claim.id, false).wait().expect("an answer");
                assert!(matches!(forgotten, Forgotten::Forgotten(_)), "{forgotten:?}");
                say("forgotten", &key);
            }
            _ => {
                complete(store, &claim, grant, &key);
                say("done", &key);
            }
        }
    }
}

/// What the store on this disk no longer knows, of what it had promised.
fn lost(folder: &Path, said: &[Said]) -> Vec<Said> {
    let (store, _) = open(folder);
    let is_kept = |said: &Said| match (&*said.what, judged(&store, &claim(&said.key, OnLapse::Park))) {
        ("done", Verdict::Completed { body: Some(body), .. }) => *body == *said.key.as_bytes(),
        // One that is `taken` is as if its worker had fallen silent, or as if it had never asked.
        ("held" | "taken", Verdict::InProgress { tries, .. }) => tries == 1,
        ("taken" | "forgotten", Verdict::Claimed(grant)) => is_new(&grant),
        _ => false,
    };
    said.iter().filter(|said| !is_kept(said)).cloned().collect()
}

#[test]
#[cfg_attr(not(all(target_os = "linux", c_compiler)), ignore = "this is not Linux, or cc is not on PATH")]
fn f52_no_power_loss_takes_what_was_promised_to_last() {
    let mut disk = Disk::new();
    let mut said = Vec::new();
    for (round, least) in [1, 2, 30, 150, 700].into_iter().enumerate() {
        said.extend(Worker::start(&format!("round-{round}"), &disk, None).killed_after(least));
        disk.lose_power();
        // On a copy: the look claims what it finds free.
        let copy = Disk::new();
        for entry in std::fs::read_dir(disk.path()).expect("a folder of our own") {
            let file = entry.expect("a folder of our own").path();
            let name = file.file_name().expect("a file");
            std::fs::copy(&file, copy.path().join(name)).expect("a file of our own can be copied");
        }
        assert_eq!(lost(&copy.path(), &said), [], "after power loss {round}, of {} answers", said.len());
    }
    let kinds: HashSet<&str> = said.iter().map(|said| &*said.what).collect();
    assert_eq!(kinds, HashSet::from(["done", "held", "taken", "forgotten"]));
}

#[test]
#[cfg_attr(not(all(target_os = "linux", c_compiler)), ignore = "this is not Linux, or cc is not on PATH")]
fn f52_a_claim_that_parks_outlives_the_power_and_one_that_reruns_is_made_anew() {
    let mut disk = Disk::new();
    Worker::start("last words", &disk, None).killed_after(2);
    disk.lose_power();
    let (store, clock) = open(&disk.path());
    assert!(matches!(judged(&store, &claim("parks", OnLapse::Park)), Verdict::InProgress { tries: 1, .. }));
    assert!(is_new(&granted(&store, &claim("reruns", OnLapse::Rerun))), "nobody had synced it");
    clock.advance(LEASE);
    let parked = judged(&store, &claim("parks", OnLapse::Park));
    assert!(matches!(parked, Verdict::Lapsed { tries: 1, .. }), "{parked:?}");
}

/// The tests above can fail: they find what is missing on a disk that says it has synced, and has not.
#[test]
#[cfg_attr(not(all(target_os = "linux", c_compiler)), ignore = "this is not Linux, or cc is not on PATH")]
fn f52_a_disk_that_lies_about_its_syncs_is_found_out() {
    let mut disk = Disk::new();
    let said = Worker::start("lied-to", &disk, Some(20)).killed_after(400);
    disk.lose_power();
    let lost = lost(&disk.path(), &said);
    for what in ["done", "held"] {
        assert!(lost.iter().any(|said| said.what == what), "none that is {what} is missing");
    }
    // A sync is for the messages of all threads at once, and no more of them.
    let kept = said.iter().filter(|said| said.what == "done").count()
        - lost.iter().filter(|said| said.what == "done").count();
    assert!(kept <= 20 * THREADS, "{kept} results are there after 20 syncs");
}

#[test]
#[cfg_attr(not(all(target_os = "linux", c_compiler)), ignore = "this is not Linux, or cc is not on PATH")]
fn f52_a_file_on_a_network_file_system_is_refused_and_not_made() {
    let disk = Disk::new();
    let opens = |kind| {
        let said = Worker::with("opens", &disk, |command| disk.looks_like(kind, command)).hears();
        (said.expect("an answer"), disk.path().join("idem.db").exists())
    };
    for kind in ["nfs4", "cifs", "fuse.sshfs"] {
        let (said, made) = opens(kind);
        assert_eq!((&*said.what, made), ("Misconfigured", false), "{kind}: {said:?}");
        for part in [&*format!("a network file system ({kind})"), "put it on a local disk", "idem.db"] {
            assert!(said.key.contains(part), "{said:?}");
        }
    }
    let (said, made) = opens("ext4");
    assert_eq!((&*said.what, made), ("opened", true), "{said:?}");
}
