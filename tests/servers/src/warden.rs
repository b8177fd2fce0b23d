//! A shell that stands between a test and a server: it ends the server and removes its folder when the test's process ends, however
//! that ends. The value of a `static` is never dropped, and a process that is killed drops nothing.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Reads a line from its input; if there is none, its parent is gone. Says the server's process id first.
const SCRIPT: &str = r#"
folder=$1; shift
"$@" </dev/null & server=$!
echo "$server"
read -r word || word=
kill -QUIT "$server" 2>/dev/null
wait "$server"
[ "$word" = keep ] && exit
# A PostgreSQL that was killed has left a segment of shared memory, whose id is in the last word of that line.
memory=$(sed -n '7s/.* //p' "$folder/data/postmaster.pid" 2>/dev/null)
[ -z "$memory" ] || ipcrm -m "$memory" 2>/dev/null
rm -rf "$folder"
"#;

/// A server's process and its folder, both in the shell's care.
#[derive(Debug)]
pub(crate) struct Warden {
    shell: Child,
    /// The shell's parent is gone when this is closed.
    input: Option<ChildStdin>,
    server: u32,
    said: Arc<Said>,
}

/// What the server wrote to its log.
#[derive(Debug, Default)]
struct Said {
    lines: Mutex<Vec<String>>,
    more: Condvar,
}

impl Warden {
    /// Starts `command`, whose data lie in `folder`.
    pub(crate) fn start(command: &Command, folder: &Path) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "warden"]).arg(folder).arg(command.get_program()).args(command.get_args());
        shell.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut shell = shell.spawn().expect("`sh` can be started");
        let mut id = String::new();
        BufReader::new(shell.stdout.take().expect("a pipe"))
            .read_line(&mut id)
            .expect("the server's process id");
        let said = Arc::new(Said::default());
        let (log, errors) = (said.clone(), shell.stderr.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                log.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
                log.more.notify_all();
            }
        });
        let server = id.trim().parse().expect("a process id");
        Self { input: shell.stdin.take(), shell, server, said }
    }

    /// The server's process id.
    pub(crate) fn server(&self) -> u32 {
        self.server
    }

    /// Waits until the server has written a line with `words` in it.
    ///
    /// # Panics
    /// If it has not within 45 seconds.
    pub(crate) fn wait_for(&self, words: &str) {
        let lines = self.said.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = |lines: &mut Vec<String>| !lines.iter().any(|line| line.contains(words));
        let waited = self.said.more.wait_timeout_while(lines, Duration::from_secs(45), silent);
        let (lines, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "the server never said {words:?}, but:\n{}", lines.join("\n"));
    }

    /// Ends the server, and leaves its folder.
    pub(crate) fn end_and_keep(mut self) {
        if let Some(mut input) = self.input.take() {
            let _ = input.write_all(b"keep\n");
        }
        let _ = self.shell.wait();
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}
