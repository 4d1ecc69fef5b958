//! The stores and sources in which providers are looked up: the one that `--from` names, or the methods of the client's CLI configuration.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::config::cli::{InstallationMethod, MethodKind};
use tfoci::error::{Category, printable_path};
use tfoci::examine::StoredProvider;
use tfoci::lock::Method;
use tfoci::lockfile::Client;
use tfoci::source::SourceAddr;

use crate::cli::error::CommandError;
use crate::cli::printer::Tone;
use crate::cli::session::Session;
use crate::cli::session::place::{Places, StoreOrSource};

/// The installation methods of a run, in the order in which clients use them.
pub(super) struct Methods<'a> {
    session: &'a Session,
    all: Vec<(Selector, StoreOrSource)>,
    /// The CLI configuration that lists the methods.
    file: Option<PathBuf>,
}

/// Selects the providers of a method; `None` for all.
type Selector = Option<InstallationMethod>;

impl<'a> Methods<'a> {
    /// The method that `--from` names, or the methods of the CLI configuration. `strangers` are hosts that only configurations name.
    pub(super) fn new(
        from: Option<&str>,
        client: Option<Client>,
        strangers: &BTreeSet<&Hostname>,
        session: &'a Session,
    ) -> Result<Self, CommandError> {
        let places = Places::new(session)?;
        session.distrust(&places.access.http, strangers.iter().copied())?;
        if let Some(text) = from {
            return Ok(Self {
                session,
                all: vec![(None, places.open(text)?)],
                file: None,
            });
        }
        let config = session.cli_config(client.unwrap_or(Client::OpenTofu))?;
        let (file, config) = config.unzip();
        let mut methods = Self {
            session,
            all: Vec::new(),
            file,
        };
        match config.and_then(|config| config.installation) {
            None => methods.all.push((None, places.origin())),
            Some(installation) => {
                for method in installation {
                    let place = place(&places, &method.kind, client)?;
                    let place = place.map(|place| (Some(method), place));
                    methods.all.extend(place);
                }
            }
        }
        Ok(methods)
    }

    /// Checks that each store has a repository of its own for each of these providers.
    pub(super) fn check(&self, providers: &[ProviderAddr]) -> Result<(), CommandError> {
        for (selector, place) in &self.all {
            if let StoreOrSource::Store(store) = place {
                let matching = providers.iter().filter(|one| is_for(selector, one));
                store.0.check(&matching.cloned().collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// The methods that are asked for this provider, in order of preference.
    pub(super) fn of(&self, provider: &ProviderAddr) -> Result<Vec<Method>, CommandError> {
        let mut methods = Vec::new();
        for (_, place) in self.all.iter().filter(|(one, _)| is_for(one, provider)) {
            methods.push(match place {
                StoreOrSource::Source(source) => Method::Source(source.clone()),
                StoreOrSource::Store(store) => {
                    let (endpoint, store) = &**store;
                    let stored = StoredProvider::of(endpoint, store.clone(), provider)?;
                    Method::Store(Box::new(stored))
                }
            });
        }
        if methods.is_empty() {
            let file = self.file.as_deref().map(printable_path).unwrap_or_default();
            let message = format!("no installation method is for {provider}\n  in {file}");
            return Err(CommandError::plain(Category::NotFound, message)
                .advising("`tfoci doctor` shows what the client does with each method"));
        }
        Ok(methods)
    }

    /// Prints with `-v` where a provider is looked up.
    pub(super) fn report(&self, provider: &ProviderAddr, methods: &[Method]) {
        let file = self.file.as_deref().map(printable_path);
        let file = file.map(|file| format!(" ({file})")).unwrap_or_default();
        for method in methods {
            let text = format!("{provider} from {}{file}", method.place(provider));
            self.session
                .printer
                .detail(Tone::Plain, "Looking up", &text);
        }
    }
}

/// The place of an installation method; `None` for one that the client passes over.
fn place(
    places: &Places<'_>,
    kind: &MethodKind,
    client: Option<Client>,
) -> Result<Option<StoreOrSource>, CommandError> {
    Ok(Some(match kind {
        MethodKind::Direct => places.origin(),
        MethodKind::OciMirror {
            repository_template,
        } if client != Some(Client::Terraform) => places.store(repository_template)?,
        MethodKind::NetworkMirror { url: Some(url) } => {
            places.mirror(&SourceAddr::NetworkMirror(url.clone()))?
        }
        MethodKind::FilesystemMirror { path: Some(path) } => {
            places.mirror(&SourceAddr::FilesystemMirror(path.into()))?
        }
        _ => return Ok(None),
    }))
}

fn is_for(selector: &Selector, provider: &ProviderAddr) -> bool {
    selector
        .as_ref()
        .is_none_or(|method| method.is_for(provider))
}
