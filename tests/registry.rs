use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use tempfile::TempDir;
use tfoci::address::ProviderAddr;
use tfoci::authentication::Anchor;
use tfoci::credentials::{Credential, CredentialKind, Credentials, Locations};
use tfoci::event::Reporter;
use tfoci::examine::{StoredProvider, TrustOptions};
use tfoci::http::{Http, Settings};
use tfoci::install::{self, Form, Installed};
use tfoci::jobs::Jobs;
use tfoci::oci::Repository;
use tfoci::outcome::{Failure, Published};
use tfoci::place::Place;
use tfoci::platform::Platforms;
use tfoci::publish::{self, EvidencePolicy, Existing};
use tfoci::push;
use tfoci::release::KeyRing;
use tfoci::store::{Registry, RepoMut, Store};
use tfoci::trust::{Policy, Rule};

use crate::support::judge;
use crate::support::layout_of_registry::export;
use crate::support::registry::access::{IDENTITY, PASSWORD};
use crate::support::registry::{self as double, Personality, Setup};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

/// The number of requests of a push.
mod budget;

/// Uploads in chunks.
mod chunks;

/// `--dry-run` with a registry as destination.
mod dry_run;

/// Certificates, and hosts that are not the registry.
mod hosts;

/// A push that is killed.
mod kill;

/// Registries that are known by their hosts.
mod known;

/// Manifests and tags that registries refuse.
mod manifests;

/// Every kind of registry: pushes and installations.
mod personalities;

/// A user who pushes with the executable.
mod pusher;

/// Faults while a release is read.
mod reading;

/// How often a push reads the zips of its folder.
mod reads;

/// Servers that repeat a secret.
mod repeated;

/// No secret is ever printed.
#[cfg(unix)]
mod secrets;

/// Servers that stop answering, and how many requests one server gets at once.
mod waiting;

/// Secrets, and hosts that must not receive them.
mod taint;

/// Two writers of one tag.
mod writers;

/// Faults while a release is written.
mod writing;

const VERSION: &str = "1.0.0";
/// Larger than the largest single upload to the registry double of Azure.
const LARGE: usize = 100 << 10;

/// A release, and a user who pushes and installs it.
struct User {
    folder: TempDir,
    settings: Settings,
    credential: Option<Credential>,
    host: String,
    name: String,
}

impl User {
    /// A user with the password of a registry.
    fn of(registry: &double::Registry, name: &str) -> Self {
        let user = registry.user();
        let credential = user.map(|user| Credential::typed(user, PASSWORD.into()));
        Self {
            credential,
            ..Self::at(registry.host(), name)
        }
    }

    /// A user without a password.
    fn at(host: &str, name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let noise = noise(LARGE);
        let executable = format!("terraform-provider-demo_v{VERSION}");
        ReleaseFolder::new("demo", VERSION)
            .platform("darwin_arm64")
            .package("linux_amd64", &[(&executable, &noise)])
            .write(&folder.path().join("release"));
        let mut settings = Settings::default();
        // On every port, since the token server and the storage of a double have their own.
        settings.plain.insert("127.0.0.1".to_owned());
        Self {
            folder,
            settings,
            credential: None,
            host: host.to_owned(),
            name: name.to_owned(),
        }
    }

