//! `tfoci serve`: turns options into the settings of [`tfoci::serve`], and shows what the server does.
//!
//! `settings` reads the options. `log` prints requests and other events, as text or JSON lines. `page` renders the pages from `templates/serve`.
//! Protocols, caching and limits belong to the library.

mod log;
mod page;
mod settings;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::sync::Notify;
use url::Url;

use tfoci::address::Hostname;
use tfoci::date::days;
use tfoci::error::Category;
use tfoci::platform::Platform;
use tfoci::release::LARGEST_BLOB;
use tfoci::serve::Server;

use super::Ending;
use super::arguments::{ACCESS, Globals, PULL_THROUGH, ReadTrust, SERVER};
use super::error::CommandError;
use super::host;
use super::page::PageOptions;
use super::public_url::public_url;
use super::session::Session;
use super::signals;
use log::Log;
use page::Pages;

/// The default number of packages that are read from the store concurrently. It is larger than for other commands, because a client that reads
/// slowly keeps its package open.
pub(super) const JOBS: u8 = 64;

/// The value of `--plain-http` without a host: this server speaks plain HTTP.
const THIS_SERVER: &str = "-";

const EXAMPLES: &str = "\
Examples:
  tfoci serve --from oci-layout:mirror --listen 0.0.0.0:443 \\
    --url https://providers.example.com --tls-cert server.pem --tls-key server.key
  tfoci serve --from 'registry.internal/tofu/${hostname}/${namespace}/${type}' \\
    --listen 127.0.0.1:8080 --plain-http --url https://providers.example.com \\
    --trust trust.toml --require-pinned --tokens tokens.txt --signing-key signing.key";

/// Serve a store to OpenTofu and Terraform, as network mirror and provider registry
///
/// The network mirror is at URL/mirror/ and has every provider of the store. The provider registry has the providers whose addresses begin with
/// the host of --url: clients find it without any configuration.
///
/// tfoci verifies every version as `tfoci inspect` does, and serves only those that pass. The log and the page at / say why the others are
/// hidden. SIGTERM and SIGINT end the server with exit code 0, and SIGHUP makes it read its files again.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE", help_heading = "Store")]
    from: Option<String>,
    /// Redirect clients to the storage behind the registry for packages
    ///
    /// Packages then do not pass through this server, so the client verifies them, and tfoci does not. tfoci gives the client the URL as the
    /// registry states it, if it is an https URL on another host or port than the registry. Otherwise tfoci sends the packages itself.
    #[arg(long, help_heading = "Store")]
    redirect: bool,
    /// Mirror versions that the store does not have from their origins, when a client requests them
    ///
    /// The list of a provider then also has the releases of its origin; pre-releases are served only if the store has them. The first request
    /// for a version copies it into the store, verified by the same policy. If this takes longer than clients wait, they get 503 with
    /// Retry-After, and copying goes on. A version that the policy refuses, or whose files the origin does not have or does not serve as
    /// announced, fails the first client that selects it; it is then hidden for ten times --max-age, or until the trust file changes. Filling
    /// stops while less than 1 GiB of the store's disk is free, or less than a twentieth of a small one.
    #[arg(long, requires = "include", help_heading = PULL_THROUGH)]
    fill: bool,
    /// Mirror only these providers, such as `example.com/*/*`; may be repeated
    ///
    /// Credentials are used only for the hosts that a pattern names.
    #[arg(long, value_name = "PATTERN", requires = "fill", help_heading = PULL_THROUGH)]
    include: Vec<String>,
    /// Not these providers, or with `@CONSTRAINTS` not these versions
    ///
    /// May be repeated.
    #[arg(long, value_name = "PATTERN", requires = "fill", help_heading = PULL_THROUGH)]
    exclude: Vec<String>,
    /// Offer at most this many versions of an origin, the newest
    #[arg(long, value_name = "NUMBER", requires = "fill", help_heading = PULL_THROUGH)]
    newest: Option<NonZeroUsize>,
    /// Hide versions of an origin that are younger than this, such as 7d
    ///
    /// `tfoci mirror --help` says what their date is. The first list of a provider takes three requests for each of its versions.
    #[arg(long, value_name = "DAYS", value_parser = days, default_value = "0d", requires = "fill", help_heading = PULL_THROUGH)]
    min_age: Duration,
    /// Mirror only packages for this platform; may be repeated
    #[arg(long, value_name = "OS_ARCH", requires = "fill", help_heading = PULL_THROUGH)]
    platform: Vec<Platform>,
    /// The largest package that is mirrored, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, value_parser = clap::value_parser!(u64).range(1..=LARGEST_BLOB), requires = "fill", help_heading = PULL_THROUGH, hide_short_help = true)]
    fill_max_size: u64,
    /// The address to listen on
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8443", value_parser = listen_address, help_heading = SERVER)]
    listen: SocketAddr,
    /// The URL of the server for its clients
    ///
    /// Without it, pages name --registry-host or the host of each request.
    #[arg(long, value_name = "URL", value_parser = server_url, help_heading = SERVER)]
    url: Option<Url>,
    /// The host in the addresses of the provider registry [default: of --url]
    ///
    /// It is needed if the repository template has no `${hostname}`: every provider then has this host.
    #[arg(long = "registry-host", value_name = "HOST", value_parser = Hostname::from_ascii, help_heading = SERVER)]
    provider_host: Option<Hostname>,
    /// File with the server's certificates, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = SERVER)]
    tls_cert: Option<PathBuf>,
    /// File with the private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = SERVER)]
    tls_key: Option<PathBuf>,
    /// Serve plain HTTP, for a proxy in front; with HOST, for the store there
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host_or_this,
        num_args = 0..=1,
        default_missing_value = THIS_SERVER,
        help_heading = SERVER,
    )]
    plain_http: Vec<String>,
    /// File of tokens, `NAME sha256:HEX` on each line: clients need one
    ///
    /// Browsers send none, so they see the page at / without its list of providers. The list needs a token: `curl -H "Authorization: Bearer TOKEN" URL` prints it.
    #[arg(long, value_name = "FILE", help_heading = ACCESS)]
    tokens: Option<PathBuf>,
    /// File of keys, in base64, that sign the links to packages
    ///
    /// All replicas need the same file.
    #[arg(long, value_name = "FILE", requires = "tokens", help_heading = ACCESS)]
    signing_key: Option<PathBuf>,
    /// How long a link to a package is valid, 30 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u32).range(30..=86_400), requires = "tokens", help_heading = ACCESS, hide_short_help = true)]
    url_lifetime: u32,
    /// How long lists are used before the store is read again, 0 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=86_400), help_heading = "Freshness", hide_short_help = true)]
    max_age: u32,
    /// How long lists are used while the store is away, 0 to 2592000
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, value_parser = clap::value_parser!(u32).range(0..=2_592_000), help_heading = "Freshness", hide_short_help = true)]
    max_stale: u32,
    /// The most connections at once; a client may have half of them
    ///
    /// From 1 to 1000000. With --plain-http, a client address may have all of them.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Limits", hide_short_help = true)]
    max_connections: u32,
    /// The most requests of a client in a second; 0 for no limit [default: 500]
    ///
    /// Up to 1000000. A client may send four times as many at once. With --plain-http, the default is no limit.
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(0..=1_000_000),
        help_heading = "Limits",
        hide_short_help = true
    )]
    max_rate: Option<u32>,
    /// How long downloads may go on after SIGTERM, 0 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=86_400), help_heading = "Limits", hide_short_help = true)]
    grace: u32,
    /// Serve versions without signature or key of these providers
    ///
    /// Only the network mirror serves them. May be repeated. `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN", help_heading = "Trust")]
    allow_unsigned: Vec<String>,
    #[command(flatten)]
    trust: ReadTrust,
    #[command(flatten)]
    page: Box<PageOptions>,
}

