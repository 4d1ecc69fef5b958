//! A registry in this process, on free ports of the loopback address. It follows the OCI distribution specification, has the
//! quirks of a real registry, fails on demand, and records every request.
//!
//! ```ignore
//! let registry = Setup::of(Personality::Ghcr).start();
//! registry.fault(1, matching("PUT", "/manifests/"), Fault::status(503));
//! // … push to registry.host() …
//! assert_eq!(registry.count(matching("POST", "/blobs/uploads/")), 4);
//! ```

pub mod access;
mod blobs;
pub mod content;
mod desk;
mod manifests;
pub mod quirks;
mod route;
mod uploads;

use tokio_rustls::rustls::ServerConfig;

pub use super::server::answer;
pub use super::server::fault::Fault;
use super::server::seen;
pub use super::server::seen::{Door, Seen, matching};
use super::server::{Front, Running};
pub use access::Access;
use desk::Desk;
pub use quirks::{Personality, Quirks};

/// A registry that is not started yet.
pub struct Setup {
    pub quirks: Quirks,
    pub access: Access,
    created: Vec<String>,
    tls: Option<ServerConfig>,
    host: Option<String>,
}

impl Setup {
    /// A registry of a kind in its usual setup.
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

    /// Changes how requests are authenticated.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Alters how tokens are issued, if the registry uses them.
    pub fn tokens(mut self, alter: impl FnOnce(&mut access::Tokens)) -> Self {
        if let Access::Bearer(tokens) = &mut self.access {
            alter(tokens);
        }
        self
    }

    /// Creates a repository beforehand, or the levels of names that must exist.
    pub fn create(mut self, name: &str) -> Self {
        self.created.push(name.to_owned());
        self
    }

    /// Speaks TLS.
    pub fn tls(mut self, config: ServerConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Plays a host, for clients that reach it without TLS through the proxy [`Running::proxy`].
    pub fn host(mut self, name: &str) -> Self {
        self.host = Some(name.to_owned());
        self
    }

    /// Starts it.
    pub fn start(self) -> Registry {
        let front = match &self.host {
            Some(name) => Front::Played(name),
            None => Front::At("127.0.0.1"),
        };
        Running::start(front, self.tls, |doors| {
            let mut desk = Desk::new(self.quirks, self.access, doors.clone());
            desk.created = self.created;
            desk
        })
    }
}

/// A registry that runs until it is dropped.
pub type Registry = Running<Desk>;

impl Registry {
    /// A registry that follows the specification and requires tokens.
    pub fn with_tokens() -> Self {
        let setup = Setup::of(Personality::Plain);
        setup.access(Access::of(Personality::Quay)).start()
    }

    /// A registry that follows the specification and requires no credentials.
    pub fn plain() -> Self {
        Setup::of(Personality::Plain).start()
    }

    /// The user name, if the registry requires credentials.
    pub fn user(&self) -> Option<&'static str> {
        self.service().access.user()
    }

    /// Requires other credentials from now on.
    pub fn require(&self, access: Access) {
        self.service().access = access;
    }

    /// The docker configuration with the credentials, if the registry requires them.
    pub fn authfile(&self) -> String {
        let auth = self.user().map(access::basic);
        let auth = auth.as_deref().and_then(|text| text.strip_prefix("Basic "));
        serde_json::json!({"auths": {self.host(): {"auth": auth}}}).to_string()
    }

    /// Reads or alters one repository without a request.
    pub fn repository<T>(&self, name: &str, look: impl FnOnce(&mut content::Repository) -> T) -> T {
        look(self.service().content.repository(name))
    }

    /// Everything that it holds: the blobs, manifests, tags and unfinished uploads of each repository.
    pub fn content(&self) -> content::Content {
        self.service().content.clone()
    }

    /// The tags of a repository and their digests, sorted.
    pub fn tags(&self, name: &str) -> Vec<(String, String)> {
        let mut tags = self.repository(name, |repository| repository.tags.clone());
        tags.sort();
        tags
    }

    /// The platforms of a tag's index, in its order.
    pub fn platforms(&self, name: &str, tag: &str) -> Vec<String> {
        let index: serde_json::Value = self.repository(name, |repository| {
            let digest = repository.resolve(tag).unwrap();
            serde_json::from_slice(&repository.manifests[&digest].bytes).unwrap()
        });
        let entries = index["manifests"].as_array().unwrap().iter();
        let platforms = entries.map(|entry| {
            let part = |name: &str| entry["platform"][name].as_str().unwrap();
            format!("{}_{}", part("os"), part("architecture"))
        });
        platforms.collect()
    }

    /// Panics if a secret was sent to a host that must not receive it.
    #[track_caller]
    pub fn assert_no_leaks(&self) {
        let leaks: Vec<Seen> = self.seen().into_iter().filter(leaks).collect();
        assert!(leaks.is_empty(), "{leaks:#?}");
    }
}

/// Whether a secret was sent to a host that must not receive it: the storage, the server without TLS, or a token to the
/// token server.
pub fn leaks(seen: &Seen) -> bool {
    let token = seen.path == "/token";
    match (seen.door, seen.authorization()) {
        (_, None) => false,
        (_, Some(secret)) if token => secret.starts_with("Bearer"),
        (door, Some(_)) => door != Door::Front,
    }
}
