use std::sync::atomic::{AtomicU64, Ordering};

use idem::{Key, idempotent};

static COUNT: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy)]
struct Id(u64);

impl Id {
    const fn number(self) -> u64 {
        self.0
    }
}

trait Number {
    fn number(&self) -> u64;
}

impl Number for Id {
    fn number(&self) -> u64 {
        COUNT.fetch_add(1, Ordering::Relaxed)
    }
}

struct Message {
    id: Id,
}

// `id` is a `&Id` here, on which the trait's method is found first.
#[idempotent(key = "order:<id.number()>", store = none)]
async fn charge(Message { id }: &Message, #[key] key: &Key) -> Result<u64, idem::Error> {
    println!("{key}");
    Ok(id.0)
}

fn main() {
    let _ = Id(1).number();
    let _ = charge(&Message { id: Id(1) });
}
