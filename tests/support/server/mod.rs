//! A server in this process, on free ports of the loopback address. It fails on demand and records every request. It serves a
//! [`Service`]: an OCI registry, or the origin of providers.

pub mod answer;
mod book;
mod connection;
pub mod fault;
pub mod gate;
pub mod seen;

use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use answer::Answer;
pub use book::Book;
use connection::Server;
use fault::{Fault, Rule};
use seen::{Door, Seen};

/// A service behind a server.
pub trait Service: Send + 'static {
    /// Its requests so far, and the faults of later ones.
    fn book(&mut self) -> &mut Book;

    /// Admits a request, or refuses it before its body is read.
    fn receive(&mut self, seen: &Seen) -> Option<Answer>;

    /// Answers an admitted request.
    fn answer(&mut self, seen: &Seen, body: Bytes) -> Answer;

    /// The longest body of a request. The connection is cut after it.
    fn limit(&self, _seen: &Seen) -> u64 {
        u64::MAX
    }

    /// Stores the received part of a body that was cut.
    fn keep_partial(&mut self, _seen: &Seen, _bytes: &Bytes) {}

    /// Revokes the token of a request.
    fn revoke(&mut self, _seen: &Seen) {}

    /// Redirects a client to another door, if the content is there too.
    fn redirect_to(&mut self, _seen: &Seen, _door: Door) -> Option<Answer> {
        None
    }
}

/// The base URLs of a server's doors, without a slash at the end.
#[derive(Clone, Debug)]
pub struct Doors {
    pub front: String,
    pub elsewhere: String,
    pub plain: String,
}

impl Doors {
    /// The base URL of a door.
    pub fn of(&self, door: Door) -> &str {
        match door {
            Door::Front => &self.front,
            Door::Elsewhere => &self.elsewhere,
            Door::Plain => &self.plain,
        }
    }
}

/// A server that runs until it is dropped.
pub struct Running<S> {
    service: Arc<Mutex<S>>,
    doors: Doors,
    proxy: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The host name of the front door.
pub(super) enum Front<'a> {
    /// A name of the loopback address, with its port.
    At(&'a str),
    /// Another host, behind a proxy.
    Played(&'a str),
}

impl<S: Service> Running<S> {
    /// Starts a server, with TLS at all doors but the plain one.
    pub(super) fn start(
        front: Front<'_>,
        tls: Option<ServerConfig>,
        service: impl FnOnce(&Doors) -> S,
    ) -> Self {
        let open = || TcpListener::bind("127.0.0.1:0").unwrap();
        let listeners = [Door::Front, Door::Elsewhere, Door::Plain].map(|door| (door, open()));
        let url = |(door, listener): &(Door, TcpListener)| {
            let secure = tls.is_some() && *door != Door::Plain;
            let scheme = if secure { "https" } else { "http" };
            let name = match front {
                Front::At(name) if *door == Door::Front => name,
                _ => "127.0.0.1",
            };
            let port = listener.local_addr().unwrap().port();
            format!("{scheme}://{name}:{port}")
        };
        let [address, elsewhere, plain] = listeners.each_ref().map(url);
        let doors = Doors {
            front: match front {
                Front::At(_) => address.clone(),
                Front::Played(host) => format!("http://{host}"),
            },
            elsewhere,
            plain,
        };
        let service = Arc::new(Mutex::new(service(&doors)));
        let server = Server {
            service: Arc::clone(&service),
            tls: tls.map(|config| TlsAcceptor::from(Arc::new(config))),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async move {
                for (door, listener) in listeners {
                    tokio::spawn(server.clone().listen(door, listener));
                }
                let _dropped = stopped.await;
            });
        });
        Self {
            service,
            doors,
            proxy: address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// `NAME:PORT` of the front door.
    pub fn host(&self) -> &str {
        self.doors.front.split_once("://").unwrap().1
    }

    /// The URL of a proxy that leads to this server only.
    pub fn proxy(&self) -> &str {
        &self.proxy
    }

    /// A URL at the front door; `path` begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.doors.front)
    }

    /// The URLs of all doors.
    pub fn doors(&self) -> &Doors {
        &self.doors
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.service().book().seen.clone()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.service().book().forget();
    }

    /// The number of matching requests so far.
    pub fn count(&self, sort: impl Fn(&Seen) -> bool) -> usize {
        let mut service = self.service();
        let seen = service.book().seen.iter();
        seen.filter(|seen| sort(seen)).count()
    }

    /// The largest number of matching requests in progress at once, each from its arrival to the end of its answer.
    pub fn most_at_once(&self, sort: impl Fn(&Seen) -> bool) -> usize {
        self.service().book().most_at_once(sort)
    }

    /// Makes the n-th matching request from now on fail, counted from 1.
    pub fn fault(&self, nth: usize, sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
        self.rule(sort, nth - 1, 1, fault);
    }

    /// Makes the next `count` matching requests fail.
    pub fn storm(&self, count: usize, sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
        self.rule(sort, 0, count, fault);
    }

    /// Makes every matching request fail.
    pub fn always(&self, sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
        self.rule(sort, 0, usize::MAX, fault);
    }

    /// Delays every matching request before it takes effect.
    pub fn latency(&self, sort: impl Fn(&Seen) -> bool + Send + 'static, latency: Duration) {
        let mut service = self.service();
        service.book().delays.push((Box::new(sort), latency));
    }

    /// The service itself, to read or alter it without a request.
    pub(super) fn service(&self) -> MutexGuard<'_, S> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rule(
        &self,
        sort: impl Fn(&Seen) -> bool + Send + 'static,
        skip: usize,
        times: usize,
        fault: Fault,
    ) {
        let rule = Rule {
            matches: Box::new(sort),
            skip,
            times,
            fault,
        };
        self.service().book().rules.push(rule);
    }
}

impl<S> Drop for Running<S> {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
