//! Reading every source of credentials.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::docker::DockerFile;
use super::helper::Helpers;
use super::means::Means;
use super::{Candidate, Consideration, Error, Found, Places, State, hub};
use crate::config::cli::{self, CliConfig, OciDefaults};
use crate::disk;

/// The largest file that is read, in bytes. Real ones have some thousands.
pub(super) const LARGEST: u64 = 1 << 20;

/// Reads every source; helpers will be given `patience`.
pub(super) fn discover(places: &Places, patience: Duration) -> Result<Found, Error> {
    let mut search = Search::default();
    if let Some(path) = &places.authfile {
        search.named(path, false)?;
    }
    let (defaults, beside) = search.cli_config(places)?;
    let ambient = places.authfile.is_none();
    match defaults.files {
        _ if !ambient => {}
        Some(files) => {
            for file in files {
                search.named(&beside.join(file), true)?;
            }
        }
        None => {
            for place in places.files() {
                if defaults.discover {
                    search.ambient(place.path, place.clients);
                } else {
                    search.consider(place.path, State::SwitchedOff, place.clients);
                }
            }
        }
    }
    let helpers = Helpers::new(places.environment.path.clone(), patience);
    Ok(Found::new(search.sources, search.candidates, helpers))
}

#[derive(Default)]
struct Search {
    sources: Vec<Consideration>,
    candidates: Vec<Candidate>,
}

impl Search {
    /// The first CLI configuration that is there: what it says about files, and its directory.
    fn cli_config(&mut self, places: &Places) -> Result<(OciDefaults, PathBuf), Error> {
        for path in places.cli_configs() {
            match read_config(&path) {
                Ok(Some(config)) => {
                    let beside = path.parent().unwrap_or(Path::new("")).to_owned();
                    return Ok((self.blocks(path, config), beside));
                }
                Err(error) if places.cli_config.is_some() => return Err(error),
                Err(error) => {
                    self.consider(path, State::Broken(error), true);
                    break;
                }
                Ok(None) if places.cli_config.is_some() => {
                    // Read again for the system's own words.
                    disk::read_regular(&path, LARGEST)?;
                }
                Ok(None) => {
                    self.consider(path, State::Absent, true);
                }
            }
        }
        Ok((OciDefaults::default(), PathBuf::new()))
    }

    fn blocks(&mut self, path: PathBuf, config: CliConfig) -> OciDefaults {
        let defaults = config.oci_defaults;
        let state = State::Read {
            entries: config.oci_credentials.len(),
            global: defaults.helper.is_some(),
            passed_over: Vec::new(),
        };
        let source = self.consider(path, state, true);
        let blocks = config.oci_credentials.into_iter().map(|block| Candidate {
            key: format!("oci_credentials \"{}\"", block.prefix),
            prefix: Some(hub::one_name(block.prefix)),
            means: Ok(block.means.into()),
            source,
        });
        let helper = defaults.helper.clone().map(|helper| Candidate {
            key: "oci_default_credentials".to_owned(),
            prefix: None,
            means: Ok(Means::Helper(helper)),
            source,
        });
        self.candidates.extend(blocks.chain(helper));
        defaults
    }

    /// A file that the user named: it must be there, and be one.
    fn named(&mut self, path: &Path, clients: bool) -> Result<(), Error> {
        let file = read_file(path)?;
        self.file(path.to_owned(), file, clients);
        Ok(())
    }

    /// A file of the default places.
    fn ambient(&mut self, path: PathBuf, clients: bool) {
        match read_file(&path) {
            Ok(file) => self.file(path, file, clients),
            Err(Error::Disk(error)) if error.is_not_found() => {
                self.consider(path, State::Absent, clients);
            }
            Err(error) => {
                self.consider(path, State::Broken(error), clients);
            }
        }
    }

    fn file(&mut self, path: PathBuf, file: DockerFile, clients: bool) {
        let state = State::Read {
            entries: file.entries.len(),
            global: file.store.is_some(),
            passed_over: file.passed_over,
        };
        let source = self.consider(path, state, clients);
        let entries = file.entries.into_iter().map(|entry| Candidate {
            prefix: Some(entry.prefix),
            means: entry.means,
            key: entry.key,
            source,
        });
        let store = file.store.map(|helper| Candidate {
            prefix: None,
            means: helper.map(Means::Helper),
            key: "credsStore".to_owned(),
            source,
        });
        self.candidates.extend(entries.chain(store));
    }

    fn consider(&mut self, path: PathBuf, state: State, clients: bool) -> usize {
        self.sources.push(Consideration {
            path,
            state,
            clients,
            used: false,
            failures: Vec::new(),
        });
        self.sources.len() - 1
    }
}

fn read_file(path: &Path) -> Result<DockerFile, Error> {
    let bytes = disk::read_regular(path, LARGEST)?;
    DockerFile::parse(&bytes).map_err(|error| malformed(path, &error))
}

pub(super) fn read_config(path: &Path) -> Result<Option<CliConfig>, Error> {
    let read = disk::read_regular(path, cli::LARGEST as u64);
    let Some(bytes) = disk::if_exists(read)? else {
        return Ok(None);
    };
    let config = CliConfig::parse(&bytes).map_err(|source| Error::Config {
        path: path.to_owned(),
        source: Arc::new(source),
    })?;
    Ok(Some(config))
}

/// That a file is not JSON of its kind, without quoting it.
pub(super) fn malformed(path: &Path, error: &serde_json::Error) -> Error {
    Error::Document {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
    }
}
