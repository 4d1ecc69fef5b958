//! A relay in front of a registry that is far away, for benches/far.sh.

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// The type of a TLS record that opens a connection.
const HANDSHAKE: u8 = 22;

/// Relays connections to the port `RELAY_TO` until it is killed, and holds each request back for `RELAY_DELAY` milliseconds. The file
/// `RELAY_FILE` gets the relay's port.
#[tokio::test]
#[ignore = "relays until it is killed"]
async fn relay() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let port: u16 = variable("RELAY_TO").parse().unwrap();
    let delay = Duration::from_millis(variable("RELAY_DELAY").parse().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port().to_string();
    std::fs::write(PathBuf::from(variable("RELAY_FILE")), own).unwrap();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        tokio::spawn(join(client, server, delay));
    }
}

async fn join(client: TcpStream, server: TcpStream, delay: Duration) {
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let (held, mut released) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let reading = async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            let is_request = buffer[0] != HANDSHAKE;
            let due = Instant::now() + delay * u32::from(is_request);
            // The server may be gone.
            let _held = held.send((due, buffer[..count].to_vec()));
        }
    };
    let sending = async move {
        while let Some((due, bytes)) = released.recv().await {
            sleep_until(due).await;
            if to_server.write_all(&bytes).await.is_err() {
                break;
            }
        }
    };
    let answering = async move {
        // Either side may go away.
        let _ended = tokio::io::copy(&mut from_server, &mut to_client).await;
    };
    tokio::join!(reading, sending, answering);
}
