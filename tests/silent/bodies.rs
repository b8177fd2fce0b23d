//! The body may make what it likes: only what goes into the key has to come from the message.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use idem::{Key, idempotent};
use uuid::Uuid;

use super::{Keyed, same_key};

struct Message {
    id: String,
    amount: Option<u64>,
}

fn message() -> Message {
    Message { id: "8f14".to_owned(), amount: Some(1200) }
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn fresh_id_for_a_log_line(message: &Message, #[key] key: &Key) -> Keyed {
    println!("[{}] charging {:?}", Uuid::new_v4(), message.amount);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn fresh_id_for_a_row(message: &Message, #[key] key: &Key) -> Keyed {
    struct Row {
        id: String,
    }
    let row = Row { id: Uuid::new_v4().to_string() };
    assert_ne!(row.id, message.id);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn time_that_the_work_took(message: &Message, #[key] key: &Key) -> Keyed {
    let started = Instant::now();
    assert!(message.amount.is_some());
    println!("took {:?}", started.elapsed());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn processed_at(message: &Message, #[key] key: &Key) -> Keyed {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    println!("{} processed at {now}", message.id);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn who_works_on_it(message: &Message, #[key] key: &Key) -> Keyed {
    let thread = std::thread::current();
    println!("{} by {} on {:?}", message.id, std::process::id(), thread.id());
    Ok(key.as_str().to_owned())
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

#[idempotent(store = none, key = "msg:<message.id>")]
fn counted(message: &Message, #[key] key: &Key) -> Keyed {
    let nth = HANDLED.fetch_add(1, Ordering::Relaxed);
    println!("{} is number {nth}", message.id);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn defaults_and_maps(message: &Message, #[key] key: &Key) -> Keyed {
    let amount = message.amount.unwrap_or_default();
    let by_name: HashMap<&str, u64> = HashMap::from([("amount", amount)]);
    println!("{:?}", by_name.values().sum::<u64>());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn path_to_a_generator(message: &Message, #[key] key: &Key) -> Keyed {
    let trace = message.id.parse().unwrap_or_else(|_| Uuid::new_v4());
    let row = message.amount.map_or_else(Uuid::new_v4, |_| trace);
    assert_eq!(trace, row);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
async fn async_work(message: &Message, #[key] key: &Key) -> Keyed {
    println!("[{}] {}", Uuid::new_v4(), message.id);
    std::future::ready(()).await;
    Ok(key.as_str().to_owned())
}

#[test]
fn what_the_body_makes_is_its_own() {
    same_key(|| fresh_id_for_a_log_line(&message()), "msg:8f14");
    same_key(|| fresh_id_for_a_row(&message()), "msg:8f14");
    same_key(|| time_that_the_work_took(&message()), "msg:8f14");
    same_key(|| processed_at(&message()), "msg:8f14");
    same_key(|| who_works_on_it(&message()), "msg:8f14");
    same_key(|| counted(&message()), "msg:8f14");
    same_key(|| defaults_and_maps(&message()), "msg:8f14");
    same_key(|| path_to_a_generator(&message()), "msg:8f14");
    same_key(|| futures::executor::block_on(async_work(&message())), "msg:8f14");
}
