//! idem under another name: nothing here is called `idem`, and the expansion has to find its way by `crate = ::once`.

/// The handlers' error.
#[derive(Debug)]
pub struct Error;

impl From<once::Error> for Error {
    fn from(_: once::Error) -> Self {
        Self
    }
}

/// A plain function.
///
/// # Errors
/// idem's own.
#[once::idempotent(key = "n:<n>", crate = ::once)]
pub fn charge(n: u64, m: u64) -> Result<u64, Error> {
    Ok(n + m)
}

/// Much of what the expansion can name.
///
/// # Errors
/// idem's own.
#[once::idempotent(
    key = ["a:<n.get()>", "b:<m>:<K>"],
    crate = once,
    scope = "renamed.all",
    ttl = "1d",
    on_duplicate = wait("1s"),
    on_lapse = "park",
    require = "any",
    payload(n),
    store = store
)]
pub async fn all<const K: usize>(
    n: std::num::NonZero<u64>,
    m: [u8; K],
    store: &once::MemoryStore,
    #[key] key: &once::Key,
    #[attempt] attempt: &once::Attempt,
) -> Result<String, Error> {
    Ok(format!("{key} {} {n} {}", attempt.tries(), m.len()))
}

/// A message, by way of the other name.
#[derive(once::Message, Debug)]
#[message(crate = ::once)]
pub struct Payment {
    /// Its identity.
    #[message(id)]
    pub id: u64,
    /// Payload.
    pub amount: u64,
}

/// A handler of messages.
///
/// # Errors
/// idem's own.
#[once::idempotent(key = "msg:<payment.id>", crate = ::once)]
pub fn pay(payment: &Payment) -> Result<u64, Error> {
    Ok(payment.amount)
}

unsafe fn raw() -> u64 {
    1
}

/// In an edition where an unsafe function is no unsafe block.
///
/// # Safety
/// None is needed.
///
/// # Errors
/// idem's own.
#[once::idempotent(key = "n:<n>", crate = ::once)]
pub async unsafe fn unsafe_charge(n: u64) -> Result<u64, Error> {
    Ok(n + unsafe { raw() })
}

/// A part by derive.
#[derive(once::KeyPart, Debug)]
#[key(crate = ::once)]
pub struct Line {
    order: u64,
    kind: Kind,
}

/// Another.
#[derive(once::KeyPart, Debug)]
#[key(crate = once)]
pub enum Kind {
    /// A return.
    #[key(rename = "back")]
    Return,
}

impl Line {
    const fn order(&self) -> u64 {
        self.order
    }
}

/// A key outside of a handler.
///
/// # Errors
/// idem's own.
pub fn key_of(line: &Line) -> Result<once::Key, once::Error> {
    once::key!("line:<line.order()>:<line>", line: &Line, crate = ::once)
}

#[test]
fn parts_and_keys_find_it_too() {
    let line = Line { order: 7, kind: Kind::Return };
    assert_eq!(key_of(&line).unwrap().as_str(), "line:7:7/back");
}

#[test]
fn it_is_found_by_its_other_name() {
    once::install(once::MemoryStore::new());
    assert_eq!(charge(1, 1).unwrap(), 2);
    assert_eq!(charge(1, 2).unwrap(), 2);
    assert_eq!(pay(&Payment { id: 1, amount: 2 }).unwrap(), 2);
    assert!(pay(&Payment { id: 1, amount: 3 }).is_err());
    let store = once::MemoryStore::new();
    let mut future = std::pin::pin!(all(std::num::NonZero::new(3).unwrap(), [1], &store));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(answer) => assert_eq!(answer.unwrap(), "a:3 1 3 1"),
        std::task::Poll::Pending => panic!("a store in memory answers at once"),
    }
}
