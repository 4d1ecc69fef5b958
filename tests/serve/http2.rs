//! Packages over HTTP/2.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::http;
use super::package_faults::large;
use super::stores::{DEMO, Store, package};

const ZIP: &str = "linux_amd64";
/// The largest window of an HTTP/2 client.
const MOST: u32 = i32::MAX as u32;

/// The socket, which counts the records of TLS that arrive.
struct Counted {
    stream: TcpStream,
    header: Vec<u8>,
    /// The missing bytes of the record's payload.
    left: usize,
    records: usize,
    bytes: usize,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.bytes += read;
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            if self.left > 0 {
                let payload = self.left.min(rest.len());
                self.left -= payload;
                rest = &rest[payload..];
                continue;
            }
            self.header.push(rest[0]);
            rest = &rest[1..];
            if let [_, _, _, high, low] = self.header[..] {
                self.left = usize::from(u16::from_be_bytes([high, low]));
                self.records += 1;
                self.header.clear();
            }
        }
        Ok(read)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// `GET` over a new connection whose window never fills.
fn request(path: &str) -> Vec<u8> {
    let settings = [&[0, 4][..], &MOST.to_be_bytes()].concat();
    let window = (MOST - 65_535).to_be_bytes();
    let headers = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "server.test"),
        (":path", path),
    ];
    let headers: Vec<u8> = headers
        .iter()
        .flat_map(|(name, value)| {
            let lengths = [name, value].map(|text| u8::try_from(text.len()).unwrap());
            assert!(lengths[1] < 127);
            let [name_length, value_length] = lengths;
            [
                &[0, name_length][..],
                name.as_bytes(),
                &[value_length],
                value.as_bytes(),
            ]
            .concat()
        })
        .collect();
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &settings),
        frame(8, 0, 0, &window),
        frame(1, 5, 1, &headers),
    ]
    .concat()
}

/// A frame has 16 KiB of a package and a header. Each by itself would be two records, the second of 9 bytes.
#[test]
fn frames_fill_records_of_tls() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&[ZIP], 16 << 20));
    let name = package(DEMO, "1.0.0", ZIP);
    let length = store.file(DEMO, "1.0.0", &name).len();
    let server = store.serve_tls(&[]);
    let path = format!("/mirror/{DEMO}/{name}");
    // The second time, the file is known and not hashed again.
    for _ in 0..2 {
        let counted = Counted {
            stream: TcpStream::connect(server.address).unwrap(),
            header: Vec::new(),
            left: 0,
            records: 0,
            bytes: 0,
        };
        let mut client = http::handshake(counted, &[b"h2"]).unwrap();
        client.write_all(&request(&path)).unwrap();
        let mut received = 0;
        let mut buffer = vec![0; 64 << 10];
        while received < length {
            let read = client.read(&mut buffer).unwrap();
            assert!(read > 0, "{}", server.log());
            received += read;
        }
        let each = client.sock.bytes / client.sock.records;
        assert!(each > 15 << 10, "{each} bytes in a record");
    }
}
