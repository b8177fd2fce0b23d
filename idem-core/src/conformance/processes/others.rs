//! Other processes: the same test binary, told to run the same test and to play another part in it.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::{RecordId, Token};

/// What tells a process that it is one of the others: what it is to do, and where.
const PART: &str = "IDEM_CONFORMANCE_PART";
const PLACE: &str = "IDEM_CONFORMANCE_PLACE";

/// Before each line that one of the others says; the test harness says lines of its own.
const SAYS: &str = "idem: ";

/// This process, if it is one of the others.
pub(super) struct Me {
    pub(super) place: String,
    /// Names the records, which are the same in all processes.
    pub(super) part: Part,
}

/// A set of records that all processes of one check know.
#[derive(Clone, Copy)]
pub(super) struct Part(Token);

impl Part {
    pub(super) fn new() -> Self {
        Self(Token::fresh())
    }

    /// The `n`th record.
    pub(super) fn id(self, n: u64) -> RecordId {
        let mut bytes = [0; 32];
        // Spread, as digests are.
        bytes[..8].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        bytes[8..24].copy_from_slice(self.0.as_bytes());
        RecordId::from_bytes(bytes)
    }

    fn text(self) -> String {
        u128::from_le_bytes(*self.0.as_bytes()).to_string()
    }
}

impl Me {
    pub(super) fn of_this_process() -> Option<Self> {
        let part = std::env::var(PART).ok()?.parse::<u128>().ok()?;
        Some(Self { place: std::env::var(PLACE).ok()?, part: Part(Token::from_bytes(part.to_le_bytes())) })
    }
}

/// Tells the first process.
pub(super) fn say(what: &str) {
    println!("{SAYS}{what}");
}

/// Waits until the first process says to go on; for ever, if it never does.
pub(super) fn wait_for_go() {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    assert!(matches!(read, Ok(1..)), "the first process went away");
}

/// How to start one.
pub(super) struct Others<'t> {
    /// The name of the test, as the harness knows it.
    test: &'t str,
    place: String,
}

impl<'t> Others<'t> {
    /// `test` is the path of the test's function.
    pub(super) fn new(test: &'t str, place: String) -> Self {
        Self { test: test.split_once("::").map_or(test, |(_, path)| path), place }
    }

    /// Starts several, and lets them go once all of them are ready.
    pub(super) fn start_together(&self, part: Part, count: usize) -> Vec<Other> {
        let mut all: Vec<_> = (0..count).map(|_| self.start(part)).collect();
        for other in &mut all {
            other.until("ready");
        }
        for other in &mut all {
            other.go();
        }
        all
    }

    pub(super) fn start(&self, part: Part) -> Other {
        let binary = std::env::current_exe().expect("this process knows its own binary");
        let mut process = Command::new(binary)
            .args([self.test, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"])
            .env(PART, part.text())
            .env(PLACE, &self.place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test binary can be started once more");
        let lines = BufReader::new(process.stdout.take().expect("its output is piped"));
        Other { process, lines }
    }
}

/// A process that has been started. It is killed if it is dropped.
pub(super) struct Other {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Other {
    /// The next thing that it says, or nothing at its end.
    pub(super) fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.lines.read_line(&mut line).expect("its output is text") == 0 {
                return None;
            }
            // The harness may have begun the line.
            if let Some((_, said)) = line.split_once(SAYS) {
                return Some(said.trim_end().to_owned());
            }
        }
    }

    /// Waits until it says `what`.
    pub(super) fn until(&mut self, what: &str) {
        let said = self.next();
        assert_eq!(
            said.as_deref(),
            Some(what),
            "another process of this check ended early: see its output above"
        );
    }

    /// Lets it go on.
    fn go(&mut self) {
        let stdin = self.process.stdin.as_mut().expect("its input is piped");
        stdin.write_all(b"go\n").expect("it reads its input");
    }

    /// All that it still says.
    pub(super) fn rest(mut self) -> Vec<String> {
        let said: Vec<_> = std::iter::from_fn(|| self.next()).collect();
        let status = self.process.wait().expect("it can be waited for");
        assert!(status.success(), "another process of this check failed ({status}): see its output above");
        said
    }

    /// Kills it, without a warning, and what it had said until then.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("it can be killed");
        let _ = self.process.wait();
        std::iter::from_fn(|| self.next()).collect()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