    fn identity(mut self) -> Self {
        self.credential = Some(Credential {
            kind: CredentialKind::IdentityToken(IDENTITY.into()),
            ..Credential::typed("", IDENTITY.into())
        });
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The credential as docker keeps it.
    fn authfile(&self) -> String {
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let entry = match self.credential.as_ref().map(|one| &one.kind) {
            None => return "{}".to_owned(),
            Some(CredentialKind::Password { username, password }) => {
                let password = password.reveal();
                serde_json::json!({"auth": encode(&format!("{username}:{password}"))})
            }
            Some(CredentialKind::IdentityToken(token)) => {
                serde_json::json!({"auth": encode("user:"), "identitytoken": token.reveal()})
            }
            Some(other) => panic!("docker keeps no {other:?}"),
        };
        serde_json::json!({"auths": {&self.host: entry}}).to_string()
    }

    fn destination(&self) -> RepoMut {
        self.destination_through(Http::new(self.settings.clone()))
    }

    fn destination_through(&self, http: Http) -> RepoMut {
        let name = Repository::in_registry(&format!("{}/{}", self.host, self.name)).unwrap();
        RepoMut::new(self.store_through(http), name)
    }

    fn store_through(&self, http: Http) -> Store {
        let authfile = self.path("auth.json");
        fs::write(&authfile, self.authfile()).unwrap();
        let locations = Locations {
            authfile: Some(authfile),
            ..Locations::default()
        };
        let credentials = Credentials::at(locations);
        Store::Registry(Registry::new(http, credentials))
    }

    async fn push(&self) -> Result<Published, Failure> {
        self.push_as(rule(), &self.destination()).await
    }

    async fn push_as(&self, rule: Rule, destination: &RepoMut) -> Result<Published, Failure> {
        let request = push::Request {
            directory: self.path("release"),
            provider: provider(),
            version: None,
            platforms: Vec::new(),
            denied: tfoci::trust::Denials::default(),
            rule,
        };
        let options = publish::Options {
            existing: Existing::Merge,
            annotations: Default::default(),
            dry_run: false,
            jobs: Jobs::new(2),
            now: SystemTime::now(),
            rechecks: false,
            is_matrix_job: false,
            evidence_policy: EvidencePolicy::of_writing(&request.rule),
            attesting: None,
        };
        push::push(&request, destination, &options, &quiet()).await
    }

    /// Installs every platform into `mirror`.
    async fn install(&self) -> Result<Installed, Failure> {
        let place = Place::Registry(format!("{}/{}", self.host, self.name).into());
        let stored = StoredProvider::new(provider(), (*self.destination()).clone(), place);
        let request = install::Request {
            kind: install::DirectoryKind::Mirror,
            into: self.path("mirror"),
            platforms: Platforms::All,
            form: Form::Packed,
            trust: TrustOptions {
                policy: Policy::default(),
                require_pinned: false,
                attestation: None,
                now: SystemTime::now(),
            },
            dry_run: false,
            jobs: Jobs::new(2),
        };
        let version = VERSION.parse().unwrap();
        let reporter = quiet();
        let installer = install::Installer::new(&request, &reporter);
        installer.install(&stored, &version).await
    }

    /// Asserts that the installed packages are those of the release.
    #[track_caller]
    fn assert_installed(&self) {
        let mirror = self.path("mirror/registry.example.net/acme/demo");
        for name in zips(&self.path("release")) {
            let both = [self.path("release"), mirror.clone()];
            let [released, installed] = both.map(|folder| judge::sha256(&folder.join(&name)));
            assert_eq!(released, installed, "{name}");
        }
    }

    /// Asserts that an independent client installs the released packages from the registry, and that the evidence is there.
    #[track_caller]
    fn assert_pushed(&self, registry: &double::Registry) {
        self.assert_installable(registry);
        assert_eq!(tags(registry, &self.name), [VERSION, "evidence-1.0.0"]);
    }

    /// Asserts that an independent client installs the released packages from the registry.
    #[track_caller]
    fn assert_installable(&self, registry: &double::Registry) {
        let layout = self.path("exported");
        export(registry, &self.name, &layout);
        let installs = judge::installs(&layout);
        assert_eq!(installs.len(), 2, "{installs:?}");
        for name in zips(&self.path("release")) {
            let hash = format!("zh:{}", judge::sha256(&self.path("release").join(&name)));
            let is_there = installs.iter().any(|line| line.ends_with(&hash));
            assert!(is_there, "{name}: {installs:?}");
        }
    }
}

/// The names of a repository's tags.
fn tags(registry: &double::Registry, name: &str) -> Vec<String> {
    let tags = registry.tags(name).into_iter();
    tags.map(|(tag, _)| tag).collect()
}

fn provider() -> ProviderAddr {
    "registry.example.net/acme/demo".parse().unwrap()
}

fn rule() -> Rule {
    let ring = KeyRing {
        name: "the test".to_owned(),
        bytes: Signer::acme().public_armored().into_bytes(),
        anchor: Anchor::Pinned,
    };
    Rule {
        keys: vec![ring],
        ..Rule::default()
    }
}

/// An error with its causes.
fn chain(error: &Failure) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(" {error}");
        cause = error.source();
    }
    text
}

/// The length that a request states.
fn length(seen: &double::Seen) -> u64 {
    let length = seen.header("content-length");
    length.map_or(0, |text| text.parse().unwrap())
}

fn quiet() -> Arc<dyn Reporter> {
    Arc::new(())
}

/// Bytes that no compression makes smaller.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn zips(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".zip")).collect()
}

/// A registry of a kind in its usual setup, with the repositories that must exist.
fn setup(personality: Personality) -> Setup {
    let setup = Setup::of(personality).create("acme").create("acme/demo");
    setup.create("acme/demo/demo")
}

/// The same, running.
fn start(personality: Personality) -> double::Registry {
    setup(personality).start()
}

/// A repository name that a kind of registry accepts, below the levels that [`start`] creates.
fn name_at(personality: Personality) -> &'static str {
    match personality {
        Personality::Gar => "acme/demo/demo",
        _ => "acme/demo",
    }
}
