//! How registries are reached: the options, and the only code that reads the environment for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use url::Url;
use zeroize::Zeroizing;

use tfoci::disk;
use tfoci::error::printable_path;
use tfoci::http::{Pem, Settings, Timeouts};
use tfoci::outcome::{Failure, Problem};

use super::diagnose::CommandError;
use super::host;

/// The largest file of certificates or keys that is read: bundles of the whole world's authorities have a quarter of it.
const LARGEST_PEM: u64 = 1 << 20;

/// The variables that name proxies. The client reads them itself; here they tell which hosts the user chose.
const PROXIES: [&str; 6] = [
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

/// How registries are reached. The short help, which has to fit a screen, leaves what is seldom used to the long one.
#[derive(Args)]
pub(super) struct Network {
    /// Further certificate authorities, in PEM; may be repeated
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = "Network options"
    )]
    ca_file: Vec<PathBuf>,
    /// Show this certificate, in PEM, to this host and no other; may be repeated
    #[arg(
        long,
        value_name = "HOST=FILE",
        global = true,
        hide_short_help = true,
        help_heading = "Network options"
    )]
    client_cert: Vec<String>,
    /// Its private key, in PEM, if that is in a file of its own; may be repeated
    #[arg(
        long,
        value_name = "HOST=FILE",
        global = true,
        hide_short_help = true,
        help_heading = "Network options"
    )]
    client_key: Vec<String>,
    /// Speak to this host without TLS; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
        help_heading = "Network options"
    )]
    plain_http: Vec<String>,
    /// Do not check this host's certificate; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
        help_heading = "Network options"
    )]
    insecure_skip_tls_verify: Vec<String>,
    /// Follow references to this host even at private addresses; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
        help_heading = "Network options"
    )]
    allow_private: Vec<String>,
    /// For how many seconds a server may be silent
    ///
    /// Within them it has to give or take 64 KiB of a body, or the end. Manifests and other documents have five times as long in all.
    #[arg(
        long,
        value_name = "SECONDS",
        env = "TFOCI_TIMEOUT",
        default_value = "60",
        value_parser = clap::value_parser!(u16).range(1..),
        global = true,
        hide_short_help = true,
        help_heading = "Network options"
    )]
    timeout: u16,
}

impl Network {
    /// What the user said, and the environment.
    pub(super) fn settings(&self, jobs: usize) -> Result<Settings, CommandError> {
        let hosts = |hosts: &[String]| hosts.iter().cloned().collect();
        let authorities = self.ca_file.iter().map(|path| pem(path));
        Ok(Settings {
            plain: hosts(&self.plain_http),
            insecure: hosts(&self.insecure_skip_tls_verify),
            private: hosts(&self.allow_private),
            proxies: proxies(),
            authorities: authorities.collect::<Result<_, _>>()?,
            identities: self.identities()?,
            timeouts: Timeouts::of(Duration::from_secs(self.timeout.into())),
            transfers: jobs,
        })
    }

    /// Client certificates and their keys, by host.
    fn identities(&self) -> Result<BTreeMap<String, Pem>, CommandError> {
        let mut identities = BTreeMap::new();
        for text in &self.client_cert {
            let (host, path) = of_host(text)?;
            identities.insert(host, pem(path)?);
        }
        for text in &self.client_key {
            let (host, path) = of_host(text)?;
            let Some(identity) = identities.get_mut(&host) else {
                return Err(CommandError::LoneKey { host });
            };
            let Pem { name, bytes } = pem(path)?;
            identity.name = format!("{} with {name}", identity.name);
            let parts = [&identity.bytes, &b"\n"[..], &bytes];
            identity.bytes = Zeroizing::new(parts.concat());
        }
        Ok(identities)
    }
}

/// Takes `HOST=FILE` apart.
fn of_host(text: &str) -> Result<(String, &Path), CommandError> {
    let parts = text.split_once('=');
    let parts = parts.filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let (host, path) = parts.ok_or_else(|| CommandError::OfHost {
        text: text.to_owned(),
    })?;
    Ok((host.to_ascii_lowercase(), Path::new(path)))
}

fn pem(path: &Path) -> Result<Pem, CommandError> {
    let read = disk::read(path, LARGEST_PEM);
    Ok(Pem {
        name: printable_path(path),
        bytes: Zeroizing::new(read.map_err(Problem::from).map_err(Failure::from)?),
    })
}

/// The hosts of all proxies. A proxy may be written without a scheme.
fn proxies() -> BTreeSet<String> {
    let values = PROXIES.iter().filter_map(|name| std::env::var(name).ok());
    let host = |text: String| {
        let url = Url::parse(&text).ok().filter(Url::has_host);
        let url = url.or_else(|| Url::parse(&format!("http://{text}")).ok())?;
        url.host_str().map(str::to_owned)
    };
    values.filter_map(host).collect()
}
