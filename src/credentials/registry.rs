//! Credentials for OCI registries: reads all sources, and selects the credential for a repository.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::docker::DockerConfig;
use super::docker_helper::DockerHelpers;
use super::entry::{Entry, EntryValue};
use super::hub;
use super::locations::{AuthFile, CliConfigFile, Locations, read_docker_config};
use super::{
    Credential, CredentialKind, Error, FileEntry, FoundIn, Readers, SourceReport, SourceState,
};
use crate::config::cli::{CliConfig, OciDefaults};

/// The entries of all sources.
#[derive(Debug)]
pub(super) struct RegistryCredentials {
    sources: Vec<SourceReport>,
    entries: Vec<Entry>,
    helpers: DockerHelpers,
    outcomes: Mutex<Outcomes>,
}

/// The state of each source after credentials were requested, by its index in the list.
#[derive(Debug, Default)]
struct Outcomes {
    used: BTreeSet<usize>,
    failures: Vec<(usize, Error)>,
}

impl RegistryCredentials {
    /// Reads all sources.
    ///
    /// # Errors
    /// A file that the user named is invalid: `--authfile`, or one of `docker_style_config_files`.
    pub(super) fn read(
        locations: &Locations,
        config: &CliConfigFile,
        helper_timeout: Duration,
    ) -> Result<Self, Error> {
        let path = locations.environment.path.clone();
        let mut all = Self {
            sources: Vec::new(),
            entries: Vec::new(),
            helpers: DockerHelpers::new(path, helper_timeout),
            outcomes: Mutex::default(),
        };
        if let Some(path) = &locations.authfile {
            all.read_named(path, Readers::OnlyTfoci)?;
        }
        for (path, state) in &config.before {
            all.add_source(path.clone(), state.clone(), Readers::Clients);
        }
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
        for AuthFile { path, readers } in locations.auth_files() {
            let named_by = locations.environment.naming(&path);
            if defaults.discover {
                all.read_ambient(path, readers, named_by);
            } else {
                all.add_source(path, SourceState::SwitchedOff, readers);
            }
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
                Ok(Some(credential)) => {
                    self.note(|outcomes| outcomes.used.insert(entry.source));
                    return Ok(Some(credential));
                }
                Err(error) => {
                    self.note(|outcomes| outcomes.failures.push((entry.source, error.clone())));
                    // A program that is not installed has no credentials. The registry may need none.
                    let is_absent = error.is_missing_helper();
                    failure = failure.or(Some(error).filter(|_| !is_absent));
                }
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Whether a source that clients read has an entry for a repository.
    pub(super) fn clients_have(&self, host: &str, repository: &str) -> bool {
        self.sources_of(host, repository)
            .any(|source| source.readers == Readers::Clients)
    }

    /// The file with an entry for a repository that clients do not read.
    pub(super) fn unread_by_clients(&self, host: &str, repository: &str) -> Option<PathBuf> {
        let mut sources = self.sources_of(host, repository);
        let source = sources.find(|source| source.readers == Readers::OnlyTfoci)?;
        Some(source.path.clone())
    }

    /// The sources that have an entry for a repository, written as clients read it.
    fn sources_of(&self, host: &str, repository: &str) -> impl Iterator<Item = &SourceReport> {
        let domain = hub::canonical(host);
        let has =
            move |one: &&Entry| !one.is_loose() && one.specificity(domain, repository).is_some();
        let entries = self.entries.iter().filter(has);
        entries.filter_map(|one| self.sources.get(one.source))
    }

    /// The sources, with their current state.
    pub(super) fn sources(&self) -> Vec<SourceReport> {
        let mut sources = self.sources.clone();
        self.note(|outcomes| {
            for (place, source) in sources.iter_mut().enumerate() {
                source.used = outcomes.used.contains(&place);
                let own = outcomes.failures.iter().filter(|(of, _)| *of == place);
                source.failures = own.map(|(_, error)| error.clone()).collect();
            }
        });
        sources
    }

    fn note<T>(&self, change: impl FnOnce(&mut Outcomes) -> T) -> T {
        change(&mut self.outcomes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The credential of an entry, from a helper if necessary. An empty username means no credential.
    async fn resolve(&self, entry: &Entry, domain: &str) -> Result<Option<Credential>, Error> {
        let path = self.sources.get(entry.source).map(|source| &source.path);
        let path = path.cloned().unwrap_or_default();
        let found_in = FileEntry {
            is_loose: entry.is_loose(),
            ..FileEntry::new(&path, &entry.key)
        };
        let (kind, found_in) = match &entry.value {
            Err(error) => {
                return Err(Error::Entry {
                    key: entry.key.clone(),
                    path,
                    error: *error,
                });
            }
            Ok(EntryValue::Inline(kind) | EntryValue::Loose(kind)) => {
                (Some(kind.clone()), FoundIn::File(found_in))
            }
            Ok(EntryValue::Helper(helper)) => (
                self.helpers.get(helper, domain).await?,
                FoundIn::Helper {
                    program: helper.to_string(),
                    named_by: found_in,
                },
            ),
        };
        let is_one = |kind: &CredentialKind| !matches!(kind, CredentialKind::Password { username, .. } if username.is_empty());
        let kind = kind.filter(is_one);
        Ok(kind.map(|kind| Credential { kind, found_in }))
    }

    fn add_cli_config(&mut self, path: &Path, config: &CliConfig) {
        let helper = config.oci_defaults.helper.clone();
        let state = SourceState::Read {
            entries: config.oci_credentials.len(),
            global: helper.is_some(),
            passed_over: Vec::new(),
        };
        let source = self.add_source(path.to_owned(), state, Readers::Clients);
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
    /// `named_by` is the variable that names the file.
    fn read_ambient(&mut self, path: PathBuf, readers: Readers, named_by: Option<&'static str>) {
        let state = match read_docker_config(&path) {
            Ok(file) => return self.add_docker_config(path, file, readers),
            Err(error) if error.is_not_found() => {
                named_by.map_or(SourceState::Absent, SourceState::Missing)
            }
            Err(error) => SourceState::Broken(error),
        };
        self.add_source(path, state, readers);
    }

    fn add_docker_config(&mut self, path: PathBuf, file: DockerConfig, readers: Readers) {
        let state = SourceState::Read {
            entries: file.entries.len(),
            global: file.store.is_some(),
            passed_over: file.passed_over,
        };
        let source = self.add_source(path, state, readers);
        let entries = file.entries.into_iter().map(|entry| Entry {
            prefix: Some(entry.prefix),
            value: entry.value,
            key: entry.key,
            source,
        });
        let store = file.store.map(|helper| Entry {
            prefix: None,
            value: helper.map(EntryValue::Helper),
            key: "credsStore".to_owned(),
            source,
        });
        self.entries.extend(entries.chain(store));
    }

    fn add_source(&mut self, path: PathBuf, state: SourceState, readers: Readers) -> usize {
        self.sources.push(SourceReport::new(path, state, readers));
        self.sources.len() - 1
    }
}
