//! Stores, origins and mirrors, from which providers are read.

use std::path::Path;

use tfoci::address::Hostname;
use tfoci::error::printable_path;
use tfoci::http::Http;
use tfoci::lockfile::Client;
use tfoci::outcome::{Failure, Problem};
use tfoci::source::filesystem_mirror::FilesystemMirror;
use tfoci::source::filesystem_mirror::nearby::is_mirror;
use tfoci::source::network_mirror::NetworkMirror;
use tfoci::source::origin::Origin;
use tfoci::source::{self, Source, SourceAddr};
use tfoci::store::{Endpoint, Registry, Store};

use super::Session;
use crate::cli::arguments::ORIGIN;
use crate::cli::error::CommandError;

/// A store, or a source of releases.
pub(in crate::cli) enum StoreOrSource {
    Store(Box<(Endpoint, Store)>),
    Source(Source),
}

/// Opens stores and sources. They share one HTTP client, so tfoci discovers each host and authenticates to it once.
pub(in crate::cli) struct Places<'a> {
    session: &'a Session,
    registry: Registry,
    pub(in crate::cli) access: source::Access,
    origin: Origin,
}

/// Whether `--from` names a source, and no store.
pub(in crate::cli) fn is_source(text: &str) -> bool {
    text == ORIGIN || text.parse::<SourceAddr>().is_ok()
}

/// Whether a path is the directory of a store, or is written as the address of a store. The files of a mirror do not belong into either.
pub(in crate::cli) fn is_store(path: &Path) -> bool {
    let text = path.to_string_lossy();
    if text.starts_with("oci-layout:") {
        return true;
    }
    has_layout(path, 3, &mut 1_000)
}

/// Whether there is an OCI layout at most `levels` below a directory, among as many entries as `left` says.
fn has_layout(directory: &Path, levels: usize, left: &mut usize) -> bool {
    let is_layout = directory.join("oci-layout").is_file();
    if is_layout || levels == 0 {
        return is_layout;
    }
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        match left.checked_sub(1) {
            Some(fewer) => *left = fewer,
            None => return false,
        }
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && has_layout(&entry.path(), levels - 1, left) {
            return true;
        }
    }
    false
}

/// Refuses to write a store among the files of a release or of a filesystem mirror, whose readers would find them. Other files, such as those
/// on a disk, are no reason.
pub(in crate::cli) fn refuse_other(endpoint: &Endpoint) -> Result<(), CommandError> {
    let Some(directory) = endpoint.directory().filter(|one| !is_store(one)) else {
        return Ok(());
    };
    let what = if has_release(directory) {
        "the folder of a release"
    } else if is_mirror(directory) {
        "a filesystem mirror"
    } else {
        return Ok(());
    };
    Err(CommandError::usage(format!(
        "{} is {what}, and no store\n  expected a directory of layouts, or a new one",
        printable_path(directory)
    )))
}

/// A store in the place of a directory of other files.
pub(in crate::cli) fn into_store(into: &Path, expected: &str) -> CommandError {
    let message = format!(
        "`{}` is a store\n  expected {expected}",
        printable_path(into)
    );
    CommandError::usage(message).advising("`tfoci copy --to STORE` copies into a store")
}

/// Whether a directory has a zip or the checksums of a release, among its first entries.
fn has_release(directory: &Path) -> bool {
    // The directory of another program may have very many, and one zip is enough to tell.
    const MOST: usize = 1_000;
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten().take(MOST).any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("terraform-provider-")
            && (name.ends_with(".zip") || name.ends_with("_SHA256SUMS"))
    })
}

impl Session {
    /// Treats the origins of these hosts as strangers: a configuration names them, and the user may not have written it. The default hosts
    /// do not count as strangers.
    pub(in crate::cli) fn distrust<'h>(
        &self,
        http: &Http,
        hosts: impl IntoIterator<Item = &'h Hostname>,
    ) -> Result<(), CommandError> {
        let known = [
            self.default_host().clone(),
            Client::OpenTofu.default_host(),
            Client::Terraform.default_host(),
        ];
        for host in hosts.into_iter().filter(|host| !known.contains(host)) {
            let distrusted = http.distrust(host.as_ascii());
            distrusted.map_err(|error| Failure::from(Problem::from(source::Error::from(error))))?;
        }
        Ok(())
    }
}

impl<'a> Places<'a> {
    pub(in crate::cli) fn new(session: &'a Session) -> Result<Self, CommandError> {
        let http: Http = session.http()?;
        let access = session.origin_access(http.clone())?;
        Ok(Self {
            session,
            registry: session.registry(&http).standing_in(),
            origin: Origin::new(access.clone()),
            access,
        })
    }

    /// The place that `--from` names.
    pub(in crate::cli) fn open(&self, text: &str) -> Result<StoreOrSource, CommandError> {
        if text == ORIGIN {
            return Ok(self.origin());
        }
        match text.parse() {
            Ok(SourceAddr::NetworkMirror(url)) => self.network_mirror(&url),
            Ok(SourceAddr::FilesystemMirror(directory)) => self.filesystem_mirror(&directory),
            Err(_) => self.store(text),
        }
    }

    /// Each provider's origin.
    pub(in crate::cli) fn origin(&self) -> StoreOrSource {
        StoreOrSource::Source(Source::Origin(self.origin.clone()))
    }

    pub(in crate::cli) fn network_mirror(&self, url: &str) -> Result<StoreOrSource, CommandError> {
        let mirror = NetworkMirror::new(self.access.clone(), url);
        let mirror = mirror.map_err(Failure::from)?;
        Ok(StoreOrSource::Source(Source::NetworkMirror(mirror)))
    }

    pub(in crate::cli) fn filesystem_mirror(
        &self,
        directory: &Path,
    ) -> Result<StoreOrSource, CommandError> {
        let mirror = FilesystemMirror::open(directory);
        let mirror = mirror.map_err(Failure::from)?;
        Ok(StoreOrSource::Source(Source::FilesystemMirror(mirror)))
    }

    pub(in crate::cli) fn store(&self, text: &str) -> Result<StoreOrSource, CommandError> {
        let endpoint = self.session.endpoint(text)?;
        let store = self.session.open_store(&endpoint, self.registry.clone());
        let store = store.map_err(Failure::from)?;
        Ok(StoreOrSource::Store(Box::new((endpoint, store))))
    }
}
