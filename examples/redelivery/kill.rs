//! A worker in a process of its own, killed after its claim and before its work.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

use idem::Clock;
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::SENT;
use crate::worker::{Way, Worker};

/// How long the killed worker's claim stands in the way of the next: the handlers leave `lease` at its default.
pub const LEASE: Duration = Duration::from_secs(30);

/// Starts a worker with one message and kills it.
///
/// Its charges API takes calls and never answers them. The call is the first thing that the handler's body does, so when it
/// arrives the claim is made and nothing is charged.
pub async fn during_work(way: Way, database: &Path, message: usize) -> io::Result<()> {
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let mut worker = Command::new(std::env::current_exe()?)
        .arg(way.name())
        .arg(database)
        .arg(format!("http://{}", silent.local_addr()?))
        .arg(message.to_string())
        .kill_on_drop(true)
        .spawn()?;
    tokio::select! {
        call = silent.accept() => {
            let _held_until_the_kill = call?;
            worker.kill().await
        }
        status = worker.wait() => Err(io::Error::other(format!("the worker ended by itself: {}", status?))),
    }
}

/// What the worker's process does.
pub async fn work(way: &str, database: &str, url: &str, message: &str) -> Result<(), Box<dyn Error>> {
    let way = [Way::AtMostOnce, Way::Idem].into_iter().find(|known| known.name() == way);
    let message = SENT.get(message.parse::<usize>()?);
    let (Some(way), Some(message)) = (way, message) else {
        return Err("usage: redelivery".into());
    };
    Worker::start(way, url, database.as_ref(), Clock::wall())?.handle(message).await?;
    Ok(())
}
