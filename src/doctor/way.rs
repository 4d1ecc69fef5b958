//! The way of one provider, from its installation method to its package.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::SystemTime;

use futures_util::StreamExt as _;
use url::Url;

use super::host::{of_source, of_store};
use super::{Code, Doctor, Finding, Required, Step};
use crate::address::ProviderPattern;
use crate::archive::Limits;
use crate::blob::{BlobSource, ReadError};
use crate::config::cli::MethodKind;
use crate::disk;
use crate::error::{FEW, counted, listed, printable_path};
use crate::examine::{StoredProvider, Versions};
use crate::hash::PackageHash;
use crate::lockfile::Client;
use crate::oci::reference::Ignored;
use crate::oci::{Part, Refusal, Tag};
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::source::filesystem_mirror::FilesystemMirror;
use crate::source::network_mirror::{NetworkMirror, base_url};
use crate::source::origin::Origin;
use crate::source::{self, AvailableVersion, Source};
use crate::store::{self, Endpoint};
use crate::trust::Rule;
use crate::trust::rule::{Unsigned, Weak};
use crate::verify::code_of;
use crate::version::Version;

/// A place that a method names.
enum Stop {
    Store(Box<StoredProvider>),
    Source(Source, Vec<AvailableVersion>),
}

/// The way of a provider, as far as it was walked.
struct Way<'a> {
    doctor: &'a Doctor,
    required: &'a Required,
    platform: Platform,
    /// The step that is being walked.
    step: &'static str,
    steps: Vec<Step>,
    /// What all methods list, whether clients can fetch it or not.
    versions: BTreeSet<Version>,
}

/// What a step gives, or what stops the client there.
type Walked<T> = Result<T, Box<Finding>>;

impl Doctor {
    /// Walks the way of a provider.
    pub(super) async fn way(&self, required: &Required) -> Vec<Step> {
        let mut way = Way {
            doctor: self,
            required,
            platform: Platform::current(),
            step: "method",
            steps: Vec::new(),
            versions: BTreeSet::new(),
        };
        if let Err(mut finding) = way.go().await {
            finding.provider = Some(required.provider.clone());
            way.steps.push(Step::bad(way.step, *finding));
        }
        way.steps
    }
}

