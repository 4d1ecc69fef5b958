//! Settings of the HTTP client, from options and environment variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;
use zeroize::Zeroizing;

use tfoci::disk;
use tfoci::doctor::Step;
use tfoci::error::{printable, printable_path};
use tfoci::finding::{Code, Finding};
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

/// What the variables of certificate authorities and proxies say, for `doctor`. The HTTP client passes over those that it cannot use.
pub(in crate::cli) fn variables() -> Vec<Step> {
    let mut steps = Vec::new();
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let Some(path) = variable(name).map(PathBuf::from) else {
            continue;
        };
        let shown = printable_path(&path);
        let has_some = match path.is_file() {
            true => disk::read(&path, LARGEST_PEM).is_ok_and(|text| has_certificates(&text)),
            false => path.is_dir(),
        };
        steps.push(if has_some {
            Step::good("authorities", format!("{shown} ({name})"))
        } else {
            let message = format!("{name} names {shown}, which has no certificate in PEM");
            Step::bad(
                "authorities",
                Finding::new(Code::AuthoritiesMissing, message),
            )
        });
    }
    for name in PROXIES {
        let Some(value) = variable(name).and_then(|value| value.into_string().ok()) else {
            continue;
        };
        let shown = Shown::from(value.as_str());
        let scheme = value
            .split_once("://")
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        steps.push(match scheme.as_deref() {
            None | Some("http" | "https") => Step::good("proxy", format!("{shown} ({name})")),
            Some(_) => {
                let message =
                    format!("{name} names {shown}: tfoci uses proxies at http and https URLs only");
                Step::bad("proxy", Finding::new(Code::ProxyUnusable, message))
            }
        });
    }
    steps
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