impl Arguments {
    /// Moves the hosts of `--plain-http` to the network options, where other commands have them.
    pub(super) fn name_plain_hosts(&self, globals: &mut Globals) {
        let hosts = self.plain_http.iter().filter(|host| *host != THIS_SERVER);
        globals.network.plain_http = hosts.cloned().collect();
    }

    fn is_plain(&self) -> bool {
        self.plain_http.iter().any(|host| host == THIS_SERVER)
    }
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let endpoint = session.endpoint(&session.store(arguments.from.clone(), "--from")?)?;
    let registry = session.registry(&session.http()?).renewing();
    let settings = settings::of(&arguments, &endpoint, registry.clone(), session)?;
    let policy = &settings.trust.policy;
    let trust_file = session.trust_path(&arguments.trust.trust, None);
    let trust_file = trust_file.map(|file| (file.path, policy.clone()));
    let log = Arc::new(Log {
        printer: session.printer.clone(),
        trust_file,
    });
    let url = settings.url.clone();
    let store = match arguments.fill {
        true => endpoint.write(registry),
        false => session.open_store(&endpoint, registry),
    }?;
    let pages = Arc::new(Pages(arguments.page.clone()));
    let server = Server::start(settings, log.clone(), pages).await?;
    let address = server.address().unwrap_or(arguments.listen);
    let url = url.unwrap_or_else(|| match arguments.is_plain() {
        true => format!("http://{address}"),
        false => format!("https://{address}"),
    });
    let reload = Arc::new(Notify::new());
    // A program that starts the server may send signals as soon as it listens.
    let hung_up = signals::hung_up(|| reload.notify_one());
    let interrupted = signals::interrupted(1);
    let interrupted_twice = signals::interrupted(2);
    log.listening(&url, address);
    let reporting = async {
        let host = arguments.provider_host.as_ref();
        let host = host.unwrap_or_else(|| session.default_host());
        let listed = session.everything(&endpoint, &store, host).await;
        // Not every registry lists its repositories, or lists them to this user.
        let is_listed = listed
            .as_ref()
            .map_or_else(|error| error.category() == Category::NotFound, |_| true);
        if endpoint.template().is_none() || is_listed {
            log.contents(listed, arguments.fill);
        }
        std::future::pending::<()>().await;
    };
    let serving = server.run(interrupted, reload.clone());
    tokio::select! {
        () = serving => {}
        // The operator does not wait for the downloads.
        () = interrupted_twice => {}
        () = reporting => {}
        () = hung_up => {}
    }
    Ok(Ending::Done)
}

/// An address of this machine. Host names are refused, because a name may have more addresses than the operator means.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "expected an IP address and a port: 127.0.0.1:8443 for this machine only, 0.0.0.0:8443 for every network, [::]:8443 for IPv6 too"
            .to_owned()
    })
}

fn host_or_this(text: &str) -> Result<String, String> {
    match text {
        THIS_SERVER => Ok(text.to_owned()),
        _ => host::host(text).map_err(|error| error.to_string()),
    }
}

fn server_url(text: &str) -> Result<Url, String> {
    let url = public_url(text, &["https", "http"])?;
    if url.path().trim_end_matches('/').ends_with("/mirror") {
        return Err(
            "leave out /mirror: the network mirror is below the URL of the server".to_owned(),
        );
    }
    Ok(url)
}
