//! Complaints: everything that can stop a command, and the hint that goes with it.
//!
//! The library states facts; only here is it known which option would help. Hints are chosen by variant, never by text.

mod folders;
mod mirroring;
mod origins;
mod proof;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tfoci::address;
use tfoci::blob;
use tfoci::config;
use tfoci::credentials;
use tfoci::error::{Category, printable, printable_path};
use tfoci::event::Subject;
use tfoci::lockfile;
use tfoci::oci::{self, Part};
use tfoci::outcome::{Failure, Problem};
use tfoci::platform;
use tfoci::selection;
use tfoci::source;
use tfoci::store;
use tfoci::store::endpoint::{AddressError, MappingError};
use tfoci::store::registry::known::{KnownRegistry, LevelsError};
use tfoci::template;
use tfoci::trust;

use super::reach;

/// Why a command did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    /// An argument that is no provider address.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// An argument that is no provider with constraints.
    #[error(transparent)]
    Selection(#[from] selection::Error),
    /// An argument that is no pattern.
    #[error(transparent)]
    Pattern(#[from] address::pattern::Error),
    /// An argument that is no platform.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// An argument that is no source.
    #[error(transparent)]
    Source(#[from] source::SourceAddrError),
    /// One version was needed.
    #[error("`{}` does not name one version\n  expected ADDR@VERSION", printable(.text))]
    OneVersion {
        /// What was given.
        text: String,
    },
    /// An annotation that cannot be set.
    #[error("`{}` is not an annotation that can be set\n  expected KEY=VALUE", printable(.text))]
    Annotation {
        /// What was given.
        text: String,
    },
    /// An annotation that belongs to the artifact.
    #[error("the annotation `{key}` is tfoci's own")]
    OwnAnnotation {
        /// Its key.
        key: String,
    },
    /// Without addresses, and the store cannot list.
    #[error("no provider is named, and this store cannot list those that it has")]
    NoSelection,
    /// `--platform` by itself.
    #[error(
        "`--platform` would change the index of a version, and so its digest\n  pins of digests and later copies rely on it"
    )]
    Filter,
    /// A trust file that cannot be read as one.
    #[error("{} is not a trust file", printable_path(.path))]
    TrustFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<trust::Error>,
    },
    /// A mirror file names a trust file that is not there.
    #[error("there is no trust file {}\n  named by `trust` in {}", printable_path(.path), printable_path(.file))]
    NoSuchTrustFile {
        /// The trust file.
        path: PathBuf,
        /// The mirror file.
        file: PathBuf,
    },
    /// A trust file that cannot be changed.
    #[error(transparent)]
    Trust(#[from] trust::Error),
    /// Keys that should be pinned, and are not.
    #[error("new keys are not pinned in {}\n  {}", printable_path(.path), .keys.join("\n  "))]
    NotPinned {
        /// The trust file.
        path: PathBuf,
        /// Each a provider with its keys.
        keys: Vec<String>,
        /// Why, of the last of them.
        source: Box<CommandError>,
    },
    /// A mirror file that cannot be read as one.
    #[error("{} is not a mirror file", printable_path(.path))]
    MirrorFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<config::mirror::Error>,
    },
    /// A lock file that clients would not read either.
    #[error("{} is not a lock file", printable_path(.path))]
    LockFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<lockfile::Error>,
    },
    /// A configuration that cannot be understood.
    #[error(transparent)]
    Configuration(#[from] source::tree::Error),
    /// Keys are to be written, and nothing says where.
    #[error("there is no trust file into which new keys could be written")]
    NoTrustFile,
    /// Nothing says where to.
    #[error("nothing says where to mirror {provider}")]
    NoDestination {
        /// One provider of which nothing says it.
        provider: Box<address::ProviderAddr>,
    },
    /// Credentials that cannot be read or kept.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// A name that cannot be sent.
    #[error("`{}` cannot be the name of a user\n  expected text without a colon", printable(.username))]
    Username {
        /// What was given.
        username: String,
    },
    /// Nobody can be asked for a password.
    #[error("there is no terminal to ask for the password")]
    NoTerminal,
    /// There is no password where it should be.
    #[error("no password was given\n  expected one line of text, at most 65536 bytes")]
    NoPassword,
    /// A client certificate or key that is for no host.
    #[error("`{}` does not say for which host it is\n  expected HOST=FILE", printable(.text))]
    OfHost {
        /// What was given.
        text: String,
    },
    /// A client's key without its certificate.
    #[error("there is a client key for {}, and no client certificate", printable(.host))]
    LoneKey {
        /// The host.
        host: String,
    },
    /// A journey that did not get through.
    #[error(transparent)]
    Journey(#[from] Failure),
    /// A version that was not published: its failure stands among the results.
    #[error(transparent)]
    Publication(Failure),
    /// A version that was not mirrored, in the same way.
    #[error(transparent)]
    Mirroring(Failure),
    /// A version that lock files refuse.
    #[error("{failure}{}", locked_by(.files))]
    NotLocked {
        /// What happened.
        failure: Failure,
        /// The lock files that have the version.
        files: BTreeSet<PathBuf>,
    },
}

fn locked_by(files: &BTreeSet<PathBuf>) -> String {
    let line = |file: &PathBuf| format!("\n  locked by {}", printable_path(file));
    files.iter().map(line).collect()
}

impl CommandError {
    /// A trust file that cannot be used.
    pub(super) fn trust_file(path: &Path, source: trust::Error) -> Self {
        Self::TrustFile {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }

    /// What kind of failure it is: an argument that cannot be meant is a usage error, whatever it is about.
    pub(super) fn category(&self) -> Category {
        match self {
            Self::Journey(failure)
            | Self::Publication(failure)
            | Self::Mirroring(failure)
            | Self::NotLocked { failure, .. } => failure.category(),
            Self::NotPinned { source, .. } => source.category(),
            Self::Trust(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::Configuration(error) => error.category(),
            Self::NoSuchTrustFile { .. } => Category::NotFound,
            _ => Category::Usage,
        }
    }

    /// What it is about, where that is known.
    pub(super) fn subject(&self) -> Option<&Subject> {
        match self {
            Self::Journey(failure)
            | Self::Publication(failure)
            | Self::Mirroring(failure)
            | Self::NotLocked { failure, .. } => failure.subject.as_ref(),
            _ => None,
        }
    }

    /// What to do about it, where there is something.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Journey(failure) | Self::Publication(failure) => hint(failure),
            Self::Mirroring(failure) | Self::NotLocked { failure, .. } => mirroring::hint(failure).or_else(|| hint(failure)),
            Self::Credentials(error) => reach::credentials(error),
            Self::NoTerminal => {
                Some("`--password-stdin` reads it from standard input".to_owned())
            }
            Self::TrustFile { source, .. } if matches!(**source, trust::Error::UnsignedPin { .. }) => {
                Some("pinned means signed: leave out one of them, or write two entries, of which the first that matches decides".to_owned())
            }
            Self::TrustFile { .. } => Some("the README shows a trust file, under Trust".to_owned()),
            Self::NoSuchTrustFile { .. } => Some("`--pin-new` creates it, with the keys that it sees".to_owned()),
            Self::NotPinned { .. } => {
                Some("pin them by hand: a table with `match` and `keys`, before any other that matches the provider".to_owned())
            }
            Self::MirrorFile { .. } => Some("the README shows a mirror file, under Mirror".to_owned()),
            Self::NoTrustFile => Some("name it with `--trust FILE`: it is created if it does not exist".to_owned()),
            Self::NoDestination { .. } => {
                Some("name the store with `--to STORE`, or with `to` in the mirror file".to_owned())
            }
            Self::Source(_) => Some("stores are copied with `tfoci copy`".to_owned()),
            Self::NoSelection => Some("name the provider, such as `acme/demo@1.0.0`".to_owned()),
            Self::Filter => Some("`--rebuild-index` writes an index of these platforms, as `push` would".to_owned()),
            Self::OwnAnnotation { .. } => {
                Some("choose another key; registries link a package to its sources by `org.opencontainers.image.source`".to_owned())
            }
            _ => None,
        }
    }
}

fn hint(failure: &Failure) -> Option<String> {
    let provider = failure
        .subject
        .as_ref()
        .map(|subject| subject.provider.to_string());
    let address = provider.unwrap_or_else(|| "ADDR".to_owned());
    let text = match &*failure.problem {
        Problem::Endpoint(AddressError::Repository(error)) | Problem::Mapping(MappingError::Template(error)) => {
            return about_template(error);
        }
        Problem::Endpoint(AddressError::Levels(levels)) | Problem::Mapping(MappingError::Levels(levels)) => levelled(levels),
        Problem::Endpoint(AddressError::User { .. }) => {
            "`tfoci login REGISTRY` keeps them where no message shows them".to_owned()
        }
        Problem::Mapping(MappingError::OneRepository { .. }) => {
            "put `{namespace}` and `{type}` into the address; or, for this one repository, add `--exact-repository`".to_owned()
        }
        Problem::Source(error) => return origins::at_source(error),
        Problem::Package { source, .. } => return origins::of_package(&**source),
        Problem::Store(store::Error::NoRepository { registry: KnownRegistry::Ecr, name, .. }) => {
            format!("create it first: `aws ecr create-repository --repository-name {}`", printable(name))
        }
        Problem::Store(store::Error::NoRepository { .. }) => {
            "create the repository, or the project that it belongs to, before the first push".to_owned()
        }
        Problem::Unread(store::Error::Blob { .. } | store::Error::Missing { .. }) => {
            "this version was not tagged. The store that is copied from is damaged: pushing the release there again with `--existing replace` repairs it".to_owned()
        }
        Problem::Store(error) | Problem::Unread(error) => return in_store(error),
        Problem::Blob(blob::Error::Http(error)) => return reach::host(error),
        Problem::Trust(error) => return proof::untrusted(error, &address),
        Problem::Folder(error) => return folders::in_folder(error, &address),
        Problem::Unreadable(error @ store::Error::Refusal(oci::Refusal::Repeated { .. })) => {
            return in_store(error);
        }
        Problem::Unreadable(_) => {
            "evidence that cannot be read proves nothing. Pushing the release again writes it anew".to_owned()
        }
        Problem::Archive { source, .. } => return folders::in_zip(source),
        Problem::NoEvidence => {
            "the version was published without any, or somebody removed it: find out which before you use it. Publishing the signed release again writes its evidence".to_owned()
        }
        Problem::Evidence { .. } => {
            "do not use these packages: either the store was tampered with, or the key that you named is not the author's".to_owned()
        }
        Problem::Weaker { .. } | Problem::PerhapsWeaker { .. } => {
            format!("nothing of this version was changed. Push the release with its signature and key. Only `--existing replace` makes evidence weaker, where a policy accepts that: `unsigned = \"allow\"` for `{address}` in a trust file")
        }
        Problem::Contended { .. } => "nothing of this version was changed. Run it again".to_owned(),
        Problem::Unproven { .. } => {
            "this version was not copied. `--rebuild-index` copies its packages and their evidence, and leaves out the rest, such as attestations".to_owned()
        }
        Problem::Exists => "without `--existing fail`, missing platforms are added and the same zips are left alone".to_owned(),
        Problem::OtherPackage { .. } | Problem::Uncovered { .. } => {
            "nothing of this version was changed. Versions are immutable, since lock files pin their zips. Release a new version; or, if nobody uses this one, `--existing replace`".to_owned()
        }
        Problem::OtherProvider { .. } => {
            "nothing of this version was changed. Both addresses lead to this repository: a template with `{hostname}`, `{namespace}` and `{type}` tells them apart".to_owned()
        }
        Problem::Taken { .. } => "nothing of this version was changed. `--existing replace` puts the provider in its place".to_owned(),
        Problem::NoPin => format!("name the key with `--key FILE`, or pin its fingerprint for `{address}` in a trust file"),
        Problem::NoVersion { available, .. } if available.is_empty() => {
            format!("`tfoci versions {address} --from STORE --all` lists what is tagged instead")
        }
        Problem::NotCanonical { .. } => {
            format!("pushing the version again gives it that tag; `tfoci versions {address} --from STORE --all` explains the others")
        }
        Problem::NoVersion { .. } => format!("`tfoci versions {address} --from STORE` lists them; pre-releases are chosen only by name"),
        Problem::NoProvider => "the full address counts: the same name on another host is another provider".to_owned(),
        Problem::CapitalLetters => "install it with `--unpacked`".to_owned(),
        Problem::Occupied { .. } => "nothing was replaced. Remove it, or install into another directory".to_owned(),
        Problem::OtherForm { .. } => {
            "clients would choose between the two forms by accident. Remove one, or install in the same form".to_owned()
        }
        _ => return None,
    };
    Some(text)
}

fn levelled(levels: &LevelsError) -> String {
    match levels.is_exact {
        true => {
            "join what tells providers apart with dashes, such as `{namespace}-{type}`".to_owned()
        }
        false => "add the levels that are missing".to_owned(),
    }
}

/// What a member that is there twice is good for.
const TWO_MEANINGS: &str = "such a document can show one package to a tool that verifies it and another to the client that installs it. Find out who wrote it before you replace it";

fn in_store(error: &store::Error) -> Option<String> {
    let text = match error {
        store::Error::Http(error)
        | store::Error::Blob {
            source: blob::Error::Http(error),
            ..
        } => return reach::host(error),
        store::Error::Credentials(error) => return reach::credentials(error),
        // Whoever is logging in need not be told to.
        store::Error::Unauthorized { tried, .. }
            if tried.as_deref() == Some(credentials::TYPED) =>
        {
            return None;
        }
        store::Error::Unauthorized { host, tried, .. } => {
            return Some(reach::stranger(host, tried.is_some()));
        }
        store::Error::RefusedElsewhere { registry, .. } => {
            return Some(format!(
                "no login helps: the credentials for {registry} go to no other host. Ask the registry's operator why that host refuses"
            ));
        }
        store::Error::IsRepository { .. } => {
            "for the provider that is in it, add `--exact-repository`"
        }
        store::Error::NoStore { .. } => {
            "`tfoci push` creates a store; a directory that is one layout by itself needs `--exact-repository`"
        }
        store::Error::Unwelcome { .. } => {
            "nothing of this version was changed. Some registries take only media types that they know: an update may know those of OpenTofu (GitLab since late 2025), or the registry's operator can add them"
        }
        store::Error::Immutable { .. } => {
            "the version is as it was. Push all platforms of a version at once, or have the registry's operator let the tags of this repository move"
        }
        store::Error::Blob { source, .. } if source.category() == Category::Local => return None,
        // What is not yet in the store has no part of it.
        store::Error::Blob {
            what: Part::Blob, ..
        } => {
            "the zip has changed since it was verified. Push again once the release process is done"
        }
        store::Error::Blob { .. } | store::Error::Missing { .. } => {
            "the store is damaged. Pushing the release again with `--existing replace` repairs it"
        }
        store::Error::Refusal(oci::Refusal::Repeated { .. })
        | store::Error::LayoutRepeated { .. }
        | store::Error::Repeated { .. } => TWO_MEANINGS,
        store::Error::Refusal(oci::Refusal::NoPlatform { available, .. })
            if !available.is_empty() =>
        {
            "choose one of these with `--platform`, or push the one that is missing"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// A shell that was not told to leave `${…}` alone leaves nothing of it; a bare name is often meant as a directory.
fn about_template(error: &template::Error) -> Option<String> {
    use tfoci::oci::repository_name::RepositoryErrorKind;
    let text = match error.mistake_in_name()? {
        RepositoryErrorKind::EmptyComponent | RepositoryErrorKind::Separator { .. } => {
            "put the template in single quotes: between double quotes a shell replaces `${…}` by nothing. `{namespace}` needs no quotes"
        }
        RepositoryErrorKind::NoName => {
            "a directory is written `oci-layout:DIR`, a registry `REGISTRY/REPOSITORY`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
