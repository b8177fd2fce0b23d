//! Ports that nobody listens on.

use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A port of 127.0.0.1 that was free a moment ago, and that this process has not given out before.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    free_port_and(0)
}

/// The same for a port whose server listens on another too, which is so much higher.
///
/// # Panics
/// If there is none.
pub(crate) fn free_port_and(higher: u16) -> u16 {
    static GIVEN: LazyLock<Mutex<HashSet<u16>>> = LazyLock::new(Mutex::default);
    for _ in 0..100 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let Some(other) = port.checked_add(higher) else { continue };
        if higher > 0 && TcpListener::bind(("127.0.0.1", other)).is_err() {
            continue;
        }
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        if given.contains(&port) || given.contains(&other) {
            continue;
        }
        given.extend([port, other]);
        return port;
    }
    panic!("no free port on 127.0.0.1");
}
