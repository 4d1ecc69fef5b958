//! An origin in this process: a provider registry over HTTPS on free ports of the loopback address, with checksums and signatures of
//! its releases, and the same releases by the network mirror protocol. It fails on demand and records every request.
//!
//! ```ignore
//! let origin = Origin::of([Provider::demo(&["linux_amd64", "darwin_arm64"])]); origin.fault(1, asks("package acme/demo 1.0.0
//! linux_amd64"), Fault::cut_body(100)); origin.always(asks("download"), lie::says("shasum", "0".repeat(64))); // … mirror
//! origin.address("acme/demo"), trusting the certificate origin.write_ca(&scene) … assert_eq!(origin.counters(), "1 discovery, 1
//! versions, 2 download, 1 document, 1 signature, 3 package"); origin.assert_no_leaks();
//! ```

mod call;
mod desk;
pub mod lie;
mod provider;

use std::path::PathBuf;

use base64::Engine as _;
use bytes::Bytes;

use super::scene::Scene;
pub use super::server::fault::Fault;
pub use super::server::seen::{Door, Seen};
use super::server::{Front, Running};
use super::tls::Authority;
use call::{Call, KINDS};
pub use call::{asks, at};
use desk::Desk;
pub use provider::{Provider, Release};

/// The secret in signed URLs.
pub const SECRET: &str = "c2lnbmVk";

/// How an origin is set up.
pub struct Setup {
    token: Option<String>,
    mirror_token: Option<String>,
    /// Name and password for packages.
    login: Option<(String, String)>,
    service_at: Door,
    files_at: Door,
    signed_urls: bool,
    /// The schemes of the hashes that the network mirror lists.
    mirror_schemes: Vec<&'static str>,
    providers: Vec<Provider>,
}

impl Setup {
    /// An origin without credentials that serves everything from one host.
    pub fn new(providers: impl IntoIterator<Item = Provider>) -> Self {
        Self {
            token: None,
            mirror_token: None,
            login: None,
            service_at: Door::Front,
            files_at: Door::Front,
            signed_urls: false,
            mirror_schemes: vec!["h1:", "zh:"],
            providers: providers.into_iter().collect(),
        }
    }

    /// Requires this bearer token for versions and metadata of packages: 401 without one, 403 with another.
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Requires this bearer token for the documents of the network mirror.
    pub fn mirror_token(mut self, token: &str) -> Self {
        self.mirror_token = Some(token.to_owned());
        self
    }

    /// Requires a name and a password for packages, as in a `.netrc`.
    pub fn package_login(mut self, user: &str, password: &str) -> Self {
        self.login = Some((user.to_owned(), password.to_owned()));
        self
    }

    /// Makes discovery name another door for the service.
    pub fn service_at(self, service_at: Door) -> Self {
        Self { service_at, ..self }
    }

    /// Serves packages, documents and signatures at another door.
    pub fn files_at(self, files_at: Door) -> Self {
        Self { files_at, ..self }
    }

    /// Adds a secret to the URLs of files, which their download requires.
    pub fn signed_urls(mut self) -> Self {
        self.signed_urls = true;
        self
    }

    /// Makes the network mirror list hashes of these schemes only: `h1:`, `zh:`.
    pub fn mirror_schemes(mut self, schemes: &[&'static str]) -> Self {
        self.mirror_schemes = schemes.to_vec();
        self
    }

    /// Starts it.
    pub fn start(self) -> Origin {
        let tls = Authority::shared().server().serve(None);
        Running::start(Front::At("localhost"), Some(tls), |doors| {
            Desk::new(self, doors.clone())
        })
    }
}

/// An origin that runs until it is dropped.
pub type Origin = Running<Desk>;

impl Origin {
    /// Starts an origin of these providers.
    pub fn of(providers: impl IntoIterator<Item = Provider>) -> Self {
        Setup::new(providers).start()
    }

    /// The address of a provider of this origin: `localhost:PORT/NAMESPACE/TYPE`.
    pub fn address(&self, provider: &str) -> String {
        format!("{}/{provider}", self.host())
    }

    /// The base URL of the network mirror.
    pub fn mirror_url(&self) -> String {
        self.url("/mirror/")
    }

    /// A `host` block for the CLI configuration: this origin takes the place of another host.
    pub fn host_block(&self, host: &str) -> String {
        let service = self.url("/v1/providers/");
        format!(
            "host \"{host}\" {{\n  services = {{\n    \"providers.v1\" = \"{service}\"\n  }}\n}}\n"
        )
    }

    /// Writes the certificate of the authority that issued those of all doors.
    pub fn write_ca(&self, scene: &Scene) -> PathBuf {
        Authority::shared().write(scene, "ca.pem")
    }

    /// Adds a provider, or replaces the one with its address.
    pub fn publish(&self, provider: Provider) {
        let providers = &mut self.service().setup.providers;
        providers.retain(|other| other.address != provider.address);
        providers.push(provider);
    }

    /// The zip of a release.
    #[track_caller]
    pub fn zip(&self, provider: &str, version: &str, platform: &str) -> Bytes {
        let service = self.service();
        let release = service.provider(provider).unwrap().find(version).unwrap();
        release.package(platform).unwrap().bytes.clone()
    }

    /// Whether these are the SHA-256 of a zip of a provider.
    pub fn has_zip(&self, provider: &str, sha256: &str) -> bool {
        let service = self.service();
        let releases = service.provider(provider).into_iter();
        let mut zips = releases
            .flat_map(|provider| &provider.releases)
            .flat_map(Release::packages);
        zips.any(|package| package.sha256() == sha256)
    }

    /// The number of requests of each kind: `1 discovery, 1 versions`.
    pub fn counters(&self) -> String {
        let seen = self.seen();
        let kind = |seen: &Seen| Call::of(&seen.path).map_or("unknown", |call| call.kind);
        let kinds: Vec<_> = seen.iter().map(kind).collect();
        let count = |kind| {
            let count = kinds.iter().filter(|other| **other == kind).count();
            (count > 0).then(|| format!("{count} {kind}"))
        };
        let words = KINDS.into_iter().chain(["unknown"]);
        words.filter_map(count).collect::<Vec<_>>().join(", ")
    }

    /// Every request so far: `GET download acme/demo 1.0.0 linux_amd64 200`.
    pub fn transcript(&self) -> Vec<String> {
        let line = |seen: &Seen| {
            let what = Call::of(&seen.path).map_or(seen.path.clone(), |call| call.to_string());
            let status = seen
                .status
                .map_or("none".to_owned(), |code| code.to_string());
            format!("{} {what} {status}", seen.method)
        };
        self.seen().iter().map(line).collect()
    }

    /// Whether a request sent a secret or a client version to a host that must not receive it
    /// (`tfoci::clients#host-tokens`).
    pub fn leaks(&self, seen: &Seen) -> bool {
        self.service().leaks(seen)
    }

    /// Panics if a secret or a client version was sent to a host that must not receive it.
    #[track_caller]
    pub fn assert_no_leaks(&self) {
        let seen = self.seen();
        let leaks: Vec<_> = seen.iter().filter(|seen| self.leaks(seen)).collect();
        assert!(leaks.is_empty(), "{leaks:#?}");
    }
}

/// `Authorization` for a name and a password.
fn basic(user: &str, password: &str) -> String {
    let pair = format!("{user}:{password}");
    let text = base64::engine::general_purpose::STANDARD.encode(pair);
    format!("Basic {text}")
}
