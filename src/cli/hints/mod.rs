//! Hints: suggestions that follow an error. They depend on the variant of the error, never on its text.

mod folders;
mod mirroring;
mod origins;
mod proof;
mod reach;
mod stores;

use tfoci::blob;
use tfoci::error::printable;
use tfoci::oci;
use tfoci::outcome::{Failure, Problem};
use tfoci::store;
use tfoci::store::endpoint::{AddressError, MappingError};
use tfoci::store::known::KnownRegistry;
use tfoci::trust;

use super::error::CommandError;

/// A suggestion for this error, if there is one.
pub(super) fn of(error: &CommandError) -> Option<String> {
    match error {
        CommandError::Journey(failure) => journey(failure),
        CommandError::Mirroring(failure) | CommandError::NotLocked { failure, .. } => mirroring::hint(failure).or_else(|| journey(failure)),
        CommandError::Credentials(error) => reach::credentials(error),
        CommandError::NoTerminal => {
            Some("`--password-stdin` reads it from standard input".to_owned())
        }
        CommandError::TrustFile { source, .. } if matches!(**source, trust::Error::UnsignedPin { .. }) => {
            Some("pinned means signed: leave out one of them, or write two entries, of which the first that matches decides".to_owned())
        }
        CommandError::TrustFile { .. } => Some("the README shows a trust file, under Trust".to_owned()),
        CommandError::NoSuchTrustFile { .. } => Some("`--pin-new` creates it, with the keys that it sees".to_owned()),
        CommandError::NotPinned { .. } => {
            Some("pin them by hand: a table with `match` and `keys`, before any other that matches the provider".to_owned())
        }
        CommandError::MirrorFile { .. } => Some("the README shows a mirror file, under Mirror".to_owned()),
        CommandError::NoTrustFile => Some("name it with `--trust FILE`: it is created if it does not exist".to_owned()),
        CommandError::NoDestination { .. } => {
            Some("name the store with `--to STORE`, or with `to` in the mirror file".to_owned())
        }
        CommandError::Source(_) => Some("stores are copied with `tfoci copy`".to_owned()),
        CommandError::NoSelection => Some("name the provider, such as `acme/demo@1.0.0`".to_owned()),
        CommandError::Filter => Some("`--rebuild-index` writes an index of these platforms, as `push` would".to_owned()),
        CommandError::OwnAnnotation { .. } => {
            Some("choose another key; registries link a package to its sources by `org.opencontainers.image.source`".to_owned())
        }
        _ => None,
    }
}

fn journey(failure: &Failure) -> Option<String> {
    let provider = failure
        .subject
        .as_ref()
        .map(|subject| subject.provider.to_string());
    let address = provider.unwrap_or_else(|| "ADDR".to_owned());
    let text = match &*failure.problem {
        Problem::Endpoint(AddressError::Repository(error)) | Problem::Mapping(MappingError::Template(error)) => {
            return stores::template(error);
        }
        Problem::Endpoint(AddressError::Levels(levels)) | Problem::Mapping(MappingError::Levels(levels)) => stores::levels(levels),
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
        Problem::Store(error) | Problem::Unread(error) => return stores::store(error),
        Problem::Blob(blob::Error::Http(error)) => return reach::host(error),
        Problem::Trust(error) => return proof::untrusted(error, &address),
        Problem::Folder(error) => return folders::in_folder(error, &address),
        Problem::Unreadable(error @ store::Error::Refusal(oci::Refusal::Repeated { .. })) => {
            return stores::store(error);
        }
        Problem::Unreadable(_) => {
            "evidence that cannot be read proves nothing. Pushing the release again writes it anew".to_owned()
        }
        Problem::Archive { source, .. } => return folders::in_zip(source),
        Problem::NoEvidence => {
            "the version was published without evidence, or the evidence was removed: find out which before you use it. Publishing the signed release again writes its evidence".to_owned()
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
            "nothing of this version was changed. Versions are immutable, since lock files pin their zips. Release a new version; or, if no configuration uses this one, `--existing replace`".to_owned()
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
