//! What does a worker leave behind that is killed around its commit? `cargo run --example inbox` kills some, and counts.
//!
//! Three consumers (`consumers.rs`) book the same message in a shop's SQLite file. Each is run in a process of its own and killed
//! there: just before its rows are committed, or just after. Then the message is delivered again. All figures are the shop's own.

#![allow(unreachable_pub, reason = "a program: nothing outside of it could name its items")]

mod consumers;
mod kill;
mod shop;

use consumers::{BoxError, Way};
use kill::Moment;
use shop::Shop;

fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [way, moment, folder] = &arguments[..] {
        return kill::work(way, moment, folder);
    }
    println!("A transfer of 1200 cents, its worker killed, and the message delivered again\n");
    println!("{:<24}{:<24}{:<12}balance", "record", "killed", "bookings");
    for way in [Way::None, Way::Elsewhere, Way::Inbox] {
        for moment in [Moment::BeforeTheCommit, Moment::AfterTheCommit] {
            let shop = Shop::open_new()?;
            kill::during_work(way, moment, &shop.folder)?;
            // The killed worker's lease ends in 30 s. This clock stands past it, so that nobody need wait.
            let lease_over = idem::Clock::wall().now().after(kill::LEASE);
            consumers::consume(way, &shop.folder, idem::ManualClock::at(lease_over).into(), &|_| {})?;
            let (bookings, balance) = shop.books()?;
            println!("{:<24}{:<24}{bookings:<12}{balance}", way.name(), moment.name());
        }
    }
    print!("{}", consumers::REMARKS);
    Ok(())
}
