//! What happens if a message is delivered twice? `cargo run --example redelivery` answers it with real parts.
//!
//! A charges API on loopback (`charges_api.rs`) counts what it charges. Consumers (`consumers.rs`) charge it over HTTP
//! (`client.rs`) for the same messages: first within one process, then with a deploy before the redelivery, then with a
//! worker that is killed after its claim and before its work. All figures are the API's.

#![allow(unreachable_pub, reason = "a program: nothing outside of it could name its items")]

mod charges_api;
mod client;
mod consumers;
mod kill;
mod report;
mod worker;

use std::error::Error;

use idem::{Clock, Disposition, ManualClock};

use charges_api::ChargesApi;
use client::Client;
use consumers::Payment;
use report::{Folder, Losses, Row, list};
use worker::{Way, Worker};

/// What the publisher sent.
const SENT: [Payment; 3] = [
    Payment { id: "pay-1", amount: 1200 },
    Payment { id: "pay-2", amount: 450 },
    Payment { id: "pay-3", amount: 9900 },
];

const WAYS: [Way; 5] = [Way::Naive, Way::Key, Way::KeyAndSeenSet, Way::SeenSetAlone, Way::Idem];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [way, database, url, message] = &arguments[..] {
        return kill::work(way, database, url, message).await;
    }
    redelivered_to_one_process().await?;
    redelivered_after_a_deploy().await?;
    redelivered_after_a_kill().await
}

/// The queue delivers the first and the last message twice in a row.
async fn redelivered_to_one_process() -> Result<(), Box<dyn Error>> {
    let [first, second, third] = &SENT;
    let deliveries = [first, first, second, third, third];
    let mut duplicates = String::new();

    println!("Three messages, two of them delivered twice, to one process\n\n{}", Row::HEAD);
    for way in WAYS {
        let (api, folder) = (ChargesApi::start().await?, Folder::new()?);
        let worker = Worker::start(way, &api.url, &folder.database(), Clock::wall())?;
        for payment in deliveries {
            worker.handle(payment).await?;
        }
        let books = Client::new(&api.url)?.books().await?;
        println!("{}", Row { name: way.name(), deliveries: deliveries.len(), books: &books });
        if matches!(way, Way::Naive) {
            duplicates = list(&books);
        }
    }
    println!("\n{duplicates}\n{}", report::ONE_PROCESS);
    Ok(())
}

/// The queue delivers all three; a deploy comes before the first and the last are acknowledged.
async fn redelivered_after_a_deploy() -> Result<(), Box<dyn Error>> {
    let [first, second, third] = &SENT;
    let (before, after) = ([first, second, third], [first, third]);

    println!("The same, with a deploy between the first delivery and the redelivery\n\n{}", Row::HEAD);
    for way in WAYS {
        let (api, folder) = (ChargesApi::start().await?, Folder::new()?);
        let worker = Worker::start(way, &api.url, &folder.database(), Clock::wall())?;
        for payment in before {
            worker.handle(payment).await?;
        }
        drop(worker); // The deploy: the process ends, and what it held in memory with it.
        let worker = Worker::start(way, &api.url, &folder.database(), Clock::wall())?;
        for payment in after {
            worker.handle(payment).await?;
        }
        let books = Client::new(&api.url)?.books().await?;
        println!("{}", Row { name: way.name(), deliveries: before.len() + after.len(), books: &books });
    }
    println!("{}", report::DEPLOY);
    Ok(())
}

/// A worker process is killed with the second message in its hands, and the queue delivers that message again.
async fn redelivered_after_a_kill() -> Result<(), Box<dyn Error>> {
    let [first, second, third] = &SENT;

    println!(
        "A worker killed after its claim and before its work, its message redelivered\n\n{}",
        Losses::HEAD
    );
    for way in [Way::AtMostOnce, Way::Idem] {
        let (api, folder) = (ChargesApi::start().await?, Folder::new()?);
        let worker = Worker::start(way, &api.url, &folder.database(), Clock::wall())?;
        worker.handle(first).await?;
        drop(worker);

        kill::during_work(way, &folder.database(), 1).await?;

        // The killed worker's lease ends in 30 s. This clock stands past it, so that nobody need wait.
        let lease_over = ManualClock::at(Clock::wall().now().after(kill::LEASE));
        let worker = Worker::start(way, &api.url, &folder.database(), lease_over.into())?;
        for payment in [second, third] {
            match worker.handle(payment).await {
                Ok(_receipt) => {}
                // idem says that the message counts as handled: the queue forgets it.
                Err(error) if error.disposition() == Disposition::Ack => {}
                Err(error) => return Err(error.into()),
            }
        }
        let books = Client::new(&api.url)?.books().await?;
        println!("{}", Losses { name: way.name(), messages: SENT.len(), deliveries: 4, books: &books });
    }
    print!("{}", report::KILL);
    Ok(())
}

/// A program's handlers are in it alone, so this is where their test is; of a library's it is a file of its own, `tests/idem_lock.rs`.
#[test]
fn keys_and_windows_are_those_that_were_reviewed() {
    idem::testing::assert_keys_locked("examples/redelivery/idem.lock");
}
