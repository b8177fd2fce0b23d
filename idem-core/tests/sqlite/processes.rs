//! Several processes on one file, and processes that are killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use idem_core::machine::{Prior, Recorded, Verdict};
use idem_core::{SqliteStore, Store};

use crate::asks::{Dir, LEASE, claim, clock, completion, granted, open, replayed};
use crate::neighbours;

const PART: &str = "IDEM_TEST_PART";
const FILE: &str = "IDEM_TEST_FILE";
/// Keys that all racing processes ask for.
pub(crate) const RACE: usize = 300;

/// This test binary once more, in a process of its own.
pub(crate) struct Actor {
    child: Child,
    input: ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Actor {
    pub(crate) fn start(part: &str, file: &Path) -> Self {
        Self::start_as(&mut Command::new(std::env::current_exe().unwrap()), part, file)
    }

    /// One whose files may not grow past so many blocks of 512 bytes: it is told so at a write, as on a full disk.
    #[cfg(unix)]
    pub(crate) fn start_short_of_room(blocks: u32, part: &str, file: &Path) -> Self {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        Self::start_as(
            Command::new("sh").arg("-c").arg(limited).arg(std::env::current_exe().unwrap()),
            part,
            file,
        )
    }

    fn start_as(command: &mut Command, part: &str, file: &Path) -> Self {
        let mut child = command
            .args(["--ignored", "--exact", "--nocapture", "processes::part"])
            .env(PART, part)
            .env(FILE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// The next line that is the part's own.
    pub(crate) fn hears(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the process ended without a word");
            if let Some((_, said)) = line.trim_end_matches('\n').split_once("says: ") {
                return said.to_owned();
            }
        }
    }

    pub(crate) fn tell(&mut self) {
        self.input.write_all(b"go\n").unwrap();
    }

    /// Waits until it is done with all that it had to do.
    pub(crate) fn ends_well(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
#[ignore = "the part of a second process, started by the other tests"]
fn part() {
    let (Ok(part), Some(file)) = (std::env::var(PART), std::env::var_os(FILE)) else {
        return;
    };
    let say = |what: String| println!("says: {what}");
    let wait = || {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
    };
    let file = Path::new(&file);
    match part.as_str() {
        "open" => {
            let error = SqliteStore::open(file).unwrap_err();
            say(format!("{:?}: {error}", error.kind()));
        }
        "race" | "race and index" => {
            let tail = if part == "race" { 8_192 } else { 2 };
            let store = SqliteStore::builder(file).tail(tail).open().unwrap();
            say("ready".into());
            wait();
            let mine: Vec<_> = (0..RACE)
                .filter(|key| {
                    let verdict = store.claim(&claim(&format!("key {key}"))).wait().unwrap();
                    assert!(
                        matches!(verdict, Verdict::Claimed(_) | Verdict::InProgress { .. }),
                        "{verdict:?}"
                    );
                    matches!(verdict, Verdict::Claimed(_))
                })
                .map(|key| key.to_string())
                .collect();
            say(mine.join(" "));
        }
        "finish and index" => {
            let store = SqliteStore::builder(file).clock(clock()).tail(2).open().unwrap();
            for n in 0.. {
                let key = format!("{} {n}", std::process::id());
                let claim = claim(&key);
                let grant = granted(store.claim(&claim).wait());
                let recorded = store.complete(&completion(&claim, grant, key.as_bytes())).wait().unwrap();
                assert_eq!(recorded, Recorded::Stored);
                say(key);
            }
        }
        "claim" => {
            let store = open(file, &clock());
            say(granted(store.claim(&claim("key")).wait()).fence.to_string());
            wait();
        }
        "complete" => {
            let store = open(file, &clock());
            let claim = claim("key");
            let grant = granted(store.claim(&claim).wait());
            let recorded = store.complete(&completion(&claim, grant, b"receipt")).wait().unwrap();
            assert_eq!(recorded, Recorded::Stored);
            say("completed".into());
            wait();
        }
        "race as guests" | "take orders" => {
            let ready = || {
                say("ready".into());
                wait();
            };
            let does = if part == "take orders" { neighbours::orders } else { neighbours::races };
            say(does(file, &ready));
        }
        other => panic!("no part `{other}`"),
    }
}

#[test]
fn of_three_processes_one_gets_each_key() {
    // They also race to make the file.
    one_of_three_gets_each_key("race");
}

/// Three processes do `part`, and of each key that they ask for one is told that it is its own.
pub(crate) fn one_of_three_gets_each_key(part: &str) {
    let dir = Dir::new();
    let mut actors: Vec<_> = (0..3).map(|_| Actor::start(part, &dir.file())).collect();
    for actor in &mut actors {
        assert_eq!(actor.hears(), "ready");
    }
    actors.iter_mut().for_each(Actor::tell);
    let mut keys: Vec<usize> = Vec::new();
    for mut actor in actors {
        keys.extend(actor.hears().split_whitespace().map(|key| key.parse::<usize>().unwrap()));
        actor.ends_well();
    }
    keys.sort_unstable();
    assert_eq!(keys, (0..RACE).collect::<Vec<_>>());
}

#[test]
fn a_message_of_a_killed_worker_is_granted_again_once_its_lease_has_ended() {
    let dir = Dir::new();
    let mut worker = Actor::start("claim", &dir.file());
    let fence: u64 = worker.hears().parse().unwrap();
    worker.kill();

    let clock = clock();
    let store = open(&dir.file(), &clock);
    let verdict = store.claim(&claim("key")).wait().unwrap();
    assert!(
        matches!(verdict, Verdict::InProgress { tries: 1, remaining } if remaining == LEASE),
        "{verdict:?}"
    );
    clock.advance(LEASE);
    let grant = granted(store.claim(&claim("key")).wait());
    assert!(grant.fence > fence);
    assert_eq!((grant.tries, grant.prior, grant.first_age), (2, Prior::Lapsed, LEASE));
}

#[test]
fn a_result_survives_its_worker_being_killed_right_after() {
    let dir = Dir::new();
    let mut worker = Actor::start("complete", &dir.file());
    assert_eq!(worker.hears(), "completed");
    worker.kill();
    let store = open(&dir.file(), &clock());
    assert_eq!(replayed(store.claim(&claim("key")).wait()), b"receipt");
}

#[test]
fn a_store_sees_what_another_process_writes() {
    let dir = Dir::new();
    let store = open(&dir.file(), &clock());
    let mut worker = Actor::start("complete", &dir.file());
    assert_eq!(worker.hears(), "completed");
    assert_eq!(replayed(store.claim(&claim("key")).wait()), b"receipt");
    worker.tell();
    worker.ends_well();
}
