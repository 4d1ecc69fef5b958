//! Credentials for OCI registries: reads all sources, and selects the credential for a repository.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::docker_helper::DockerHelpers;
use super::entry::{Entry, EntryValue};
use super::hub;
use super::locations::{CliConfigFile, Locations, read_docker_config};
use super::{Credential, CredentialKind, Error, FoundIn, Readers, SourceReport};
use crate::config::cli::{CliConfig, OciDefaults};
use crate::error::{one_line, printable_path};
use crate::jobs::locked;

/// The entries of all sources.
#[derive(Debug)]
pub(super) struct RegistryCredentials {
    sources: Vec<SourceReport>,
    entries: Vec<Entry>,
    helpers: DockerHelpers,
    /// Warnings about entries that were needed, such as of a helper that failed.
    failures: Mutex<Vec<String>>,
}

impl RegistryCredentials {
    /// Reads all sources.
    ///
    /// # Errors
    /// A file that the user named is invalid: `--authfile`, or one of `docker_style_config_files`.
    pub(super) fn read(locations: &Locations, config: &CliConfigFile) -> Result<Self, Error> {
        let path = locations.environment.path.clone();
        let mut all = Self {
            sources: Vec::new(),
            entries: Vec::new(),
            helpers: DockerHelpers::new(path),
            failures: Mutex::default(),
        };
        if let Some(path) = &locations.authfile {
            all.read_named(path, Readers::OnlyTfoci)?;
        }
        all.sources.extend(config.unread.iter().cloned());
        let defaults = match &config.found {
            Some((path, config)) => {
                all.add_cli_config(path, config);
                config.oci_defaults.clone()
            }
            None => OciDefaults::default(),
        };
        if locations.authfile.is_some() {
            return Ok(all);
        }
        if let (Some(files), Some((config, _))) = (&defaults.files, &config.found) {
            let beside = config.parent().unwrap_or(Path::new(""));
            for file in files {
                all.read_named(&beside.join(file), Readers::Clients)?;
            }
            return Ok(all);
        }
        let (blocks, before) = (all.entries.len(), all.sources.len());
        for (path, readers) in locations.auth_files() {
            if defaults.discover {
                all.read_ambient(path, readers);
            }
        }
        if locations.is_of_client {
            let is_broken = |source: &SourceReport| source.error.is_some();
            if all.sources.iter().skip(before).any(is_broken) {
                all.entries.truncate(blocks);
            }
            all.entries.retain(|entry| !entry.is_loose());
        }
        Ok(all)
    }

    /// The credential for a repository. See [`super::Credentials::for_repository`].
    pub(super) async fn find(
        &self,
        host: &str,
        repository: &str,
    ) -> Result<Option<Credential>, Error> {
        let domain = hub::canonical(host);
        let specificity = |entry| Some((Entry::specificity(entry, domain, repository)?, entry));
        let mut matching: Vec<(usize, &Entry)> =
            self.entries.iter().filter_map(specificity).collect();
        matching.sort_by_key(|(specificity, entry)| (entry.is_loose(), Reverse(*specificity)));
        let mut failure = None;
        for (_, entry) in matching {
            match self.resolve(entry, domain).await {
                Ok(None) => {}
                Ok(Some(credential)) => return Ok(Some(credential)),
                Err(error) => {
                    let (path, text) = (printable_path(self.path(entry)), one_line(&error));
                    locked(&self.failures).push(format!("{path}: {text}; it was ignored"));
                    // A program that is not installed has no credentials. The registry may need none.
                    let is_absent = error.is_missing_helper();
                    failure = failure.or(Some(error).filter(|_| !is_absent));
                }
            }
        }
        failure.map_or(Ok(None), Err)
    }

    pub(super) fn sources(&self) -> &[SourceReport] {
        &self.sources
    }

    /// Warnings about sources and entries that are ignored, so far.
    pub(super) fn warnings(&self) -> Vec<String> {
        let files = self.sources.iter().filter_map(SourceReport::warning);
        files
            .chain(locked(&self.failures).iter().cloned())
            .collect()
    }

    /// The file of an entry.
    fn path(&self, entry: &Entry) -> &Path {
        let source = self.sources.get(entry.source);
        source.map_or(Path::new(""), |source| &source.path)
    }

    /// The credential of an entry, from a helper if necessary. An empty username means no credential.
    async fn resolve(&self, entry: &Entry, domain: &str) -> Result<Option<Credential>, Error> {
        let path = self.path(entry);
        let found_in = FoundIn::entry(path, &entry.key);
        let (kind, found_in) = match &entry.value {
            Err(error) => {
                return Err(Error::Entry {
                    key: entry.key.clone(),
                    path: path.to_owned(),
                    error,
                });
            }
            Ok(EntryValue::Inline(kind) | EntryValue::Loose(kind)) => {
                (Some(kind.clone()), found_in)
            }
            Ok(EntryValue::Helper(helper)) => (
                self.helpers.get(helper, domain).await?,
                FoundIn::program(helper.program(), Some(&found_in)),
            ),
        };
        let is_one = |kind: &CredentialKind| !matches!(kind, CredentialKind::Password { username, .. } if username.is_empty());
        let kind = kind.filter(is_one);
        Ok(kind.map(|kind| Credential { kind, found_in }))
    }

    fn add_cli_config(&mut self, path: &Path, config: &CliConfig) {
        let helper = config.oci_defaults.helper.clone();
        let source = self.add_source(path.to_owned(), Readers::Clients);
        let blocks = config.oci_credentials.iter().cloned().map(|block| Entry {
            key: format!("oci_credentials \"{}\"", block.prefix),
            prefix: Some(hub::one_name(block.prefix)),
            value: Ok(block.kind.into()),
            source,
        });
        let helper = helper.map(|helper| Entry {
            key: "oci_default_credentials".to_owned(),
            prefix: None,
            value: Ok(EntryValue::Helper(helper)),
            source,
        });
        self.entries.extend(blocks.chain(helper));
    }

    /// Reads a file that the user named, and fails if it is invalid.
    fn read_named(&mut self, path: &Path, readers: Readers) -> Result<(), Error> {
        let file = read_docker_config(path)?;
        self.add_docker_config(path.to_owned(), file, readers);
        Ok(())
    }

    /// Reads a file at a default path of docker or podman. An invalid file is reported and skipped.
    fn read_ambient(&mut self, path: PathBuf, readers: Readers) {
        match read_docker_config(&path) {
            Ok(file) => self.add_docker_config(path, file, readers),
            Err(error) => {
                let report = SourceReport::unread(path, error, readers);
                self.sources.extend(report);
            }
        }
    }

    fn add_docker_config(&mut self, path: PathBuf, entries: Vec<Entry>, readers: Readers) {
        let source = self.add_source(path, readers);
        let entries = entries.into_iter();
        self.entries
            .extend(entries.map(|entry| Entry { source, ..entry }));
    }

    fn add_source(&mut self, path: PathBuf, readers: Readers) -> usize {
        self.sources.push(SourceReport {
            path,
            error: None,
            readers,
        });
        self.sources.len() - 1
    }
}
