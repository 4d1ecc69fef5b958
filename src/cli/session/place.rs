//! Stores, origins and mirrors, from which providers are read.

use std::fs::DirEntry;
use std::path::Path;

use tfoci::address::Hostname;
use tfoci::error::printable_path;
use tfoci::http::Http;
use tfoci::lockfile::Client;
use tfoci::source::filesystem_mirror::FilesystemMirror;
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
    path.to_string_lossy().starts_with("oci-layout:") || has_layout(path, 3)
}

/// Whether a directory has an OCI layout, at most so many levels below it.
fn has_layout(directory: &Path, levels: usize) -> bool {
    // A stranger may have put very many entries into it.
    const MOST: usize = 1_000;
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    // Links that lead upwards would have no end.
    let is_directory = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut below = entries.take(MOST).filter(is_directory);
    directory.join("oci-layout").is_file()
        || levels > 0 && below.any(|entry| has_layout(&entry.path(), levels - 1))
}

/// A store is named where a directory of other files is expected.
pub(in crate::cli) fn into_store(into: &Path, expected: &str) -> CommandError {
    let message = format!(
        "`{}` is a store\n  expected {expected}",
        printable_path(into)
    );
    CommandError::usage(message).advising("`tfoci copy --to STORE` copies into a store")
}

/// The mirror at an address.
pub(in crate::cli) fn mirror(
    addr: &SourceAddr,
    access: source::Access,
) -> Result<Source, CommandError> {
    Ok(match addr {
        SourceAddr::NetworkMirror(url) => Source::NetworkMirror(NetworkMirror::new(access, url)?),
        SourceAddr::FilesystemMirror(directory) => {
            Source::FilesystemMirror(FilesystemMirror::open(directory)?)
        }
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
            distrusted.map_err(source::Error::from)?;
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
            registry: session.registry(&http),
            origin: Origin::new(access.clone()),
            access,
        })
    }

    /// The place that `--from` names.
    pub(in crate::cli) fn open(&self, text: &str) -> Result<StoreOrSource, CommandError> {
        match text.parse() {
            _ if text == ORIGIN => Ok(self.origin()),
            Ok(addr) => self.mirror(&addr),
            Err(_) => self.store(text),
        }
    }

    /// Each provider's origin.
    pub(in crate::cli) fn origin(&self) -> StoreOrSource {
        StoreOrSource::Source(Source::Origin(self.origin.clone()))
    }

    pub(in crate::cli) fn mirror(&self, addr: &SourceAddr) -> Result<StoreOrSource, CommandError> {
        let mirror = mirror(addr, self.access.clone());
        mirror.map(StoreOrSource::Source)
    }

    pub(in crate::cli) fn store(&self, text: &str) -> Result<StoreOrSource, CommandError> {
        let endpoint = self.session.endpoint(text)?;
        let store = self.session.open_store(&endpoint, self.registry.clone())?;
        Ok(StoreOrSource::Store(Box::new((endpoint, store))))
    }
}