impl Way<'_> {
    async fn go(&mut self) -> Walked<()> {
        let (mut places, mut missing) = (Vec::new(), None);
        for method in self.methods()? {
            match self.place(&method).await {
                Ok(place) => places.push(place),
                // Another method may know the provider. Clients fail for every other reason.
                Err(finding) if finding.code == Code::ProviderMissing => missing = Some(finding),
                Err(finding) => return Err(finding),
            }
        }
        let Some(last) = places.len().checked_sub(1) else {
            return missing.map_or(Ok(()), Err);
        };
        let version = self.version()?;
        // Clients ask the methods in their order, and skip one that has no package for the platform.
        for (position, place) in places.iter().enumerate() {
            let reached = match place {
                Stop::Store(stored) => self.stored(stored, &version).await,
                Stop::Source(source, all) => self.released(source, all, &version).await,
            };
            match reached {
                Err(finding) if finding.code == Code::PlatformMissing && position < last => {}
                reached => return reached,
            }
        }
        Ok(())
    }

    fn good(&mut self, text: impl Into<String>) {
        self.steps.push(Step::good(self.step, text));
    }

    /// The methods for the provider; none if a directory replaces it.
    fn methods(&mut self) -> Walked<Vec<MethodKind>> {
        let machine = &self.doctor.machine;
        let provider = &self.required.provider;
        let config = machine.configured();
        let default_host = machine.client.default_host();
        let is_replaced = |text: &String| {
            ProviderPattern::parse(text, &default_host).is_ok_and(|one| one.matches(provider))
        };
        let mut overrides = config.iter().filter_map(|config| config.overrides.as_ref());
        if overrides.any(|overrides| overrides.providers.iter().any(is_replaced)) {
            self.good("the directory that `dev_overrides` names");
            return Ok(Vec::new());
        }
        let Some(methods) = config.and_then(|config| config.installation.as_ref()) else {
            self.good("direct, since there is no `provider_installation`");
            return Ok(vec![MethodKind::Direct]);
        };
        let is_known = |kind: &MethodKind| match kind {
            MethodKind::OciMirror { .. } => machine.client == Client::OpenTofu,
            MethodKind::Other(_) => false,
            _ => true,
        };
        let methods = methods.iter().filter(|one| one.is_for(provider));
        let kinds = methods.map(|method| method.kind.clone());
        let kinds: Vec<MethodKind> = kinds.filter(is_known).collect();
        if kinds.is_empty() {
            let message = "no method of `provider_installation` is for this provider";
            return Err(Finding::new(Code::NoMethod, message).into());
        }
        let names: Vec<&str> = kinds.iter().map(MethodKind::name).collect();
        self.good(names.join(", then "));
        Ok(kinds)
    }

    /// Asks a host whether it is there.
    async fn host(&mut self, url: Option<Url>) -> Walked<()> {
        self.step = "host";
        if let Some(url) = url {
            self.doctor.host(&url).await?;
            self.good(url.authority());
        }
        Ok(())
    }

    /// Goes to the place of a method, and lists the versions there.
    async fn place(&mut self, method: &MethodKind) -> Walked<Stop> {
        let access = self.doctor.machine.access.clone();
        let provider = &self.required.provider;
        let source = match method {
            MethodKind::OciMirror {
                repository_template,
            } => return self.repository(repository_template).await,
            MethodKind::NetworkMirror { url } => {
                let url = url.as_deref().unwrap_or_default();
                self.host(base_url(url).ok()).await?;
                NetworkMirror::new(access, url).map(Source::NetworkMirror)
            }
            MethodKind::FilesystemMirror { path } => {
                let path = path.as_deref().unwrap_or_default();
                FilesystemMirror::open(path).map(Source::FilesystemMirror)
            }
            _ => {
                let host = provider.hostname().as_ascii();
                let url = format!("https://{host}/.well-known/terraform.json");
                self.host(url.parse().ok()).await?;
                Ok(Source::Origin(Origin::new(access)))
            }
        };
        self.step = "versions";
        let source = source.map_err(of_source(Code::ProviderMissing))?;
        let available = match &source {
            Source::FilesystemMirror(mirror) => mirror.installable_versions(provider),
            source => {
                let available = source.available_versions(provider);
                available.await.map(|found| found.versions)
            }
        };
        let available = available.map_err(of_source(Code::ProviderMissing))?;
        let versions = available.iter().map(|one| one.version.version().clone());
        self.versions.extend(versions);
        self.good(counted(available.len(), "version"));
        Ok(Stop::Source(source, available))
    }

    /// Lists the tags of the repository that a template names for the provider.
    async fn repository(&mut self, template: &str) -> Walked<Stop> {
        self.step = "repository";
        let endpoint = Endpoint::parse(template, true).map_err(as_code(Code::TemplateRefused))?;
        let store = endpoint.read(self.doctor.registry.clone());
        let store = store.map_err(as_code(Code::TemplateRefused))?;
        let stored = StoredProvider::of(&endpoint, store, &self.required.provider);
        let stored = stored.map_err(as_code(Code::TemplateRefused))?;
        let repo = &stored.repo;
        self.good(repo.to_string());
        let registry = repo.registry_host().unwrap_or_default();
        self.host(format!("https://{registry}/v2/").parse().ok())
            .await?;
        self.step = "credentials";
        let tags = match repo.tags().await {
            Ok(tags) => tags,
            Err(error) => return Err(self.refused(&stored, error).await),
        };
        let used = &self.doctor.machine.access.credentials;
        let used = repo.credential(used).await;
        self.good(used.unwrap_or_else(|| "none, and the registry asks for none".to_owned()));
        self.step = "tags";
        let Some(tags) = tags else {
            let message = format!("the registry has no repository {repo}");
            return Err(Finding::new(Code::ProviderMissing, message).into());
        };
        let listed = Versions::of(tags);
        for (tag, reason) in listed.ignored {
            match reason {
                Ignored::NotCanonical { version, .. } => self.versions.insert(version),
                Ignored::NumberTooLarge => {
                    let message =
                        format!("clients crash on the tag `{tag}`, since a number exceeds 64 bits");
                    return Err(Finding::new(Code::TagCrashesClients, message).into());
                }
                _ => false,
            };
        }
        self.good(counted(listed.versions.len(), "version"));
        self.versions.extend(listed.versions);
        Ok(Stop::Store(Box::new(stored)))
    }

    /// The finding about a registry that does not let the client in, with what the client does not read.
    async fn refused(&self, stored: &StoredProvider, error: store::Error) -> Box<Finding> {
        let store::Error::Unauthorized { tried, host, .. } = &error else {
            return of_store(Code::Unreadable)(error);
        };
        let login = format!("tfoci login {host}");
        let credentials = &self.doctor.machine.every_credential;
        let sources = credentials.registry_sources();
        let broken = sources.iter().find_map(|source| source.error.as_ref());
        let found = if tried.is_some() {
            Finding::of(Code::CredentialsRefused, &error).fixed_by(login)
        } else if let Some(broken) = broken {
            Finding::of(Code::CredentialsUnreadable, broken)
        } else if let Some(found_in) = stored.repo.credential(credentials).await {
            let message =
                format!("the client has none, and does not read what tfoci found in {found_in}");
            Finding::new(Code::CredentialsNotRead, message)
        } else {
            Finding::of(Code::CredentialsMissing, &error).fixed_by(login)
        };
        found.into()
    }

    /// The version that the client selects.
    fn version(&mut self) -> Walked<Version> {
        self.step = "version";
        let (all, required) = (&self.versions, self.required);
        let constraints = &required.constraints;
        let locked = required.locked.as_ref().map(|entry| &entry.version);
        let locked = locked.filter(|one| constraints.selects(one));
        let (chosen, wanted) = match locked {
            Some(version) => (all.get(version), format!("{version}, which is locked")),
            None => {
                let written = format!("admitted by `{constraints}`");
                (constraints.newest(all.iter()), written)
            }
        };
        let Some(version) = chosen.cloned() else {
            let newest = all.last().map(|newest| format!(": the newest is {newest}"));
            let message = format!("no version is {wanted}{}", newest.unwrap_or_default());
            return Err(Finding::new(Code::VersionMissing, message).into());
        };
        let why = locked.map_or("the newest that is admitted", |_| "as locked");
        self.good(format!("{version}, {why}"));
        Ok(version)
    }

    /// Goes to the package in a store.
    async fn stored(&mut self, stored: &StoredProvider, version: &Version) -> Walked<()> {
        let repo = &stored.repo;
        self.step = "index";
        let tag = Tag::of_version(version).map_err(as_code(Code::TagTooLong))?;
        let artifact = repo.artifact(&tag).await;
        let artifact = artifact.map_err(|error| of_store(code_of(&error, Part::Index))(error))?;
        let Some(artifact) = artifact else {
            let message =
                format!("{repo} has no tag `{tag}`, although this version is the one to install");
            return Err(Finding::new(Code::VersionMissing, message).into());
        };
        self.good(format!("{repo}:{tag}"));
        self.step = "platform";
        let entry = artifact.entry(&self.platform).map_err(|refusal| {
            let code = match refusal {
                Refusal::NoPlatform { .. } => Code::PlatformMissing,
                _ => Code::IndexRefused,
            };
            Box::new(Finding::of(code, &refusal))
        })?;
        let package = repo.package(&self.platform, entry).await;
        let package = package.map_err(|error| of_store(code_of(&error, Part::Manifest))(error))?;
        self.good(self.platform.to_string());
        // The client compares the hash before the download.
        let expected = package.layer.expected;
        let zh = PackageHash::of_zip(&expected.digest);
        self.locked(version, &[zh], true)?;
        self.step = "package";
        reach(&repo.blob(expected), of_store(Code::PackageMissing)).await?;
        self.good(format!("{} bytes", expected.size));
        Ok(())
    }

    /// Goes to the package at an origin or in a mirror.
    async fn released(
        &mut self,
        source: &Source,
        available: &[AvailableVersion],
        version: &Version,
    ) -> Walked<()> {
        let provider = &self.required.provider;
        let platforms = Platforms::Only(vec![self.platform.clone()]);
        self.step = "platform";
        let mut available = available.iter();
        let Some(offered) = available.find(|one| one.version.version() == version) else {
            // Clients pass over an origin or a directory, and not over a network mirror.
            let code = match source {
                Source::NetworkMirror(_) => Code::VersionMissing,
                _ => Code::PlatformMissing,
            };
            let message = format!("this method does not have {version}, which another one has");
            return Err(Finding::new(code, message).into());
        };
        if let Source::FilesystemMirror(mirror) = source {
            let unpacked = mirror.unpacked(provider, version, &platforms);
            if let Some(package) = unpacked.map_err(of_source(Code::PackageMissing))?.first() {
                self.good(printable_path(&package.path));
                let h1 = disk::directory_h1(&package.path, &Limits::default());
                let h1 = h1.map_err(as_code(Code::Unreadable))?;
                return self.locked(version, &[h1], false);
            }
        }
        let release = source.whole_release(provider, offered, &platforms, false);
        let (release, _) = release.await.map_err(of_source(Code::PlatformMissing))?;
        self.good(self.platform.to_string());
        self.step = "signature";
        let is_origin = source.has_checksum_documents();
        // OpenTofu needs no signature where its default host has no keys.
        let client = self.doctor.machine.client;
        let is_default = *provider.hostname() == client.default_host();
        let needs_none = !is_origin || client == Client::OpenTofu && is_default;
        let unsigned = match needs_none {
            true => Unsigned::Allow,
            false => Unsigned::Refuse,
        };
        let rule = Rule {
            unsigned,
            weak: Weak::Warn,
            ..Rule::default()
        };
        let verified = prove(release, &rule, SystemTime::now()).await;
        let verified = verified.map_err(as_code(Code::NotVerified))?;
        if is_origin {
            self.good(verified.authentication().to_string());
        }
        self.step = "package";
        let complete = source::complete(verified)
            .await
            .map_err(of_source(Code::PackageMissing))?;
        let mut hashes = Vec::new();
        for package in &complete.packages {
            reach(&package.location, of_source(Code::PackageMissing)).await?;
            hashes.push(package.zh());
        }
        self.good(source.place(provider).to_string());
        self.locked(version, &hashes, false)
    }

    /// Compares the hashes of the package with the lock file.
    fn locked(&mut self, version: &Version, own: &[PackageHash], is_store: bool) -> Walked<()> {
        self.step = "lock file";
        let locked = self.required.locked.as_ref();
        let locked = locked.filter(|entry| entry.version == *version && !entry.hashes.is_empty());
        let Some(locked) = locked else {
            self.good("no entry of this version, so init writes one");
            return Ok(());
        };
        let is_same =
            |hash: &PackageHash| locked.hashes.iter().any(|one| one.is_h1() == hash.is_h1());
        let found = if own.iter().any(|hash| locked.hashes.contains(hash)) {
            self.good("has the package");
            return Ok(());
        } else if own.iter().any(is_same) {
            let (expected, received) = (listed(&locked.hashes, FEW), listed(own, FEW));
            let message = format!(
                "the package is none of the locked ones: expected {expected}, received {received}"
            );
            Finding::new(Code::LockDiffers, message)
        } else if is_store {
            let message =
                "the entry has h1 hashes only, and a package from a registry is compared by its zh";
            let command = format!("tfoci lock {}", self.required.provider);
            Finding::new(Code::LockWithoutZh, message).fixed_by(command)
        } else {
            self.good("is compared when the package is there");
            return Ok(());
        };
        Err(found.into())
    }
}

fn as_code<E: Error>(code: Code) -> impl FnOnce(E) -> Box<Finding> {
    move |error| Box::new(Finding::of(code, &error))
}

/// Requests a package, and reads its beginning.
async fn reach<B: BlobSource>(
    package: &B,
    failed: impl FnOnce(B::Failure) -> Box<Finding>,
) -> Walked<()> {
    let read = async { package.open(0).await?.next().await.transpose() };
    read.await.map(drop).map_err(|error| match error {
        ReadError::Source(error) => failed(error),
        ReadError::Blob(error) => as_code(Code::PackageMissing)(error),
    })
}
