//! Requests to an origin, in words: `download acme/demo 1.0.0 linux_amd64`.

use std::fmt;

use crate::support::server::seen::{Door, Seen};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Service discovery.
    Discovery,
    /// The versions of a provider.
    Versions,
    /// The metadata of a platform's package.
    Download,
    /// A checksum document.
    Document,
    /// The signature of a checksum document.
    Signature,
    /// A zip, from the origin or from the network mirror.
    Package,
    /// The versions of a provider in the network mirror.
    MirrorIndex,
    /// The packages of a version in the network mirror.
    MirrorVersion,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Discovery,
        Self::Versions,
        Self::Download,
        Self::Document,
        Self::Signature,
        Self::Package,
        Self::MirrorIndex,
        Self::MirrorVersion,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Versions => "versions",
            Self::Download => "download",
            Self::Document => "document",
            Self::Signature => "signature",
            Self::Package => "package",
            Self::MirrorIndex => "mirror-index",
            Self::MirrorVersion => "mirror-version",
        }
    }
}

/// A request, read from its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub kind: Kind,
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
                kind: Kind::Discovery,
                provider: None,
                version: None,
                platform: None,
            }),
            ["v1", "providers", space, name, "versions"] => {
                call(Kind::Versions, space, name, "", "")
            }
            [
                "v1",
                "providers",
                space,
                name,
                version,
                "download",
                os,
                arch,
            ] => {
                let platform = format!("{os}_{arch}");
                call(Kind::Download, space, name, version, &platform)
            }
            ["files", space, name, version, platform, _] => {
                call(Kind::Package, space, name, version, platform)
            }
            ["files", space, name, version, file] => {
                let signature = file.ends_with(".sig");
                let kind = [Kind::Document, Kind::Signature][usize::from(signature)];
                call(kind, space, name, version, "")
            }
            ["mirror", _, space, name, "index.json"] => {
                call(Kind::MirrorIndex, space, name, "", "")
            }
            ["mirror", _, space, name, file] => {
                if let Some(version) = file.strip_suffix(".json") {
                    return call(Kind::MirrorVersion, space, name, version, "");
                }
                // The mirror's own names: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
                let stem = file.strip_suffix(".zip")?;
                let (stem, arch) = stem.rsplit_once('_')?;
                let (stem, os) = stem.rsplit_once('_')?;
                let (_, version) = stem.rsplit_once('_')?;
                let platform = format!("{os}_{arch}");
                call(Kind::Package, space, name, version, &platform)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
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
    let known = Kind::ALL.map(Kind::word);
    assert!(
        known.contains(&kind.as_str()),
        "{kind} is none of {known:?}"
    );
    let wanted: Vec<String> = words.collect();
    move |seen| {
        let Some(call) = Call::of(&seen.path).filter(|call| call.kind.word() == kind) else {
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

#[test]
fn paths_are_parsed() {
    for (path, words) in [
        ("/.well-known/terraform.json", "discovery"),
        ("/v1/providers/acme/demo/versions", "versions acme/demo"),
        (
            "/v1/providers/acme/demo/1.0.0+1/download/linux/amd64",
            "download acme/demo 1.0.0+1 linux_amd64",
        ),
        (
            "/files/acme/demo/1.0.0/linux_amd64/any.zip",
            "package acme/demo 1.0.0 linux_amd64",
        ),
        ("/files/acme/demo/1.0.0/SUMS", "document acme/demo 1.0.0"),
        (
            "/files/acme/demo/1.0.0/SUMS.sig",
            "signature acme/demo 1.0.0",
        ),
        ("/mirror/a.b/acme/demo/index.json", "mirror-index acme/demo"),
        (
            "/mirror/a.b/acme/demo/1.0.0.json",
            "mirror-version acme/demo 1.0.0",
        ),
        (
            "/mirror/a.b/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
            "package acme/demo 1.0.0 linux_amd64",
        ),
    ] {
        assert_eq!(Call::of(path).unwrap().to_string(), words);
    }
    for path in [
        "",
        "/",
        "/v1/acme/demo/versions",
        "/mirror/a.b/acme/demo/x.txt",
    ] {
        assert_eq!(Call::of(path), None);
    }
}
