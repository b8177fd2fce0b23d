//! Ports that nobody listens on.

use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A port of 127.0.0.1 that was free a moment ago, and that this process has not given out before.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    static GIVEN: LazyLock<Mutex<HashSet<u16>>> = LazyLock::new(Mutex::default);
    for _ in 0..100 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        if GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
            return port;
        }
    }
    panic!("no free port on 127.0.0.1");
}
