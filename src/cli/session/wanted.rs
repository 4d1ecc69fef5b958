//! The versions that arguments select in stores, by address, digest or reference.

use futures_util::{StreamExt as _, stream};

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::constraint::VersionConstraints;
use tfoci::digest::Digest;
use tfoci::error::{Category, printable};
use tfoci::event::Subject;
use tfoci::examine::StoredProvider;
use tfoci::install::Task;
use tfoci::jobs::PROVIDERS;
use tfoci::oci::reference::version_of;
use tfoci::oci::{Repository, Tag};
use tfoci::outcome::{Failure, Problem};
use tfoci::selection::Selection;
use tfoci::store::{Endpoint, Registry, Repo, Store};
use tfoci::version::Version;

use super::Session;
use super::everything::Everything;
use crate::cli::error::CommandError;

/// What arguments select.
pub(in crate::cli) struct Wanted {
    /// The versions, by provider.
    pub(in crate::cli) versions: Vec<WantedVersions>,
    /// What the store lists, if no argument selects versions.
    pub(in crate::cli) everything: Option<Everything>,
}

/// Versions of a provider in a store.
pub(in crate::cli) struct WantedVersions {
    /// The provider, and which of its versions.
    pub(in crate::cli) selection: Selection,
    /// Where they are, or why the store cannot have them.
    pub(in crate::cli) from: Result<StoredProvider, Failure>,
}

impl Wanted {
    /// Reads each provider, in order. Returns what was read and what failed.
    pub(in crate::cli) async fn read<T>(
        self,
        read: impl AsyncFn(WantedVersions) -> Result<T, Failure>,
    ) -> (Vec<T>, Vec<CommandError>) {
        let incomplete = self.everything.and_then(|everything| everything.failure());
        let (mut done, mut failed) = (Vec::new(), Vec::from_iter(incomplete));
        let reads: Vec<_> = self.versions.into_iter().map(|one| read(one)).collect();
        let mut reads = stream::iter(reads).buffered(PROVIDERS);
        while let Some(read) = reads.next().await {
            match read {
                Ok(read) => done.push(read),
                Err(failure) => failed.push(failure.into()),
            }
        }
        (done, failed)
    }
}

/// An argument that selects versions.
enum Argument {
    /// `ADDR[@CONSTRAINTS]`
    Address(Selection),
    Reference(Reference),
}

/// `REPOSITORY:TAG@DIGEST`, as `push` prints it.
struct Reference {
    text: String,
    repository: String,
    version: Version,
    digest: Digest,
}

impl Session {
    /// The store of these arguments: what `--from` names. Without it, what the settings name, if an argument is no reference.
    pub(in crate::cli) fn store_for(
        &self,
        from: Option<String>,
        texts: &[String],
    ) -> Result<Option<String>, CommandError> {
        let are_references = !texts.is_empty() && texts.iter().all(|text| is_reference(text));
        match from.is_some() || are_references {
            true => Ok(from),
            false => self.set_store(),
        }
    }

    /// Finds the versions that the arguments select: all that the store `from` has, if there are none. References name their stores
    /// themselves.
    pub(in crate::cli) async fn wanted(
        &self,
        texts: &[String],
        from: Option<&str>,
        registry: &Registry,
    ) -> Result<Wanted, CommandError> {
        let parse = |text: &str| Argument::parse(text, self.default_host());
        let mut arguments: Vec<Argument> = texts
            .iter()
            .map(|text| parse(text))
            .collect::<Result<_, _>>()?;
        let mut store = from;
        if let Some(text) = from.filter(|text| is_reference(text)) {
            if !arguments.is_empty() {
                return Err(two_stores());
            }
            arguments.push(parse(text)?);
            store = None;
        }
        let store = self.store_of(&arguments, store, registry)?;
        let are_listed = arguments.is_empty();
        let mut everything = None;
        if let Some((endpoint, store)) = &store {
            if are_listed {
                let host = self.default_host();
                let all = self.everything(endpoint, store, host).await?;
                all.note(&self.printer);
                let providers = all.listed.providers.iter().cloned();
                arguments.extend(providers.map(|one| Argument::Address(any(one))));
                everything = Some(all);
            }
            let addresses = arguments.iter().filter_map(Argument::address);
            let providers = addresses.map(|selection| selection.provider.clone());
            endpoint.check(&providers.collect::<Vec<_>>())?;
        }
        let mut versions = Vec::new();
        for argument in arguments {
            versions.push(match (argument, &store) {
                (Argument::Reference(reference), _) => self.referred(reference, registry).await?,
                (Argument::Address(selection), Some((endpoint, store))) => {
                    let provider = &selection.provider;
                    let from = StoredProvider::of(endpoint, store.clone(), provider);
                    let from = from.map(|from| StoredProvider {
                        is_listed: are_listed,
                        ..from
                    });
                    let (subject, at) = (Subject::provider(provider), Some(endpoint.whole()));
                    let from = from.map_err(|error| Problem::from(error).of(subject, at));
                    WantedVersions { selection, from }
                }
                (Argument::Address(_), None) => continue,
            });
        }
        Ok(Wanted {
            versions,
            everything,
        })
    }

