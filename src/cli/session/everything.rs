//! All that a store has, for commands that were given no addresses.

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::error::{Category, FEW, listed, printable, printable_path};
use tfoci::examine::StoredProvider;
use tfoci::outcome::Failure;
use tfoci::store::{self, Endpoint, LayoutFault, Providers, Store};

use super::Session;
use crate::cli::error::CommandError;
use crate::cli::printer::{Printer, Tone};

/// What a store lists.
pub(in crate::cli) struct Everything {
    /// Its providers, and what it has besides.
    pub(in crate::cli) listed: Providers,
    endpoint: Endpoint,
    pub(in crate::cli) store: Store,
    /// The host that was taken for all providers, because neither the names of repositories nor an option tell it.
    assumed_host: Option<Hostname>,
}

impl Everything {
    /// Whether the store may have a provider that it does not list. It may if a layout is incomplete, if the provider is of another host than the
    /// assumed one, if its repository in a registry has tags, or if the registry does not answer that. A registry may list only some of its
    /// repositories to a user.
    pub(in crate::cli) async fn may_have(&self, provider: &ProviderAddr) -> bool {
        let host = self.assumed_host.as_ref();
        if !self.listed.unfinished.is_empty()
            || host.is_some_and(|host| host != provider.hostname())
        {
            return true;
        }
        let stored = StoredProvider::of(&self.endpoint, self.store.clone(), provider);
        let Ok(stored) = stored else {
            return false;
        };
        let tags = stored.repo.tags().await;
        !tags.is_ok_and(|tags| tags.is_none_or(|tags| tags.is_empty()))
    }

    /// The failure because of an incomplete layout, or a missing part of a bundle: a command that reads everything has not read its provider.
    pub(in crate::cli) fn failure(&self) -> Option<CommandError> {
        let path = self.listed.unfinished.first().cloned();
        let fault = LayoutFault::Incomplete;
        let incomplete = path.map(|path| store::Error::Layout { path, fault });
        let incomplete = incomplete.or_else(|| self.store.incomplete())?;
        Some(incomplete.into())
    }

    /// Prints which repositories are left out, and which host was assumed.
    pub(in crate::cli) fn note(&self, printer: &Printer) {
        let endpoint = &self.endpoint;
        if let Some(first) = self.listed.others.first() {
            let (count, first) = (self.listed.others.len(), endpoint.name(first));
            let line =
                format!("repositories that do not match {endpoint}: {count}, such as {first}");
            printer.line(Tone::Plain, "Skipped", &line);
        }
        if let Some(host) = &self.assumed_host {
            let line = format!(
                "the host {host}, since {endpoint} has no {{hostname}}; `--default-host` names another"
            );
            printer.line(Tone::Plain, "Assumed", &line);
        }
    }

    /// Warns of incomplete layouts.
    pub(in crate::cli) fn warn(&self, printer: &Printer) {
        if let Some(text) = self.incomplete() {
            printer.warning(&text);
        }
    }

    /// A warning of incomplete layouts; `None` if there are none.
    pub(in crate::cli) fn incomplete(&self) -> Option<String> {
        let paths = self.listed.unfinished.iter();
        let paths: Vec<String> = paths.map(|path| printable_path(path)).collect();
        let text = format!(
            "incomplete layouts are left out: {}. They may be written just now, or not copied to the end. If the versions of one are gone for good, delete its directory",
            listed(&paths, FEW)
        );
        (!paths.is_empty()).then_some(text)
    }
}

impl Session {
    /// All providers of a store, if the store can list them. `host` is that of all providers, if the store's template has no `${hostname}`.
    pub(in crate::cli) async fn everything(
        &self,
        endpoint: &Endpoint,
        store: &Store,
        host: &Hostname,
    ) -> Result<Everything, CommandError> {
        let providers = endpoint.providers(store, host).await;
        let providers = providers.map_err(|error| Failure {
            at: Some(endpoint.whole()),
            ..Failure::from(error)
        });
        let listed = providers?.ok_or_else(|| CommandError::no_selection(&endpoint.to_string()))?;
        // An empty store is usually a wrong directory. A job that copies nothing must fail, so that the mistake is seen.
        if listed.providers.is_empty() {
            return Err(empty(endpoint, &listed));
        }
        let is_assumed = listed.is_host_assumed && *host == Hostname::default_origin();
        Ok(Everything {
            listed,
            endpoint: endpoint.clone(),
            store: store.clone(),
            assumed_host: is_assumed.then(|| host.clone()),
        })
    }
}

/// The error of a store without any provider.
fn empty(endpoint: &Endpoint, listed: &Providers) -> CommandError {
    let store = printable(&endpoint.to_string());
    let other = listed.others.first();
    let other = other.map(|name| format!("\n  received {}", printable(&endpoint.name(name))));
    let (detail, advice) = match endpoint.template() {
        Some(_) => (
            other.unwrap_or_default(),
            "write the template like the names in the registry, or name the providers",
        ),
        None => (
            "\n  expected an OCI layout in DIR/HOSTNAME/NAMESPACE/TYPE".to_owned(),
            store::CHECK_PATH,
        ),
    };
    CommandError::plain(
        Category::NotFound,
        format!("no provider is in {store}{detail}"),
    )
    .advising(advice)
}
