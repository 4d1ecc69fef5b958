//! A registry in this process, on free ports of the loopback address: it follows the OCI distribution specification, has the
//! quirks of one of the registries that people use, fails on demand, and remembers every request.
//!
//! ```ignore
//! let registry = Setup::of(Personality::Ghcr).start();
//! registry.fault(1, matching("PUT", "/manifests/"), Fault::status(503));
//! // … push to registry.host() …
//! assert_eq!(registry.count(matching("POST", "/blobs/uploads/")), 4);
//! registry.assert_no_leaks();
//! ```

pub mod access;
pub mod answer;
mod blobs;
pub mod content;
mod desk;
pub mod fault;
mod manifests;
pub mod quirks;
mod route;
pub mod seen;
mod server;
mod uploads;

use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

pub use access::Access;
use desk::{Desk, Doors};
pub use fault::Fault;
use fault::Rule;
pub use quirks::{Personality, Quirks};
pub use seen::{Door, Seen, matching};
use server::Server;

/// A registry that is not started yet.
pub struct Setup {
    pub quirks: Quirks,
    pub access: Access,
    created: Vec<String>,
    tls: Option<Arc<ServerConfig>>,
    host: Option<String>,
}

impl Setup {
    /// A registry of a kind, as it is usually set up.
    pub fn of(personality: Personality) -> Self {
        Self {
            quirks: Quirks::of(personality),
            access: Access::of(personality),
            created: Vec::new(),
            tls: None,
            host: None,
        }
    }

    /// Alters the quirks.
    pub fn quirks(mut self, alter: impl FnOnce(&mut Quirks)) -> Self {
        alter(&mut self.quirks);
        self
    }

    /// Asks for a secret in another way.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Alters how tokens are given, where they are.
    pub fn tokens(mut self, alter: impl FnOnce(&mut access::Tokens)) -> Self {
        if let Access::Bearer(tokens) = &mut self.access {
            alter(tokens);
        }
        self
    }

    /// Creates a repository beforehand, or the levels of names that have to be there.
    pub fn create(mut self, name: &str) -> Self {
        self.created.push(name.to_owned());
        self
    }

    /// Speaks TLS.
    pub fn tls(mut self, config: ServerConfig) -> Self {
        self.tls = Some(Arc::new(config));
        self
    }

    /// Plays a host, for those who reach it without TLS through the proxy [`Registry::proxy`].
    pub fn host(mut self, name: &str) -> Self {
        self.host = Some(name.to_owned());
        self
    }

    /// Starts it.
    pub fn start(self) -> Registry {
        let open = || TcpListener::bind("127.0.0.1:0").unwrap();
        let listeners = [
            (Door::Registry, open()),
            (Door::Elsewhere, open()),
            (Door::Plain, open()),
        ];
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let [registry, elsewhere, plain] = listeners.each_ref().map(|(door, listener)| {
            let scheme = if *door == Door::Plain { "http" } else { scheme };
            format!("{scheme}://{}", listener.local_addr().unwrap())
        });
        let proxy = registry.clone();
        let doors = Doors {
            registry: self.host.map_or(registry, |host| format!("http://{host}")),
            elsewhere,
            plain,
        };
        let mut desk = Desk::new(self.quirks, self.access, doors.clone());
        desk.created = self.created;
        let server = Server {
            desk: Arc::new(Mutex::new(desk)),
            tls: self.tls.map(TlsAcceptor::from),
        };
        let desk = Arc::clone(&server.desk);
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
        Registry {
            desk,
            doors,
            proxy,
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

/// A registry that runs until it is dropped.
pub struct Registry {
    desk: Arc<Mutex<Desk>>,
    doors: Doors,
    proxy: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Registry {
    /// The specification, and nobody is asked.
    pub fn plain() -> Self {
        Setup::of(Personality::Plain).start()
    }

    /// The URL of a proxy behind which there is this registry, and nothing else.
    pub fn proxy(&self) -> &str {
        &self.proxy
    }

    /// `127.0.0.1:PORT`, or the host that it plays.
    pub fn host(&self) -> &str {
        let url = &self.doors.registry;
        url.split_once("://").unwrap().1
    }

    /// A URL of the registry; `path` begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.doors.registry)
    }

    /// The name that goes with the password, if one is asked for.
    pub fn user(&self) -> Option<&'static str> {
        self.desk().access.user()
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.desk().seen.clone()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.desk().seen.clear();
    }

    /// How many requests there were of some sort.
    pub fn count(&self, sort: impl Fn(&Seen) -> bool) -> usize {
        self.desk().seen.iter().filter(|seen| sort(seen)).count()
    }

    /// Makes the n-th request of some sort from now on fail, counted from 1.
    pub fn fault(&self, nth: usize, sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
        self.desk().rules.push(Rule::new(sort, nth - 1, 1, fault));
    }

    /// Makes every request of some sort fail.
    pub fn always(&self, sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
        self.desk()
            .rules
            .push(Rule::new(sort, 0, usize::MAX, fault));
    }

    /// Looks at what one repository holds, or alters it behind everybody's back.
    pub fn repository<T>(&self, name: &str, look: impl FnOnce(&mut content::Repository) -> T) -> T {
        look(self.desk().content.repository(name))
    }

    /// The tags of a repository and their digests, sorted.
    pub fn tags(&self, name: &str) -> Vec<(String, String)> {
        let mut tags = self.repository(name, |repository| repository.tags.clone());
        tags.sort();
        tags
    }

    /// Panics if a secret was sent to anyone who has no business with it.
    #[track_caller]
    pub fn assert_no_leaks(&self) {
        let leaks: Vec<Seen> = self.seen().into_iter().filter(Seen::leaks).collect();
        assert!(leaks.is_empty(), "{leaks:#?}");
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
