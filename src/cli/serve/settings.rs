//! Turns the arguments of `tfoci serve` into the settings of the server.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use tfoci::address::{Hostname, ProviderAddr, ProviderPattern};
use tfoci::error::printable;
use tfoci::http::authority;
use tfoci::platform::Platforms;
use tfoci::serve::{AccessFiles, Ages, FillSettings, ServerSettings, TlsFiles, TrustFiles};
use tfoci::source::origin::Origin;
use tfoci::source::{self, Source};
use tfoci::store::endpoint::MappingError;
use tfoci::store::{Endpoint, Registry};

use super::Arguments;
use crate::cli::arguments::Trust;
use crate::cli::error::CommandError;
use crate::cli::session::{Session, TrustPath, policy};
use crate::cli::trace::Trace;

/// The settings for these arguments.
///
/// # Errors
/// They contradict each other, or a file that they name cannot be read.
pub(super) fn of(
    arguments: &Arguments,
    endpoint: &Endpoint,
    registry: Registry,
    session: &Session,
) -> Result<ServerSettings, CommandError> {
    let tls = tls(arguments)?;
    let url = arguments.url.as_ref();
    if let Some(url) = url.filter(|url| url.scheme() == "http") {
        session.printer.warning(&format!(
            "clients use network mirrors and registries over HTTPS only, and --url is {url}"
        ));
    }
    let host_of_url = url.and_then(host_of);
    let fill = || fill(arguments, host_of_url.clone(), session);
    let fill = arguments.fill.then(fill).transpose()?;
    let allow_unsigned = session.patterns(&arguments.allow_unsigned)?;
    let trust = session.trust_options(&arguments.trust, &arguments.allow_unsigned)?;
    let named = &arguments.trust.trust;
    let file = session.trust_path(named, None);
    if trust.require_pinned && file.is_none() && named.key.is_empty() {
        return Err(CommandError::no_pins());
    }
    let usual_rate = if arguments.is_plain() { 0 } else { 500 };
    let rate = arguments.max_rate.unwrap_or(usual_rate);
    Ok(ServerSettings {
        endpoint: endpoint.clone(),
        registry,
        listen: arguments.listen,
        tls,
        only_host: only_host(endpoint, arguments)?,
        url: url.map(|url| url.as_str().trim_end_matches('/').to_owned()),
        provider_host: arguments.provider_host.clone().or(host_of_url),
        access: arguments.tokens.clone().map(|tokens| AccessFiles {
            tokens,
            signing_key: arguments.signing_key.clone(),
            lifetime: Duration::from_secs(arguments.url_lifetime.into()),
        }),
        ages: Ages {
            fresh: Duration::from_secs(arguments.max_age.into()),
            usable: Duration::from_secs(arguments.max_stale.into()),
        },
        connections: usize::try_from(arguments.max_connections).unwrap_or(usize::MAX),
        rate: NonZeroU32::new(rate),
        grace: Duration::from_secs(arguments.grace.into()),
        redirects: arguments.redirect,
        trust,
        trust_files: trust_files(named, file, allow_unsigned),
        fill,
    })
}

/// The policy that the server reads again when its files change.
fn trust_files(
    arguments: &Trust,
    file: Option<TrustPath>,
    allow_unsigned: Vec<ProviderPattern>,
) -> TrustFiles {
    let arguments = arguments.clone();
    let path = file.as_ref().map(|file| file.path.clone());
    TrustFiles {
        path: path.or_else(|| arguments.key.first().cloned()),
        read: Arc::new(move |read| {
            let mut read = |path: &Path, named_by: &str| {
                read(path).map_err(|error| CommandError::file(error, named_by))
            };
            let policy = policy(&arguments, file.as_ref(), &mut read)?;
            Ok(policy.with_allow_unsigned(allow_unsigned.clone()))
        }),
    }
}

/// The files of the certificate; `None` with `--plain-http`.
fn tls(arguments: &Arguments) -> Result<Option<TlsFiles>, CommandError> {
    let is_plain = arguments.is_plain();
    match (&arguments.tls_cert, &arguments.tls_key, is_plain) {
        (Some(certificate), Some(key), false) => Ok(Some(TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
        })),
        (None, None, true) => Ok(None),
        _ => Err(CommandError::usage(
            "nothing says how clients reach this server safely\n  expected either --tls-cert and --tls-key, or --plain-http without a host behind a proxy",
        )),
    }
}

/// The host of a URL, with its port unless it is the default one.
pub(super) fn host_of(url: &Url) -> Option<Hostname> {
    Hostname::from_ascii(&authority(url)?).ok()
}

fn fill(
    arguments: &Arguments,
    own_host: Option<Hostname>,
    session: &Session,
) -> Result<FillSettings, CommandError> {
    let include = session.patterns(&arguments.include)?;
    // Clients name the hosts of providers. A host must not lead into the server's own network unless the operator named it too.
    let http = session.http_for_strangers()?;
    let named = include.iter().filter_map(|pattern| pattern.segments()[0]);
    for host in named {
        let base = http.base(host).map_err(source::Error::from)?;
        http.trust(&base);
    }
    let mut access = session.origin_access(http)?;
    // A client waits for 10 seconds, and gets the list of the store if the origin is unreachable.
    access.request_limits.documents = access.request_limits.documents.min(1);
    access.request_limits.package_bytes = arguments.fill_max_size;
    let exclude = arguments.exclude.iter();
    let exclude = exclude.map(|text| session.exclusion(text));
    Ok(FillSettings {
        source: Source::Origin(Origin::new(access)),
        include,
        exclude: exclude.collect::<Result<_, _>>()?,
        own_host,
        newest: arguments.newest.map(NonZeroUsize::get),
        min_age: arguments.min_age,
        platforms: match arguments.platform.is_empty() {
            true => Platforms::All,
            false => Platforms::Among(arguments.platform.clone()),
        },
        reporter: Arc::new(Trace(session.printer.clone())),
    })
}

/// The only host whose providers the store can have, if its repository template has no `${hostname}`.
fn only_host(endpoint: &Endpoint, arguments: &Arguments) -> Result<Option<Hostname>, CommandError> {
    let sample: ProviderAddr = "sample.example/acme/demo".parse()?;
    match (endpoint.repository(&sample), &arguments.provider_host) {
        // A message about the sample would name a provider that the user does not know.
        (Err(MappingError::OneRepository { .. }), _) => Err(CommandError::one_repository(endpoint)),
        (Ok(_), _) if endpoint.is_exact() => Err(CommandError::one_repository(endpoint)),
        // With a template that gives no valid repository, the server would answer 404 to every request.
        (Err(error), _) => Err(error.into()),
        (Ok(_), _) if !endpoint.may_share(&sample) => Ok(None),
        (Ok(_), Some(host)) => Ok(Some(host.clone())),
        (Ok(_), None) => Err(CommandError::usage(format!(
            "{} has no `${{hostname}}`, so that each host would have the same providers\n  expected --registry-host, the host of these providers",
            printable(&endpoint.to_string())
        ))),
    }
}
