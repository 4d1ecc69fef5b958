//! Clients that send bodies that nobody reads.

use super::http2::{Client, DATA, HEADERS, WINDOW_UPDATE};
use super::stores::{DEMO, Store};
use crate::support::registry::Registry;

/// The concurrent requests of a connection.
const STREAMS: usize = 8;
/// What a client may send at the beginning of a connection.
const WINDOW: usize = 65_535;

/// While a request waits, for example for the store, its client may go on and send a body.
#[test]
fn bodies_of_waiting_requests_are_dropped() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    registry.latency(|_| true, Duration::from_secs(3));
    let server = store.serve_tls(&[]);
    let mut client = Client::connect(server.address);
    let path = format!("/mirror/{DEMO}/index.json");
    let streams = [(); STREAMS].map(|()| client.ask(&path, "server.test", 0));
    let (mut free, mut sent) = (WINDOW, 0);
    let piece = [7; 16_000];
    // Three of them in each request, so that only the window of the connection matters.
    for number in [streams; 3].as_flattened() {
        while free < piece.len() {
            let (kind, _, payload) = client.frame().unwrap();
            assert_ne!(kind, HEADERS, "answered after {sent} bytes");
            if kind == WINDOW_UPDATE {
                free += usize::try_from(u32::from_be_bytes(payload.try_into().unwrap())).unwrap();
            }
            assert!(free <= WINDOW, "{free}");
        }
        client.send(DATA, 0, *number, &piece);
        free -= piece.len();
        sent += piece.len();
    }
    assert!(sent > 5 * WINDOW);
}
