//! Settings of the HTTP client, from options and environment variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;
use zeroize::Zeroizing;

use tfoci::disk;
use tfoci::error::{printable, printable_path};
use tfoci::http::{Pem, Settings, Timeouts};
use tfoci::shown::Shown;

use super::environment::variable;
use crate::cli::arguments::Network;
use crate::cli::error::CommandError;

/// The size limit in bytes of files with certificates or keys. The bundle of all public authorities is about a quarter of this.
const LARGEST_PEM: u64 = 1 << 20;

/// The variables of proxies. The HTTP client reads them itself; tfoci reads them to allow private addresses for these hosts.
const PROXIES: [&str; 6] = [
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

pub(super) fn settings(options: &Network, jobs: usize) -> Result<Settings, CommandError> {
    let hosts = |hosts: &[String]| hosts.iter().cloned().collect();
    let authorities = options.ca_file.iter().map(|path| pem(path, "--ca-file"));
    Ok(Settings {
        plain: hosts(&options.plain_http),
        insecure: hosts(&options.insecure_skip_tls_verify),
        private: hosts(&options.allow_private),
        every_host_is_a_stranger: false,
        proxies: proxies(),
        authorities: authorities.collect::<Result<_, _>>()?,
        identities: identities(options)?,
        timeouts: Timeouts::of(Duration::from_secs(options.timeout.into())),
        transfers: jobs,
    })
}

/// Client certificates with their keys, by host.
fn identities(options: &Network) -> Result<BTreeMap<String, Pem>, CommandError> {
    let mut identities = BTreeMap::new();
    for text in &options.client_cert {
        let (host, path) = of_host(text)?;
        identities.insert(host, pem(path, "--client-cert")?);
    }
    for text in &options.client_key {
        let (host, path) = of_host(text)?;
        let Some(identity) = identities.get_mut(&host) else {
            return Err(CommandError::usage(format!(
                "there is a client key for {}, and no client certificate",
                printable(&host)
            )));
        };
        let Pem { name, bytes, .. } = pem(path, "--client-key")?;
        identity.name = format!("{} with {name}", identity.name);
        let parts = [&identity.bytes, &b"\n"[..], &bytes];
        identity.bytes = Zeroizing::new(parts.concat());
    }
    Ok(identities)
}

/// Splits `HOST=FILE`.
fn of_host(text: &str) -> Result<(String, &Path), CommandError> {
    let parts = text.split_once('=');
    let parts = parts.filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let (host, path) = parts.ok_or_else(|| {
        CommandError::usage(format!(
            "`{}` does not say for which host it is\n  expected HOST=FILE",
            printable(text)
        ))
    })?;
    Ok((host.to_ascii_lowercase(), Path::new(path)))
}

fn pem(path: &Path, option: &'static str) -> Result<Pem, CommandError> {
    let read = disk::read(path, LARGEST_PEM);
    let read = read.map_err(|error| CommandError::file(error, option));
    Ok(Pem {
        name: printable_path(path),
        named_by: option,
        bytes: Zeroizing::new(read?),
    })
}

/// Warnings about variables that name a file or directory without certificate authorities. The HTTP client then does not read the system's
/// authorities either.
pub(super) fn missing_authorities() -> Vec<String> {
    let mut warnings = Vec::new();
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let Some(path) = variable(name).map(PathBuf::from) else {
            continue;
        };
        let shown = printable_path(&path);
        let read = path.is_file().then(|| disk::read(&path, LARGEST_PEM));
        match read {
            _ if !path.exists() => {
                warnings.push(format!("{name} names {shown}, which does not exist"));
            }
            Some(Ok(text)) if !has_certificates(&text) => {
                warnings.push(format!(
                    "{name} names {shown}, which has no certificate in PEM"
                ));
            }
            _ => {}
        }
    }
    warnings
}

/// Warnings about variables of proxies that the HTTP library passes over.
pub(super) fn unusable_proxies() -> Vec<String> {
    let mut warnings = Vec::new();
    for name in PROXIES {
        let Some(value) = variable(name).and_then(|value| value.into_string().ok()) else {
            continue;
        };
        let is_other = |scheme: &str| !["http", "https"].contains(&scheme);
        let scheme = value
            .split_once("://")
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        if scheme.as_deref().is_some_and(is_other) {
            let shown = Shown::from(value.as_str());
            warnings.push(format!(
                "{name} names {shown}, which is not used: a proxy is http://HOST:PORT or https://HOST:PORT"
            ));
        }
    }
    warnings
}

fn has_certificates(text: &[u8]) -> bool {
    let marker = b"-----BEGIN CERTIFICATE-----";
    text.windows(marker.len()).any(|part| part == marker)
}

/// The hosts of all proxies. The scheme of a proxy is optional.
fn proxies() -> BTreeSet<String> {
    let values = PROXIES.iter().filter_map(|name| std::env::var(name).ok());
    let host = |text: String| {
        let url = Url::parse(&text).ok().filter(Url::has_host);
        let url = url.or_else(|| Url::parse(&format!("http://{text}")).ok())?;
        url.host_str().map(str::to_owned)
    };
    values.filter_map(host).collect()
}
