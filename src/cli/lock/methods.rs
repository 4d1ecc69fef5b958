//! Where providers are looked up: what `--from` names, or the installation methods of the clients' CLI configuration.

use std::path::{Path, PathBuf};

use tfoci::address::ProviderAddr;
use tfoci::config::cli::{InstallationMethod, MethodKind};
use tfoci::error::printable_path;
use tfoci::lock::Method;
use tfoci::lockfile::Client;
use tfoci::outcome::{Failure, Problem};
use tfoci::source::filesystem_mirror::FilesystemMirror;
use tfoci::source::network_mirror::NetworkMirror;
use tfoci::source::origin::Origin;
use tfoci::source::{self, Source, SourceAddr};
use tfoci::store::{Endpoint, Store};

use crate::cli::error::CommandError;
use crate::cli::session::{Session, check, stored_provider};

/// The installation methods of a run, in the order in which clients use them.
pub(super) struct Methods<'a> {
    session: &'a Session,
    all: Vec<(Selector, Place)>,
    /// The CLI configuration that lists the methods.
    file: Option<PathBuf>,
}

/// Selects the providers of a method; `None` for all.
type Selector = Option<InstallationMethod>;

enum Place {
    Store(Box<(Endpoint, Store)>),
    Source(Source),
}

impl<'a> Methods<'a> {
    /// The method that `--from` names, or those of the CLI configuration.
    pub(super) fn new(from: Option<&str>, session: &'a Session) -> Result<Self, CommandError> {
        let opened = Opened::new(session)?;
        if let Some(text) = from {
            return Ok(Self {
                session,
                all: vec![(None, opened.place(text)?)],
                file: None,
            });
        }
        let config = session.locations().cli_config_of(Client::OpenTofu)?;
        let (file, config) = config.unzip();
        let methods = config.and_then(|config| config.installation);
        let all = match methods {
            None => vec![(None, opened.place(ORIGIN)?)],
            Some(methods) => {
                let mut all = Vec::new();
                for method in methods {
                    if let Some(place) = opened.method(&method.kind, file.as_deref())? {
                        all.push((Some(method), place));
                    }
                }
                all
            }
        };
        Ok(Self { session, all, file })
    }

    /// Checks that each store has a repository of its own for each of these providers.
    pub(super) fn check(&self, providers: &[ProviderAddr]) -> Result<(), CommandError> {
        for (selector, place) in &self.all {
            if let Place::Store(store) = place {
                let matching = providers.iter().filter(|one| is_for(selector, one));
                check(&store.0, &matching.cloned().collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// The methods for a provider.
    pub(super) fn of(&self, provider: &ProviderAddr) -> Result<Vec<Method>, CommandError> {
        let matching = self.all.iter().filter(|(one, _)| is_for(one, provider));
        let methods: Vec<Method> = matching
            .map(|(_, place)| {
                Ok(match place {
                    Place::Source(source) => Method::Source(source.clone()),
                    Place::Store(store) => {
                        let stored = stored_provider(&store.0, &store.1, provider);
                        Method::Store(stored.map_err(Failure::from)?)
                    }
                })
            })
            .collect::<Result<_, CommandError>>()?;
        if methods.is_empty() {
            return Err(CommandError::NoMethod {
                provider: Box::new(provider.clone()),
                file: self.file.clone().unwrap_or_default(),
            });
        }
        for method in &methods {
            let file = self.file.as_deref().map(printable_path);
            let file = file.map(|file| format!(" ({file})")).unwrap_or_default();
            let text = format!("{provider} from {}{file}", method.name(provider));
            self.session.printer.detail("Looking up", &text);
        }
        Ok(methods)
    }
}

/// The source that asks each provider's own registry.
const ORIGIN: &str = "origin";

/// What the methods share: one client, so that each host authenticates and is discovered once.
struct Opened<'a> {
    session: &'a Session,
    registry: tfoci::store::Registry,
    access: source::Access,
    origin: Origin,
}

impl<'a> Opened<'a> {
    fn new(session: &'a Session) -> Result<Self, CommandError> {
        let http = session.http()?;
        let access = session.origin_access(http.clone())?;
        Ok(Self {
            session,
            registry: session.registry(&http),
            origin: Origin::new(access.clone()),
            access,
        })
    }

    /// The store or source that `--from` names.
    fn place(&self, text: &str) -> Result<Place, CommandError> {
        if text == ORIGIN {
            return Ok(Place::Source(Source::Origin(self.origin.clone())));
        }
        match text.parse() {
            Ok(SourceAddr::NetworkMirror(url)) => self.network_mirror(&url),
            Ok(SourceAddr::FilesystemMirror(directory)) => filesystem_mirror(&directory),
            Err(_) => self.store(text),
        }
    }

    /// The place of an installation method; `None` for a method that tfoci does not know.
    fn method(
        &self,
        kind: &MethodKind,
        file: Option<&Path>,
    ) -> Result<Option<Place>, CommandError> {
        Ok(match kind {
            MethodKind::Direct => Some(self.place(ORIGIN)?),
            MethodKind::OciMirror {
                repository_template,
            } => Some(self.store(repository_template)?),
            MethodKind::NetworkMirror { url: Some(url) } => Some(self.network_mirror(url)?),
            MethodKind::FilesystemMirror { path: Some(path) } => {
                Some(filesystem_mirror(Path::new(path))?)
            }
            other => {
                let name = match other {
                    MethodKind::Other(name) => name.as_str(),
                    MethodKind::NetworkMirror { .. } => "network_mirror",
                    _ => "filesystem_mirror",
                };
                let file = file.map(printable_path).unwrap_or_default();
                let text = format!("{file}: tfoci skips the installation method `{name}`");
                self.session.printer.warn_once(text);
                None
            }
        })
    }

    fn network_mirror(&self, url: &str) -> Result<Place, CommandError> {
        let mirror = NetworkMirror::new(self.access.clone(), url);
        let mirror = mirror.map_err(|error| Failure::from(Problem::from(error)))?;
        Ok(Place::Source(Source::NetworkMirror(mirror)))
    }

    fn store(&self, text: &str) -> Result<Place, CommandError> {
        let endpoint = self.session.endpoint(text)?;
        let store = endpoint.read(self.registry.clone());
        let store = store.map_err(Problem::from).map_err(Failure::from)?;
        Ok(Place::Store(Box::new((endpoint, store))))
    }
}

fn filesystem_mirror(directory: &Path) -> Result<Place, CommandError> {
    let mirror = FilesystemMirror::open(directory);
    let mirror = mirror.map_err(|error| Failure::from(Problem::from(error)))?;
    Ok(Place::Source(Source::FilesystemMirror(mirror)))
}

fn is_for(selector: &Selector, provider: &ProviderAddr) -> bool {
    selector
        .as_ref()
        .is_none_or(|method| method.is_for(provider))
}
