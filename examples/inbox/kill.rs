//! A worker in a process of its own, killed when it gets to a moment.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use idem::Clock;

use crate::consumers::{self, BoxError, Way};

/// How long the killed worker's claim stands in the way of the next: the handler leaves `lease` at its default.
pub const LEASE: Duration = Duration::from_secs(30);

/// When a worker is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    BeforeTheCommit,
    AfterTheCommit,
}

impl Moment {
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeTheCommit => "before its commit",
            Self::AfterTheCommit => "after its commit",
        }
    }
}

/// Starts a worker with the message, and kills it when it says that the moment has come.
pub fn during_work(way: Way, moment: Moment, folder: &Path) -> io::Result<()> {
    let mut worker = Command::new(std::env::current_exe()?)
        .args([way.name(), moment.name()])
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let said = match worker.stdout.take() {
        Some(output) => BufReader::new(output).read_line(&mut line),
        None => Ok(0),
    };
    worker.kill()?;
    worker.wait()?;
    if said? == 0 { Err(io::Error::other("the worker ended by itself")) } else { Ok(()) }
}

/// What the worker's process does.
pub fn work(way: &str, moment: &str, folder: &str) -> Result<(), BoxError> {
    let way = [Way::None, Way::Elsewhere, Way::Inbox].into_iter().find(|known| known.name() == way);
    let Some(way) = way else { return Err("usage: inbox".into()) };
    let wait_for_the_end = |at: Moment| {
        if at.name() == moment {
            println!("here");
            loop {
                std::thread::park();
            }
        }
    };
    consumers::consume(way, Path::new(folder), Clock::wall(), &wait_for_the_end)?;
    Ok(())
}
