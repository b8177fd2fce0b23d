//! The whole of an annotated handler: key from the message, claim, verdict, typed result to JSON and back, async.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use idem::{Error, MemoryStore, idempotent};
use serde::{Deserialize, Serialize};

use super::contender::{Contender, RESULT, message_id};

/// The handler under `#[idempotent]`, on the installed store.
pub(crate) struct Annotated(Vec<Message>);

struct Message {
    id: String,
}

/// 64 bytes of JSON.
#[derive(Serialize, Deserialize)]
struct Receipt {
    charge: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: &Message) -> Result<Receipt, Error> {
    let charge = message.id[..34].to_owned();
    Ok(Receipt { charge, amount: black_box(1_200_000) })
}

impl Contender for Annotated {
    const NAME: &'static str = "idem: annotated handler";

    fn empty(keys: usize) -> Self {
        // Each round leaves its store behind, as the installed store of a process stays to its end.
        idem::install(MemoryStore::builder().max_records(4 * keys).build());
        Self((0..keys).map(|key| Message { id: message_id(key) }).collect())
    }

    fn first(&self, key: usize) {
        black_box(now(pin!(charge(&self.0[key])))).expect("the first delivery runs");
    }

    fn replay(&self, key: usize) -> usize {
        let receipt = now(pin!(charge(&self.0[key]))).expect("a redelivery is replayed");
        // Its length as it is stored, so that the table can check what came back.
        debug_assert_eq!(serde_json::to_vec(&receipt).map_or(0, |json| json.len()), RESULT.len());
        black_box(receipt.charge.len()) + RESULT.len() - 34
    }
}

/// A store in memory answers at the first poll. The future is polled where it was made, as most executors and `.await` do.
fn now<F: Future>(future: Pin<&mut F>) -> F::Output {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the handler waits"),
    }
}
