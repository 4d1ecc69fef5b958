use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfoci::blob::{BlobInfo, BlobSource, Memory, Opened};
use tfoci::credentials::{Credentials, Locations};
use tfoci::event::Transfer;
use tfoci::http::{Http, Settings};
use tfoci::oci::Repository;
use tfoci::store::{Lookup, Registry, RepoMut, Store};

use super::doors::round_trip;
use super::{NAME, PUSH, Site, VERSIONS};
use crate::support::docker_registry::{Foreign, Options, PASSWORD, Program, USER};
use crate::support::tls::Authority;
use crate::support::token_server::{Manner, TokenServer};

/// How long a test waits for a token to expire.
const PATIENCE: Duration = Duration::from_secs(30);

/// A registry that requires tokens, and its token server.
struct Guarded {
    tokens: TokenServer,
    registry: Foreign,
}

impl Guarded {
    fn start() -> Option<Self> {
        Self::of(None)
    }

    fn of(authority: Option<&Authority>) -> Option<Self> {
        let identity = authority.map(Authority::server);
        let tokens = TokenServer::start(identity.as_ref());
        let (tls, tokens_of) = (identity.as_ref(), Some(&tokens));
        let options = Options {
            tls,
            tokens: tokens_of,
            ..Options::default()
        };
        let registry = Program::DockerRegistry.start(&options)?;
        Some(Self { tokens, registry })
    }

    /// A machine that knows the password.
    fn site(&self) -> Site {
        let mut site = Site::plain(&self.registry);
        // The token server has a name of its own.
        site.network += " --plain-http localhost";
        site.keep(PASSWORD);
        site
    }

    /// The store of one run on a machine.
    fn store(&self, site: &Site) -> Store {
        let locations = Locations {
            authfile: Some(site.scene.path(".docker/config.json")),
            ..Locations::default()
        };
        let mut settings = Settings::default();
        let plain = ["127.0.0.1", "localhost"].map(str::to_owned);
        settings.plain.extend(plain);
        let credentials = Credentials::at(locations);
        Store::Registry(Registry::new(Http::new(settings), credentials))
    }

    fn repository(&self, name: &str) -> Repository {
        Repository::in_registry(&format!("{}/{name}", self.registry.host())).unwrap()
    }

    /// Waits until the registry refuses a token.
    async fn ends(&self, token: &str) {
        let url = format!("http://{}/v2/", self.registry.host());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let answer = client.get(&url).bearer_auth(token).send().await.unwrap();
            if answer.status() == 401 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the token does not end");
    }
}

#[test]
fn a_user_with_the_password_gets_tokens() {
    let authority = Authority::new("tests");
    let Some(guarded) = Guarded::of(Some(&authority)) else {
        return;
    };
    let site = Site::trusting(&guarded.registry, &authority);
    site.login("wrong").exits(1);
    site.login(PASSWORD).succeeds();
    round_trip(&site);
}

#[test]
fn one_token_for_reading_and_one_for_writing() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    guarded.site().tfoci(PUSH).succeeds();
    let asked = ["pull", "pull,push"].map(|may| format!("{USER}: repository:{NAME}:{may}"));
    assert_eq!(guarded.tokens.asked(), asked);
}

#[test]
fn a_wrong_password_is_distinguished_from_a_missing_one() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    let site = guarded.site();
    site.keep("wrong");
    let refused = site.tfoci(PUSH).exits(1);
    refused.says("error 401 UNAUTHORIZED tried [TMP]/.docker/config.json [HOST]");
    std::fs::remove_file(site.scene.path(".docker/config.json")).unwrap();
    let refused = site.tfoci(VERSIONS).exits(1);
    refused.says("error tried no credentials");
}

#[test]
fn a_token_for_another_repository_is_not_requested_endlessly() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    guarded.tokens.manner(Manner::Astray);
    let refused = guarded.site().tfoci(PUSH).exits(1);
    let told = "  answered 401 (UNAUTHORIZED: authentication required)\n  tried [TMP]/.docker/config.json ([HOST])\n";
    refused.tells(told);
    assert_eq!(guarded.tokens.asked().len(), 2);
}

#[tokio::test]
async fn a_token_that_expires_between_two_requests_is_replaced() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    let site = guarded.site();
    site.tfoci(PUSH).succeeds();
    guarded.tokens.manner(Manner::Fleeting);
    let repository = RepoMut::new(guarded.store(&site), guarded.repository(NAME));
    let tags = repository.tags().await.unwrap();
    let before = guarded.tokens.asked().len();
    guarded.ends(&guarded.tokens.last()).await;
    guarded.tokens.manner(Manner::Plain);
    assert_eq!(repository.tags().await.unwrap(), tags);
    assert_eq!(guarded.tokens.asked().len(), before + 1);
}

/// A blob whose bytes are available only after an event.
#[derive(Clone)]
struct Awaited<F> {
    memory: Memory,
    event: F,
}

impl<F, E> BlobSource for Awaited<F>
where
    F: Fn() -> E + Clone + Send + Sync + 'static,
    E: Future<Output = ()> + Send,
{
    type Failure = Infallible;

    fn info(&self) -> BlobInfo<'_> {
        self.memory.info()
    }

    async fn open(&self, from: u64) -> Opened<Infallible> {
        (self.event)().await;
        self.memory.open(from).await
    }
}

#[tokio::test]
async fn a_token_that_expires_during_an_upload_is_replaced() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    let guarded = Arc::new(guarded);
    let site = guarded.site();
    guarded.tokens.manner(Manner::Fleeting);
    let repository = RepoMut::new(guarded.store(&site), guarded.repository("acme/demo"));
    let end = Arc::clone(&guarded);
    let blob = Awaited {
        memory: Memory::new(vec![7; 1 << 20]),
        event: move || {
            let guarded = Arc::clone(&end);
            async move {
                if guarded.tokens.manner(Manner::Plain) == Manner::Fleeting {
                    guarded.ends(&guarded.tokens.last()).await;
                }
            }
        },
    };
    let put = repository.put_blob(&blob, Lookup::First).await.unwrap();
    assert_eq!(put, Transfer::Copied);
}

#[tokio::test]
async fn a_mount_asks_to_read_the_other_repository() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    let site = guarded.site();
    let store = guarded.store(&site);
    let blob = Memory::new(vec![7; 1 << 10]);
    let [one, two] =
        ["acme/one", "acme/two"].map(|name| RepoMut::new(store.clone(), guarded.repository(name)));
    for (repository, transfer) in [(one, Transfer::Copied), (two, Transfer::Mounted)] {
        let put = repository.put_blob(&blob, Lookup::First).await.unwrap();
        assert_eq!(put, transfer);
    }
    let scope = "robot: repository:acme/two:pull,push repository:acme/one:pull";
    assert_eq!(guarded.tokens.asked().last().unwrap(), scope);
}

#[tokio::test]
async fn a_forbidden_mount_becomes_an_upload() {
    let Some(guarded) = Guarded::start() else {
        return;
    };
    let site = guarded.site();
    let store = guarded.store(&site);
    guarded.tokens.manner(Manner::Narrow);
    let blob = Memory::new(vec![7; 1 << 10]);
    for name in ["acme/one", "acme/two"] {
        let repository = RepoMut::new(store.clone(), guarded.repository(name));
        let put = repository.put_blob(&blob, Lookup::First).await.unwrap();
        assert_eq!(put, Transfer::Copied, "{name}");
    }
}
