//! The paths of the server.
//!
//! A path is first split at `/` and then decoded, so an encoded slash never starts a new segment
//! ([clients: network mirrors](crate::clients#network-mirrors)). A segment is decoded once. `+` is a plus sign and never a space.

use crate::address::{Hostname, ProviderAddr};
use crate::platform::Platform;
use crate::version::Version;

/// The longest path in bytes. The longest real one, a signed link to a package, has about 400.
const LONGEST: usize = 4 << 10;

/// The first segment of a signed path.
pub(super) const PREFIX: &str = "signed";

/// The document, file or page that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The page about the whole server.
    Home,
    /// The page about one provider.
    ProviderPage(ProviderAddr),
    /// The path of such a page with a slash at its end.
    ProviderPageDirectory(ProviderAddr),
    /// `/healthz`: the process runs.
    Health,
    /// `/readyz`: the store has answered once, and the server does not end.
    Ready,
    /// `/metrics`, for Prometheus.
    Metrics,
    /// The service discovery document.
    Discovery,
    /// The network mirror's list of versions.
    NetworkMirrorIndex(ProviderAddr),
    /// The network mirror's list of packages of a version.
    NetworkMirrorVersion(ProviderAddr, Version),
    /// A package of the network mirror, by its file name.
    NetworkMirrorPackage(ProviderAddr, String),
    /// The provider registry's list of versions. The provider is on the host of the provider registry.
    ProviderRegistryVersions(ProviderAddr),
    /// The provider registry's metadata of one package.
    ProviderRegistryDownload(ProviderAddr, Version, Platform),
    /// A package, checksum document or checksum signature of the provider registry, by its file name.
    ProviderRegistryFile(ProviderAddr, Version, String),
}

/// Why a path has no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoute {
    /// The path has an empty, dotted or undecodable segment, or is too long.
    Malformed,
    /// The server has nothing at this path.
    Unknown,
    /// The request names no host that a provider registry could have.
    NoRegistry,
}

/// A path as a client requested it.
pub(super) struct Target<'p> {
    /// The path below the public URL, without the signature of a link.
    pub(super) path: &'p str,
    pub(super) signature: Option<&'p str>,
    pub(super) route: Result<Route, NoRoute>,
}

impl<'p> Target<'p> {
    /// Reads the path of a request. `base` is the path of the public URL, which a path that has no route may begin with. `registry` returns the
    /// host of the provider registry.
    pub(super) fn read(path: &'p str, base: &str, registry: impl Fn() -> Option<Hostname>) -> Self {
        let target = |path: &'p str| {
            let signed = split(path);
            let plain = signed.map_or(path, |(_, rest)| rest);
            Self {
                path: plain,
                signature: signed.map(|(signature, _)| signature),
                route: Route::read(plain, &registry),
            }
        };
        let whole = target(path);
        match path.strip_prefix(base) {
            Some(rest) if whole.route.is_err() && rest.starts_with('/') => target(rest),
            _ => whole,
        }
    }
}

impl Route {
    /// Reads the path of a request, without a query.
    ///
    /// # Errors
    /// The path has no route.
    fn read(path: &str, registry: impl Fn() -> Option<Hostname>) -> Result<Self, NoRoute> {
        if path == "/" {
            return Ok(Self::Home);
        }
        let Some(file) = path.strip_suffix('/') else {
            return Self::of_file(path, registry);
        };
        // No route is a directory, but people try one in a browser.
        match Self::of_file(file, registry)? {
            Self::ProviderPage(provider) => Ok(Self::ProviderPageDirectory(provider)),
            _ => Err(NoRoute::Unknown),
        }
    }

