//! A server's process: stopped when its value is dropped, killed, paused or let go on when a test says so.

use std::process::{Child, Command};

/// A process that ends with its value.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    /// Starts `command`.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}")))
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it still runs.
    ///
    /// # Panics
    /// If the system does not say.
    pub fn runs(&mut self) -> bool {
        self.0.try_wait().expect("the state of a child process").is_none()
    }

    /// Kills it as a power loss would: no handler of its own runs.
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Stops it where it is (`SIGSTOP`).
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets it go on (`SIGCONT`).
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// Sends it a signal, by name without `SIG`.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "process {} did not take SIG{name}", self.0.id());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
