//! The paths of the server.
//!
//! A path is first split at `/` and then decoded, so an encoded slash never starts a new segment
//! ([clients: network mirrors](crate::clients#network-mirrors)). A segment is decoded once. `+` is a plus sign and never a space.

use crate::address::{Hostname, ProviderAddr};
use crate::platform::Platform;
use crate::trust::PackageName;
use crate::version::Version;

/// The longest path in bytes. The longest real one, a signed link to a package, has about 400.
const LONGEST: usize = 4 << 10;

/// The beginning of a signed path.
const PREFIX: &str = "/signed/";

/// The document, file or page that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The page about the whole server.
    Home,
    /// `/healthz`: the process runs.
    Health,
    /// `/readyz`: the store has answered once, and the server does not end.
    Ready,
    /// `/metrics`, for Prometheus.
    Metrics,
    /// The service discovery document.
    Discovery,
    /// Something of a provider. In the provider registry, its host is that of the registry.
    Provider(ProviderAddr, What),
}

/// What a path names of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The page for people.
    Page,
    /// The network mirror's list of versions.
    MirrorIndex,
    /// The provider registry's list of versions.
    RegistryVersions,
    /// Something of a version.
    Version(Version, File),
}

/// What a path names of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// The network mirror's list of packages.
    Archives,
    /// The author's documents in the network mirror, which only tfoci asks for.
    SignedDocuments,
    /// A package of the network mirror.
    MirrorPackage(Platform),
    /// The provider registry's metadata of one package.
    Download(Platform),
    /// A package, checksum document or checksum signature of the provider registry, by its file name.
    Named(String),
}

/// A path as a client requested it.
pub(super) struct Target<'p> {
    /// The path without the signature of a link.
    pub(super) path: &'p str,
    pub(super) signature: Option<&'p str>,
    /// `None` if the server has nothing at this path.
    pub(super) route: Option<Route>,
}

impl<'p> Target<'p> {
    /// Reads the path of a request. `registry` returns the host of the provider registry.
    pub(super) fn read(path: &'p str, registry: impl Fn() -> Option<Hostname>) -> Self {
        let signed = split(path);
        let plain = signed.map_or(path, |(_, rest)| rest);
        Self {
            path: plain,
            signature: signed.map(|(signature, _)| signature),
            route: Route::read(plain, registry),
        }
    }
}

impl Route {
    /// Reads the path of a request, without a query; `None` if it has no route.
    fn read(path: &str, registry: impl Fn() -> Option<Hostname>) -> Option<Self> {
        if path == "/" {
            return Some(Self::Home);
        }
        let segments = segments(path)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (provider, what) = match segments.as_slice() {
            ["healthz"] => return Some(Self::Health),
            ["readyz"] => return Some(Self::Ready),
            ["metrics"] => return Some(Self::Metrics),
            [".well-known", "terraform.json"] => return Some(Self::Discovery),
            ["providers", host, namespace, type_name] => {
                (provider(host, namespace, type_name)?, What::Page)
            }
            ["mirror", host, namespace, type_name, file] => {
                let provider = provider(host, namespace, type_name)?;
                (provider, What::in_mirror(file, type_name)?)
            }
            ["mirror", host, namespace, type_name, version, "signed.json"] => {
                let provider = provider(host, namespace, type_name)?;
                (provider, What::of(version, File::SignedDocuments)?)
            }
            ["v1", "providers", namespace, type_name, rest @ ..] => {
                let provider = ProviderAddr::new(registry()?, namespace, type_name);
                (provider.ok()?, What::in_registry(rest)?)
            }
            _ => return None,
        };
        Some(Self::Provider(provider, what))
    }

    /// The name of the route in metrics and logs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Health => "healthz",
            Self::Ready => "readyz",
            Self::Metrics => "metrics",
            Self::Discovery => "discovery",
            Self::Home => "page",
            Self::Provider(_, what) => match what {
                What::Page => "page",
                What::MirrorIndex => "mirror-index",
                What::RegistryVersions => "registry-versions",
                What::Version(_, File::Archives | File::SignedDocuments) => "mirror-version",
                What::Version(_, File::MirrorPackage(_)) => "mirror-package",
                What::Version(_, File::Download(_)) => "registry-download",
                What::Version(_, File::Named(_)) => "registry-file",
            },
        }
    }
}

impl What {
    /// A file of a version; `None` unless the version is in its canonical form.
    fn of(version: &str, file: File) -> Option<Self> {
        Some(Self::Version(Version::canonical(version)?, file))
    }

    fn in_mirror(file: &str, type_name: &str) -> Option<Self> {
        if file == "index.json" {
            return Some(Self::MirrorIndex);
        }
        if let Some(version) = file.strip_suffix(".json") {
            return Self::of(version, File::Archives);
        }
        let PackageName { version, platform } = PackageName::canonical(file, type_name)?;
        let file = File::MirrorPackage(platform);
        Some(Self::Version(version.version().clone(), file))
    }

    fn in_registry(rest: &[&str]) -> Option<Self> {
        match rest {
            ["versions"] => Some(Self::RegistryVersions),
            [version, "download", os, arch] => {
                let platform = Platform::new(os, arch).ok()?;
                Self::of(version, File::Download(platform))
            }
            [version, file] => Self::of(version, File::Named((*file).to_owned())),
            _ => None,
        }
    }
}

/// Splits a signed path into the signature and the path of the file.
fn split(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix(PREFIX)?;
    let end = rest.find('/')?;
    rest.split_at_checked(end)
}

/// The decoded segments of a path; `None` if one is empty, dotted or cannot be decoded, or if the path is too long.
fn segments(path: &str) -> Option<Vec<String>> {
    let path = path
        .strip_prefix('/')
        .filter(|path| path.len() <= LONGEST)?;
    path.split('/').map(decoded).collect()
}

fn decoded(encoded: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8();
    let decoded = decoded.ok()?;
    let is_special = |c: char| matches!(c, '/' | '\\') || c.is_control();
    let is_plain = !matches!(&*decoded, "" | "." | "..") && !decoded.contains(is_special);
    is_plain.then(|| decoded.into_owned())
}

/// Encodes a text as one segment of a path. `+` is not encoded, because clients do not encode it either.
pub(super) fn segment(text: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~')
        .remove(b'+');
    utf8_percent_encode(text, KEPT).to_string()
}

/// The path with its segments encoded as [`segment`] does. Proxies may encode more, such as `%2B` for `+`.
pub(super) fn respelt(path: &str) -> String {
    let segments = path.split('/').map(|encoded| {
        let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8();
        decoded.map_or_else(|_| encoded.to_owned(), |text| segment(&text))
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The address of a provider, whose host is in punycode or Unicode. `HOST_PORT`, the name of a directory in a layout, is not a host.
fn provider(host: &str, namespace: &str, type_name: &str) -> Option<ProviderAddr> {
    let host = Hostname::from_ascii(host).ok()?;
    ProviderAddr::new(host, namespace, type_name).ok()
}