    /// The route of a path without a slash at its end.
    fn of_file(path: &str, registry: impl Fn() -> Option<Hostname>) -> Result<Self, NoRoute> {
        let segments = segments(path)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["healthz"] => Ok(Self::Health),
            ["readyz"] => Ok(Self::Ready),
            ["metrics"] => Ok(Self::Metrics),
            [".well-known", "terraform.json"] => Ok(Self::Discovery),
            ["providers", host, namespace, type_name] => {
                Ok(Self::ProviderPage(provider(host, namespace, type_name)?))
            }
            ["mirror", host, namespace, type_name, file] => {
                Self::network_mirror(provider(host, namespace, type_name)?, file)
            }
            ["v1", "providers", namespace, type_name, rest @ ..] => {
                let host = registry().ok_or(NoRoute::NoRegistry)?;
                let provider = ProviderAddr::new(host, namespace, type_name);
                let provider = provider.map_err(|_| NoRoute::Unknown)?;
                Self::provider_registry(provider, rest)
            }
            _ => Err(NoRoute::Unknown),
        }
    }

    fn network_mirror(provider: ProviderAddr, file: &str) -> Result<Self, NoRoute> {
        if file == "index.json" {
            return Ok(Self::NetworkMirrorIndex(provider));
        }
        if let Some(version) = file.strip_suffix(".json") {
            return Ok(Self::NetworkMirrorVersion(provider, canonical(version)?));
        }
        match file.ends_with(".zip") {
            true => Ok(Self::NetworkMirrorPackage(provider, file.to_owned())),
            false => Err(NoRoute::Unknown),
        }
    }

    fn provider_registry(provider: ProviderAddr, rest: &[&str]) -> Result<Self, NoRoute> {
        match rest {
            ["versions"] => Ok(Self::ProviderRegistryVersions(provider)),
            [version, "download", os, arch] => {
                let platform = Platform::new(os, arch).map_err(|_| NoRoute::Unknown)?;
                Ok(Self::ProviderRegistryDownload(
                    provider,
                    canonical(version)?,
                    platform,
                ))
            }
            [version, file] => Ok(Self::ProviderRegistryFile(
                provider,
                canonical(version)?,
                (*file).to_owned(),
            )),
            _ => Err(NoRoute::Unknown),
        }
    }

    /// Whether the route is a file. Clients send no token for files, so a signed link authorizes the request.
    pub(super) fn is_file(&self) -> bool {
        matches!(
            self,
            Self::NetworkMirrorPackage(..) | Self::ProviderRegistryFile(..)
        )
    }

    /// The provider that the route is about.
    pub(super) fn provider(&self) -> Option<&ProviderAddr> {
        match self {
            Self::Home | Self::Health | Self::Ready | Self::Metrics | Self::Discovery => None,
            Self::ProviderPage(provider)
            | Self::ProviderPageDirectory(provider)
            | Self::NetworkMirrorIndex(provider)
            | Self::NetworkMirrorVersion(provider, _)
            | Self::NetworkMirrorPackage(provider, _)
            | Self::ProviderRegistryVersions(provider)
            | Self::ProviderRegistryDownload(provider, ..)
            | Self::ProviderRegistryFile(provider, ..) => Some(provider),
        }
    }

    /// The name of the route in metrics and logs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Home | Self::ProviderPage(_) | Self::ProviderPageDirectory(_) => "page",
            Self::Health => "healthz",
            Self::Ready => "readyz",
            Self::Metrics => "metrics",
            Self::Discovery => "discovery",
            Self::NetworkMirrorIndex(_) => "mirror-index",
            Self::NetworkMirrorVersion(..) => "mirror-version",
            Self::NetworkMirrorPackage(..) => "mirror-package",
            Self::ProviderRegistryVersions(_) => "registry-versions",
            Self::ProviderRegistryDownload(..) => "registry-download",
            Self::ProviderRegistryFile(..) => "registry-file",
        }
    }
}

/// Splits a signed path into the signature and the path of the file.
fn split(path: &str) -> Option<(&str, &str)> {
    let rest = path
        .strip_prefix('/')?
        .strip_prefix(PREFIX)?
        .strip_prefix('/')?;
    let end = rest.find('/')?;
    rest.split_at_checked(end)
}

/// The decoded segments of a path.
fn segments(path: &str) -> Result<Vec<String>, NoRoute> {
    let path = path.strip_prefix('/').ok_or(NoRoute::Malformed)?;
    if path.len() > LONGEST {
        return Err(NoRoute::Malformed);
    }
    path.split('/').map(decoded).collect()
}