    /// The installations of these versions. Reports those that the store cannot have.
    pub(in crate::cli) fn tasks(&self, wanted: Vec<WantedVersions>) -> Vec<Task> {
        let task = |WantedVersions { selection, from }| match from {
            Ok(from) => Some(Task { from, selection }),
            Err(failure) => {
                self.report.failed(failure.into());
                None
            }
        };
        wanted.into_iter().filter_map(task).collect()
    }

    /// The store of the addresses; `None` if all arguments are references.
    fn store_of(
        &self,
        arguments: &[Argument],
        from: Option<&str>,
        registry: &Registry,
    ) -> Result<Option<(Endpoint, Store)>, CommandError> {
        let is_needed = arguments.is_empty() || arguments.iter().any(|one| one.address().is_some());
        match (from, is_needed) {
            (Some(text), true) => {
                let endpoint = self.endpoint(text)?;
                let store = self.open_store(&endpoint, registry.clone())?;
                Ok(Some((endpoint, store)))
            }
            (Some(_), false) => Err(two_stores()),
            (None, true) => Err(CommandError::usage("nothing says which store to read")
                .advising("name it with `--from STORE`, or give a reference as `push` prints it")),
            (None, false) => Ok(None),
        }
    }

    /// The version that a reference names. The name of a repository in a registry may not tell the provider, so its index does.
    async fn referred(
        &self,
        reference: Reference,
        registry: &Registry,
    ) -> Result<WantedVersions, CommandError> {
        let (repo, tag) = reference.open(registry)?;
        let place = repo.place();
        let Reference { text, version, .. } = reference;
        let failed = |problem: Problem| Failure {
            at: Some(place.clone()),
            ..Failure::from(problem)
        };
        let artifact = repo.artifact(&tag).await.map_err(Problem::from);
        let artifact = artifact.map_err(failed)?;
        let artifact = artifact.ok_or_else(|| failed(Problem::no_version(&version)))?;
        let Some(provider) = artifact.index.provider() else {
            let text = printable(&text);
            let message = format!("the index at {text} does not name its provider");
            return Err(CommandError::plain(Category::Malformed, message)
                .advising("name the provider and the store: `ADDR@VERSION --from STORE`"));
        };
        Ok(WantedVersions {
            from: Ok(StoredProvider::new(provider.clone(), repo, place)),
            selection: Selection {
                provider,
                constraints: VersionConstraints::exactly(version),
            },
        })
    }
}

impl Reference {
    /// The repository, and the tag of the version in it.
    fn open(&self, registry: &Registry) -> Result<(Repo, Tag), CommandError> {
        // `bundle:FILE/HOSTNAME/NAMESPACE/TYPE`. Other stores have the name of the repository in their address.
        let mut slashes = self.repository.rmatch_indices('/');
        let slash = slashes
            .nth(2)
            .filter(|_| self.repository.starts_with("bundle:"));
        let split = slash.and_then(|(at, _)| self.repository.split_at_checked(at));
        let (address, directory) = split.unwrap_or((&self.repository, ""));
        let endpoint = Endpoint::parse(address, split.is_none())?;
        let store = endpoint.read(registry.clone())?;
        let name = match &store {
            Store::Registry(_) => Repository::in_registry(&self.repository).ok(),
            Store::Layout(_) => Some(Repository::root()),
            Store::Bundle(_) => Repository::of_directory(directory.trim_start_matches('/')),
        };
        let name = name.ok_or_else(|| no_reference(&self.text))?;
        let tag = Tag::of_version(&self.version)?;
        let repo = Repo::new(store, name).pinned(tag.clone(), self.digest);
        Ok((repo, tag))
    }
}

impl Argument {
    fn parse(text: &str, default_host: &Hostname) -> Result<Self, CommandError> {
        let Some((name, digest)) = split_digest(text) else {
            return Ok(Self::Address(Selection::parse(text, default_host)?));
        };
        let (repository, tag) = split_tag(name).ok_or_else(|| no_reference(text))?;
        let version = version_of(tag).map_err(|_| no_reference(text))?;
        Ok(Self::Reference(Reference {
            text: text.to_owned(),
            repository: repository.to_owned(),
            version,
            digest: digest.parse()?,
        }))
    }

    fn address(&self) -> Option<&Selection> {
        match self {
            Self::Address(selection) => Some(selection),
            Self::Reference(_) => None,
        }
    }
}

/// All versions of a provider.
fn any(provider: ProviderAddr) -> Selection {
    Selection {
        provider,
        constraints: VersionConstraints::any(),
    }
}

/// The text before the digest, and the digest.
fn split_digest(text: &str) -> Option<(&str, &str)> {
    let (name, digest) = text.rsplit_once('@')?;
    digest.starts_with("sha256:").then_some((name, digest))
}

/// The repository and the tag. The colon before a port is followed by a `/`.
fn split_tag(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'))
}

fn is_reference(text: &str) -> bool {
    split_digest(text).is_some_and(|(name, _)| split_tag(name).is_some())
}

fn two_stores() -> CommandError {
    CommandError::usage("`--from` names a store, and so does each reference")
        .advising("leave out `--from`")
}

fn no_reference(text: &str) -> CommandError {
    let text = printable(text);
    CommandError::usage(format!(
        "`{text}` does not refer to a version\n  expected REPOSITORY:VERSION@DIGEST, as `push` prints it"
    ))
}
