//! An HTTP/1.1 client that sends bytes unchanged, and distinguishes complete answers from incomplete ones.

use std::io::ErrorKind::{TimedOut, WouldBlock};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tokio::net::TcpSocket;

use crate::support::tls::Authority;
use crate::support::wait::PATIENCE;

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the body has the length that was announced.
    pub is_whole: bool,
}

/// A connection for several requests.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// The read bytes after the last answer.
    rest: Vec<u8>,
}

trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

impl Connection {
    /// Without TLS.
    pub fn plain(address: SocketAddr) -> Self {
        Self::try_plain(address).unwrap()
    }

    /// Without TLS; `None` if the connection is refused.
    pub fn try_plain(address: SocketAddr) -> Option<Self> {
        Some(Self::of(prepared(TcpStream::connect(address).ok()?)))
    }

    /// With TLS.
    pub fn tls(address: SocketAddr) -> Self {
        Self::of(tls(address, &[b"http/1.1"]))
    }

    /// With TLS, from another address of this machine; `None` if the server closes it.
    pub fn try_tls_from(source: IpAddr, address: SocketAddr) -> Option<Self> {
        let stream = prepared(tcp_from(source, address));
        Some(Self::of(handshake(stream, &[b"http/1.1"]).ok()?))
    }

    fn of(stream: impl Stream + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            rest: Vec::new(),
        }
    }

    /// Sends bytes. A server that has closed the connection may not accept them all.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok() && self.stream.flush().is_ok()
    }

    /// Sends a request without a body. Without a `Host` among the headers, it is `server.test`.
    pub fn request(&mut self, method: &str, target: &str, headers: &[(&str, &str)]) {
        let mut text = format!("{method} {target} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str("Host: server.test\r\n");
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        self.send(format!("{text}\r\n").as_bytes());
    }

    /// `GET`, and its answer.
    #[track_caller]
    pub fn get(&mut self, target: &str) -> Reply {
        self.request("GET", target, &[]);
        self.reply("GET").unwrap()
    }

    /// The next answer; `None` if the connection ended or stalled before the end of its header.
    pub fn reply(&mut self, method: &str) -> Option<Reply> {
        let mut reply = self.head()?;
        if method == "HEAD" || matches!(reply.status, 204 | 304) {
            return Some(reply);
        }
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.is_whole = self.chunks(&mut reply.body).is_some();
        } else if let Some(length) = reply.header("content-length") {
            let length: usize = length.parse().unwrap();
            while self.rest.len() < length && self.more().is_some() {}
            reply.is_whole = self.rest.len() >= length;
            reply.body = self.rest.drain(..length.min(self.rest.len())).collect();
        } else {
            while self.more().is_some() {}
            reply.body = std::mem::take(&mut self.rest);
        }
        Some(reply)
    }

    /// The status and the headers of the next answer.
    pub fn head(&mut self) -> Option<Reply> {
        let end = loop {
            match self.rest.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.more()?,
            }
        };
        let head: Vec<u8> = self.rest.drain(..end).collect();
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        Some(Reply {
            status: status.parse().unwrap(),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
            body: Vec::new(),
            is_whole: true,
        })
    }

    /// Removes and returns at least this many bytes of a body.
    pub fn some(&mut self, least: usize) -> Vec<u8> {
        while self.rest.len() < least && self.more().is_some() {}
        std::mem::take(&mut self.rest)
    }

    /// Whether the server closes the connection. Drops all bytes before.
    pub fn ends(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return !matches!(error.kind(), TimedOut | WouldBlock),
            }
        }
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> Option<()> {
        loop {
            let end = loop {
                match self.rest.windows(2).position(|two| two == b"\r\n") {
                    Some(at) => break at,
                    None => self.more()?,
                }
            };
            let line: Vec<u8> = self.rest.drain(..end + 2).collect();
            let size = std::str::from_utf8(&line[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            while self.rest.len() < size + 2 {
                self.more()?;
            }
            body.extend(self.rest.drain(..size));
            self.rest.drain(..2);
            if size == 0 {
                return Some(());
            }
        }
    }

    fn more(&mut self) -> Option<()> {
        let mut buffer = [0; 64 << 10];
        let read = self.stream.read(&mut buffer).ok()?;
        self.rest.extend_from_slice(&buffer[..read]);
        (read > 0).then_some(())
    }
}

impl Reply {
    /// The only value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is there twice: {self:?}");
        value
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        assert_eq!((self.status, self.is_whole), (200, true), "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Asserts the status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.headers, self.text());
        self
    }

    /// Asserts that a text stands in the body.
    #[track_caller]
    pub fn tells(self, text: impl AsRef<str>) -> Self {
        let (text, body) = (text.as_ref(), self.text());
        assert!(body.contains(text), "expected {text:?} in:\n{body}");
        self
    }

    /// Asserts that a text does not stand in the body.
    #[track_caller]
    pub fn omits(self, text: impl AsRef<str>) -> Self {
        let (text, body) = (text.as_ref(), self.text());
        assert!(!body.contains(text), "unexpected {text:?} in:\n{body}");
        self
    }
}

/// Which protocol a server chooses over TLS from those that a client offers.
pub fn negotiated(address: SocketAddr, offered: &[&[u8]]) -> Option<Vec<u8>> {
    let stream = tls(address, offered);
    stream.conn.alpn_protocol().map(<[u8]>::to_vec)
}

/// The certificate that a server presents to new connections.
pub fn certificate(address: SocketAddr) -> CertificateDer<'static> {
    let stream = tls(address, &[b"http/1.1"]);
    stream.conn.peer_certificates().unwrap()[0].clone()
}

fn prepared(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A connection from another address of this machine.
fn tcp_from(source: IpAddr, address: SocketAddr) -> TcpStream {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(source, 0)).unwrap();
        let stream = socket.connect(address).await.unwrap();
        stream.into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}

fn tls(address: SocketAddr, protocols: &[&[u8]]) -> StreamOwned<ClientConnection, TcpStream> {
    handshake(prepared(TcpStream::connect(address).unwrap()), protocols).unwrap()
}

/// A handshake of TLS that offers these protocols.
fn handshake(
    stream: TcpStream,
    protocols: &[&[u8]],
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(Authority::shared().pem.as_bytes()).unwrap();
    roots.add(authority).unwrap();
    let mut config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}