fn decoded(encoded: &str) -> Result<String, NoRoute> {
    let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8();
    let decoded = decoded.map_err(|_| NoRoute::Malformed)?.into_owned();
    let is_plain =
        |character: char| character != '/' && character != '\\' && !character.is_control();
    match decoded.as_str() {
        "" | "." | ".." => Err(NoRoute::Malformed),
        text if text.chars().all(is_plain) => Ok(decoded),
        _ => Err(NoRoute::Malformed),
    }
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
fn provider(host: &str, namespace: &str, type_name: &str) -> Result<ProviderAddr, NoRoute> {
    let host = Hostname::from_ascii(host).map_err(|_| NoRoute::Unknown)?;
    ProviderAddr::new(host, namespace, type_name).map_err(|_| NoRoute::Unknown)
}

/// A version in its canonical spelling, the only one that clients request.
fn canonical(text: &str) -> Result<Version, NoRoute> {
    Version::canonical(text).ok_or(NoRoute::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Result<Route, NoRoute> {
        Route::read(path, || Hostname::from_ascii("registry.acme.test").ok())
    }

    #[test]
    fn paths_are_split_before_they_are_decoded() {
        let demo = "registry.acme.test/acme/demo"
            .parse::<ProviderAddr>()
            .unwrap();
        let version = |text: &str| text.parse::<Version>().unwrap();
        let base = "/mirror/registry.acme.test/acme/demo";
        for (path, expected) in [
            (
                format!("{base}/index.json"),
                Ok(Route::NetworkMirrorIndex(demo.clone())),
            ),
            (
                format!("{base}/1.2.0+build.5.json"),
                Ok(Route::NetworkMirrorVersion(
                    demo.clone(),
                    version("1.2.0+build.5"),
                )),
            ),
            (
                format!("{base}/1.2.0%2Bbuild.5.json"),
                Ok(Route::NetworkMirrorVersion(
                    demo.clone(),
                    version("1.2.0+build.5"),
                )),
            ),
            (
                format!("{base}/x.zip"),
                Ok(Route::NetworkMirrorPackage(
                    demo.clone(),
                    "x.zip".to_owned(),
                )),
            ),
            (
                "/mirror/registry.acme.test/acme/%64emo/index.json".to_owned(),
                Ok(Route::NetworkMirrorIndex(demo.clone())),
            ),
            // An encoded slash stays in its segment.
            (
                "/mirror/registry.acme.test/acme/demo%2findex.json".to_owned(),
                Err(NoRoute::Malformed),
            ),
            (format!("{base}/1.2.json"), Err(NoRoute::Unknown)),
            (format!("{base}/v1.2.0.json"), Err(NoRoute::Unknown)),
            (format!("{base}//index.json"), Err(NoRoute::Malformed)),
            (format!("{base}/../index.json"), Err(NoRoute::Malformed)),
            (format!("{base}/%2e%2e"), Err(NoRoute::Malformed)),
            (format!("{base}/%00.zip"), Err(NoRoute::Malformed)),
            (format!("{base}/%ff.zip"), Err(NoRoute::Malformed)),
            (
                "/mirror/registry.acme.test_8443/acme/demo/index.json".to_owned(),
                Err(NoRoute::Unknown),
            ),
            ("/mirrors/".to_owned(), Err(NoRoute::Unknown)),
            ("/mirrors/a//b".to_owned(), Err(NoRoute::Malformed)),
            ("/nothing".to_owned(), Err(NoRoute::Unknown)),
            ("/../mirrors".to_owned(), Err(NoRoute::Malformed)),
            ("/%00".to_owned(), Err(NoRoute::Malformed)),
            ("/mirror".to_owned(), Err(NoRoute::Unknown)),
            ("/mirror/".to_owned(), Err(NoRoute::Unknown)),
            ("/mirror//".to_owned(), Err(NoRoute::Malformed)),
            ("/v1/providers/".to_owned(), Err(NoRoute::Unknown)),
            ("/v1/".to_owned(), Err(NoRoute::Unknown)),
            (
                "/".to_owned() + &"x".repeat(LONGEST + 1),
                Err(NoRoute::Malformed),
            ),
        ] {
            assert_eq!(read(&path), expected, "{path}");
        }
    }

    #[test]
    fn both_spellings_of_a_host_name_the_same_provider() {
        let in_punycode = read("/mirror/xn--bcher-kva.example/acme/demo/index.json");
        assert!(matches!(in_punycode, Ok(Route::NetworkMirrorIndex(_))));
        let encoded = read("/mirror/b%C3%BCcher.example/acme/demo/index.json");
        assert_eq!(encoded, in_punycode);
    }

    #[test]
    fn the_registry_has_versions_metadata_and_files() {
        let read = |path| read(path).map(|route| route.name());
        assert_eq!(
            read("/v1/providers/acme/demo/versions"),
            Ok("registry-versions")
        );
        assert_eq!(
            read("/v1/providers/acme/demo/1.0.0/download/linux/amd64"),
            Ok("registry-download")
        );
        assert_eq!(
            read("/v1/providers/acme/demo/1.0.0/a.zip"),
            Ok("registry-file")
        );
        assert_eq!(read("/v1/providers/acme/demo"), Err(NoRoute::Unknown));
        assert_eq!(
            read("/v1/providers/acme/demo/1.0.0/download/linux"),
            Err(NoRoute::Unknown)
        );
    }
}
