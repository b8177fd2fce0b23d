//! A private PostgreSQL.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::warden::Warden;
use crate::{free_port, program};

/// A server of its own, on loopback, which trusts whoever connects as `postgres`. It does not wait for the disk unless told to: what a
/// killed server had written is still with the kernel.
#[derive(Debug)]
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    /// The size of a second disk, in megabytes.
    small_disk: Option<u32>,
    warden: Option<Warden>,
}

/// Made once: a copy costs a tenth of what `initdb` does.
static TEMPLATE: LazyLock<(PathBuf, Warden)> = LazyLock::new(|| {
    let folder = new_folder("postgres-template");
    run(as_postgres("initdb").arg("-D").arg(folder.join("data")).args([
        "--username=postgres",
        "--auth=trust",
        "--no-sync",
        "--encoding=UTF8",
        "--locale=C",
    ]));
    let warden = Warden::start(Command::new("true").arg(&folder), &folder);
    (folder, warden)
});

include!("small_disk.rs");

const READY: &str = "database system is ready to accept";

impl PostgresServer {
    /// Starts a server with these settings, as in `name=value`, and waits until it takes connections.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(settings: &[&str]) -> Self {
        Self::start_with(settings, "")
    }

    /// The same, with lines for its `pg_hba.conf` that come before those that let everybody in.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_with(settings: &[&str], rules: &str) -> Self {
        let folder = Self::copied();
        if !rules.is_empty() {
            let path = folder.join("data/pg_hba.conf");
            let others = std::fs::read_to_string(&path).expect("the file that `initdb` wrote");
            std::fs::write(path, format!("{rules}\n{others}")).expect("a file that can be written to");
        }
        Self::on(folder, settings)
    }

    /// Starts a server with a second disk, of so many megabytes, in the tablespace `small`. What is there is gone with the server's process.
    /// Tests that need it run where the `cfg` `small_disk` is set.
    ///
    /// # Panics
    /// If it does not start.
    pub fn with_small_disk(megabytes: u32) -> Self {
        let folder = Self::copied();
        run(Command::new("mkdir").arg(small_disk_of(&folder)));
        Self::started(folder, &[], Some(megabytes))
    }

    /// The statement that makes the tablespace `small`.
    pub fn small_tablespace(&self) -> String {
        format!("create tablespace small location '{}'", small_disk_of(&self.folder).display())
    }

    /// Starts a replica of this server, and waits until it takes connections. The data are copied, and it follows from there; all
    /// through `port`, on which this server or a proxy in front of it listens.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn replica_through(&self, port: u16) -> Self {
        let folder = new_folder("postgres-replica");
        run(as_postgres("pg_basebackup")
            .arg("-D")
            .arg(folder.join("data"))
            .args([
                "--host=127.0.0.1",
                "--username=postgres",
                "--write-recovery-conf",
                "--checkpoint=fast",
                "--no-sync",
            ])
            .arg(format!("--port={port}")));
        Self::on(folder, &["hot_standby=on"])
    }

    /// A folder with data as `initdb` makes them.
    fn copied() -> PathBuf {
        let folder = new_folder("postgres");
        run(Command::new("cp").arg("-a").arg(TEMPLATE.0.join("data")).arg(folder.join("data")));
        folder
    }

    fn on(folder: PathBuf, settings: &[&str]) -> Self {
        Self::started(folder, settings, None)
    }

    fn started(folder: PathBuf, settings: &[&str], small_disk: Option<u32>) -> Self {
        let defaults = ["fsync=off", "max_connections=200", "listen_addresses=127.0.0.1"];
        let settings = defaults.iter().chain(settings).map(|&setting| setting.to_owned()).collect();
        let mut server = Self { folder, port: free_port(), settings, small_disk, warden: None };
        server.restart();
        server
    }

    /// Starts it again on the data that are there, as they were left.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        if let Some(warden) = self.warden.take() {
            warden.end_and_keep();
        }
        let mut command = as_postgres("postgres");
        command.arg("-D").arg(self.folder.join("data")).arg("-p").arg(self.port.to_string());
        command.arg("-c").arg(format!("unix_socket_directories={}", self.folder.display()));
        for setting in &self.settings {
            command.arg("-c").arg(setting);
        }
        if let Some(megabytes) = self.small_disk {
            let mut within = with_small_disk(&small_disk_of(&self.folder), megabytes);
            within.arg(command.get_program()).args(command.get_args());
            command = within;
        }
        let warden = self.warden.insert(Warden::start(&command, &self.folder));
        warden.wait_for(READY);
    }

    /// Kills all of its processes, as a power loss would, and waits until they are gone.
    ///
    /// # Panics
    /// If one of them is still there ten seconds later.
    pub fn kill(&self) {
        let killed = self.signal("KILL");
        let deadline = Instant::now() + Duration::from_secs(10);
        while killed.iter().any(|id| runs(id)) {
            assert!(Instant::now() < deadline, "processes {killed:?} do not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Stops all of its processes where they are (`SIGSTOP`).
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets them go on (`SIGCONT`).
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// Makes a replica a primary, and waits until it is one.
    ///
    /// # Panics
    /// If it does not become one.
    pub fn promote(&self) {
        run(as_postgres("pg_ctl").arg("-D").arg(self.folder.join("data")).args(["promote", "--wait"]));
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A URL of a database on it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Waits until its log has a line with `words` in it.
    ///
    /// # Panics
    /// If there is none within 45 seconds.
    pub fn wait_for_log(&self, words: &str) {
        self.warden.as_ref().expect("a server that runs").wait_for(words);
    }

    /// To the server's own process first, so that it starts no other meanwhile. Those that ended meanwhile need no signal.
    fn signal(&self, name: &str) -> Vec<String> {
        let Some(id) = self.warden.as_ref().map(Warden::server) else { return Vec::new() };
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let ids = std::iter::once(id.to_string()).chain(children.split_whitespace().map(str::to_owned));
        let ids: Vec<String> = ids.collect();
        let _ = Command::new("kill").arg(format!("-{name}")).args(&ids).stderr(Stdio::null()).status();
        ids
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // One that is paused would not hear that it is to end.
        self.go_on();
    }
}

/// Whether a process is still at work: one that has ended may wait for its parent to hear of it.
fn runs(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Runs one of PostgreSQL's programs, as a user other than root: it refuses that one.
fn as_postgres(name: &str) -> Command {
    let program = program(name);
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "postgres", "--regid", "postgres", "--init-groups"]).arg(program);
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn small_disk_of(folder: &Path) -> PathBuf {
    folder.join("small")
}

fn new_folder(what: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("idem-{what}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a folder for temporary files that can be written to");
    if is_root() {
        run(Command::new("chown").arg("postgres:postgres").arg(&folder));
    }
    folder
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {text}");
}
