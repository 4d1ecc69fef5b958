//! Requests to an origin, in words: `download acme/demo 1.0.0 linux_amd64`.

use std::fmt;

use crate::support::server::seen::{Door, Seen};

/// The kinds of requests.
pub const KINDS: [&str; 8] = [
    // Service discovery, the versions of a provider, and the metadata of a platform's package.
    "discovery",
    "versions",
    "download",
    // A checksum document, and its signature.
    "document",
    "signature",
    // A zip, from the origin or from the network mirror.
    "package",
    // Of the network mirror: the versions of a provider, and the packages of a version.
    "mirror-index",
    "mirror-version",
];

/// A request, read from its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// `NAMESPACE/TYPE`
    pub provider: Option<String>,
    pub version: Option<String>,
    pub platform: Option<String>,
}

impl Call {
    /// The request for a path, if the path is one of the origin's.
    pub fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let call = |kind, space: &str, name: &str, version: &str, platform: &str| {
            let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Some(Self {
                kind,
                provider: Some(format!("{space}/{name}")),
                version: said(version),
                platform: said(platform),
            })
        };
        match parts[..] {
            [".well-known", "terraform.json"] => Some(Self {
                kind: "discovery",
                provider: None,
                version: None,
                platform: None,
            }),
            ["v1", "providers", space, name, ref rest @ ..] => match rest {
                ["versions"] => call("versions", space, name, "", ""),
                [version, "download", os, arch] => {
                    call("download", space, name, version, &format!("{os}_{arch}"))
                }
                _ => None,
            },
            ["files", space, name, version, platform, _] => {
                call("package", space, name, version, platform)
            }
            ["files", space, name, version, file] => {
                let signature = file.ends_with(".sig");
                let kind = ["document", "signature"][usize::from(signature)];
                call(kind, space, name, version, "")
            }
            ["mirror", _, space, name, "index.json"] => call("mirror-index", space, name, "", ""),
            ["mirror", _, space, name, file] => {
                if let Some(version) = file.strip_suffix(".json") {
                    return call("mirror-version", space, name, version, "");
                }
                // The mirror's own names: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
                let stem = file.strip_suffix(".zip")?;
                let (stem, arch) = stem.rsplit_once('_')?;
                let (stem, os) = stem.rsplit_once('_')?;
                let (_, version) = stem.rsplit_once('_')?;
                let platform = format!("{os}_{arch}");
                call("package", space, name, version, &platform)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        let words = [&self.provider, &self.version, &self.platform];
        words
            .into_iter()
            .flatten()
            .try_for_each(|word| write!(f, " {word}"))
    }
}

/// Requests of a kind, optionally with provider, version and platform: `asks("download acme/demo 1.0.0 linux_amd64")`. `*` stands for any.
#[track_caller]
pub fn asks(words: &str) -> impl Fn(&Seen) -> bool + Send + use<> {
    let mut words = words.split(' ').map(str::to_owned);
    let kind = words.next().unwrap();
    assert!(KINDS.contains(&&*kind), "{kind} is none of {KINDS:?}");
    let wanted: Vec<String> = words.collect();
    move |seen| {
        let Some(call) = Call::of(&seen.path).filter(|call| call.kind == kind) else {
            return false;
        };
        let words = [call.provider, call.version, call.platform];
        let said = words.iter().map(Option::as_deref);
        wanted
            .iter()
            .zip(said)
            .all(|(want, said)| want == "*" || Some(want.as_str()) == said)
    }
}

/// The matching requests that arrive at a door.
pub fn at(
    door: Door,
    sort: impl Fn(&Seen) -> bool + Send + 'static,
) -> impl Fn(&Seen) -> bool + Send {
    move |seen| seen.door == door && sort(seen)
}
