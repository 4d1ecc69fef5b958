use std::fs;

use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, PLATFORMS, Store, ZIP};
use crate::support::registry::Registry;
use crate::support::release::sha256;

const CONNECTIONS: usize = 500;
const STREAMS: usize = 8;
/// The measured value and its limit in KiB. In a development build the executable itself and its stack frames are large: there only
/// what was allocated counts.
const LIMIT: (&str, u64) = match cfg!(debug_assertions) {
    true => ("RssAnon:", 42 << 10),
    false => ("VmHWM:", 48 << 10),
};

fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(server.proc("status")).unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix(LIMIT.0));
    let value = value.unwrap().trim().strip_suffix(" kB");
    value.unwrap().parse().unwrap()
}

#[test]
fn many_connections_and_streams_take_little_memory() {
    let registry = Registry::plain();
    for store in [Store::empty(), Store::at(registry.host())] {
        store.push_release(DEMO, "1.0.0", &large(&PLATFORMS[..1], 30 << 20));
        let zip = store.zip(PLATFORMS[0]);
        let (digest, length) = (sha256(&zip), zip.len());
        drop(zip);
        let server = store.serve_tls("--max-rate 0");
        let _open: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let mut connection = server.connect();
                connection.get("/healthz").is(200);
                connection
            })
            .collect();
        let mut streams: Vec<_> = (0..STREAMS)
            .map(|_| {
                let mut connection = server.connect();
                connection.request("GET", ZIP, &[]);
                connection.head().unwrap().is(200);
                (connection, Vec::new())
            })
            .collect();
        let mut most = memory(&server);
        // Each reads one piece in turn, so that none completes before the others.
        while streams.iter().any(|(_, body)| body.len() < length) {
            for (connection, body) in &mut streams {
                if body.len() < length {
                    let more = connection.some((1 << 20).min(length - body.len()));
                    assert!(!more.is_empty(), "{}", server.log());
                    body.extend(more);
                }
            }
            most = most.max(memory(&server));
        }
        for (_, body) in streams {
            assert_eq!(sha256(&body), digest);
        }
        assert!(most <= LIMIT.1, "{most} KiB of {}", LIMIT.0);
    }
}
