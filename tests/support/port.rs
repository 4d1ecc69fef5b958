//! Ports for servers that cannot choose one themselves, and ports without a server.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that systems assign automatically, as they do to the servers of other tests.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

/// A port of the loopback address at which no server listens, and that no other test gets.
pub fn unused() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Concurrent runs of the tests start at different ports.
    let start = u16::try_from(std::process::id() * 64 % u32::from(COUNT)).unwrap();
    for _ in 0..COUNT {
        let next = NEXT.fetch_add(1, Ordering::SeqCst);
        let port = FIRST + (start + next % COUNT) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("every port is in use");
}
