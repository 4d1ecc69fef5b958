//! Packages over HTTP/2, and a client that sends and receives frames.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};

use super::http;
use super::package_faults::large;
use super::stores::{DEMO, Store, package};

const ZIP: &str = "linux_amd64";
/// The largest window of an HTTP/2 client.
const MOST: u32 = i32::MAX as u32;
/// More than any answer takes, but not for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// The kinds of frames.
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
/// The flags of frames.
const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200`, which is in the static table of HPACK.
const STATUS_200: u8 = 0x88;

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

/// A connection over HTTP/2. It does not enlarge its windows.
pub struct Client {
    stream: StreamOwned<ClientConnection, TcpStream>,
    /// The number of the next request's stream.
    next: u32,
    /// Whether the server has said that it accepts no more requests.
    pub is_going_away: bool,
    is_ended: bool,
}

impl Client {
    /// Connects, and sends nothing but settings. The window never fills.
    pub fn connect(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).unwrap(), MOST)
    }

    /// Connects from an address of this machine. The server may send this many bytes of each answer.
    pub fn from(source: IpAddr, address: SocketAddr, window: u32) -> Self {
        Self::of(http::socket_from(source, address), window)
    }

    /// Connects, and leaves most of what arrives to the operating system of the server.
    pub fn slow(address: SocketAddr) -> Self {
        Self::of(http::small_socket(address), MOST)
    }

    /// Tells the server that the client has read bytes of the first answer.
    pub fn has_read(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap().to_be_bytes();
        for number in [0, 1] {
            // The server may have closed the connection meanwhile.
            let _sent = self
                .stream
                .write_all(&frame(WINDOW_UPDATE, 0, number, &bytes));
        }
    }

    fn of(stream: TcpStream, window: u32) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut stream = http::handshake(stream, &[b"h2"]).unwrap();
        stream.write_all(&settings(window)).unwrap();
        Self {
            stream,
            next: 1,
            is_going_away: false,
            is_ended: false,
        }
    }

    pub fn get(&mut self, path: &str) {
        self.ask(path, "server.test", END_STREAM);
    }

    /// Sends a request for this host, and returns the number of its stream.
    pub fn ask(&mut self, path: &str, host: &str, flags: u8) -> u32 {
        let number = self.next;
        self.next += 2;
        let request = headers(number, path, host, flags);
        self.stream.write_all(&request).unwrap();
        number
    }

    /// Sends a frame.
    pub fn send(&mut self, kind: u8, flags: u8, number: u32, payload: &[u8]) {
        let frame = frame(kind, flags, number, payload);
        self.stream.write_all(&frame).unwrap();
    }

    /// Whether the next answer is 200; `None` if the connection ends before.
    pub fn is_ok(&mut self) -> Option<bool> {
        loop {
            let (kind, _, payload) = self.frame()?;
            if kind == HEADERS {
                return Some(payload.first() == Some(&STATUS_200));
            }
        }
    }

    /// The next part of the body; `None` after its end, and if the connection ends before.
    pub fn data(&mut self) -> Option<Vec<u8>> {
        while !self.is_ended {
            let (kind, flags, payload) = self.frame()?;
            match kind {
                DATA => {
                    self.is_ended = flags & END_STREAM > 0;
                    return Some(payload);
                }
                HEADERS => assert_eq!(payload.first(), Some(&STATUS_200)),
                _ => {}
            }
        }
        None
    }

    /// Whether the server closes the connection. Drops all frames before.
    pub fn ends(&mut self) -> bool {
        while self.frame().is_some() {}
        let end = self.stream.read(&mut [0]);
        end.map_or_else(|error| !http::is_timeout(&error), |read| read == 0)
    }

    /// The next frame: its kind, its flags and its payload.
    pub fn frame(&mut self) -> Option<(u8, u8, Vec<u8>)> {
        let mut header = [0; 9];
        self.stream.read_exact(&mut header).ok()?;
        let [high, middle, low, kind, flags, ..] = header;
        let length = u32::from_be_bytes([0, high, middle, low]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut payload).ok()?;
        match kind {
            // The server may have closed the connection meanwhile.
            PING if flags & ACK == 0 => drop(self.stream.write_all(&frame(PING, ACK, 0, &payload))),
            GOAWAY => self.is_going_away = true,
            _ => {}
        }
        Some((kind, flags, payload))
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The beginning of a connection with this window for each answer, and one for all of them that never fills.
fn settings(each: u32) -> Vec<u8> {
    let settings = [&[0, 4][..], &each.to_be_bytes()].concat();
    let window = (MOST - 65_535).to_be_bytes();
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, &settings),
        frame(WINDOW_UPDATE, 0, 0, &window),
    ]
    .concat()
}

/// `GET` in a stream.
fn headers(stream: u32, path: &str, host: &str, flags: u8) -> Vec<u8> {
    let headers = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", host),
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
    frame(HEADERS, flags | END_HEADERS, stream, &headers)
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
        client
            .write_all(&[settings(MOST), headers(1, &path, "server.test", END_STREAM)].concat())
            .unwrap();
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
