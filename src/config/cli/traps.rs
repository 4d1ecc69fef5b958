//! Traps of a CLI configuration: clients refuse it, drop a part of it, or do something other than its author probably meant.

use std::path::{Path, PathBuf};

use url::Url;

use super::installation::METHODS;
use super::{CliConfig, InstallationMethod, MethodKind};
use crate::address::{Hostname, ProviderPattern};
use crate::error::{FEW, Hint, OneLine, listed, printable, printable_path};
use crate::lockfile::Client;
use crate::nearest::nearest;
use crate::oci::Repository;
use crate::template::{self, RepositoryTemplate, TemplateProblem};

/// A trap, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The line of the block, from 1; unknown in JSON.
    pub line: Option<usize>,
    /// What is wrong.
    pub kind: TrapKind,
}

/// What is wrong with a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum TrapKind {
    /// Clients fail if the first of two methods lacks a version that the second one has
    /// ([clients: installation methods](crate::clients#installation-methods)).
    #[error("`{first}` and `{second}`{} both install {}: clients take the newest version of both, and fail if the first lacks it", at(.line), list(.providers))]
    Overlap {
        first: String,
        second: String,
        /// The line of the second method.
        line: Option<usize>,
        providers: Vec<ProviderPattern>,
    },
    /// The first of two methods is a filesystem mirror. Clients skip it if it lacks a version.
    #[error("`{first}` and `{second}`{} both install {}: clients ask both for versions, and take the newest", at(.line), list(.providers))]
    TwoSources {
        first: String,
        second: String,
        /// The line of the second method.
        line: Option<usize>,
        providers: Vec<ProviderPattern>,
    },
    #[error("the repository template is wrong: {0}")]
    Template(TemplateProblem),
    /// The repository template gives no repository for providers that `include` names.
    #[error("{}", OneLine(.0))]
    NoRepository(template::Error),
    /// The repository template gives two providers of one host the same repository.
    #[error("{}", OneLine(.0))]
    Shared(template::Error),
    /// tfoci does not evaluate all templates that clients do.
    #[error("the repository template is not checked: {0}")]
    Unchecked(TemplateProblem),
    /// The symbols of the template have the form that only tfoci replaces.
    #[error("clients do not replace `{{hostname}}`, `{{namespace}}` and `{{type}}`")]
    Spelling {
        /// The template as clients need it.
        hcl: String,
    },
    /// A mirror without its directory or URL.
    #[error("`{method}` has no `{argument}`: clients ignore the block")]
    NoArgument {
        method: &'static str,
        argument: &'static str,
    },
    /// Clients request network mirrors over TLS only.
    #[error("`{}` is not the https URL of a network mirror: clients ignore the block", printable(.url))]
    Url { url: String },
    /// Clients replace what follows the last slash.
    #[error("`{}` has no slash at its end: clients drop what follows the last one", printable(.url))]
    NoSlash { url: String },
    /// `tfoci serve` has its network mirror below `/mirror/`.
    #[error("`{url}` is right for a site that `tfoci site` wrote: the network mirror of `tfoci serve` is at `{url}mirror/`", url = printable(.url))]
    NoPath { url: String },
    /// Clients put the host of a provider into the URL of a mirror, where a port breaks it.
    #[error("clients refuse to ask a network mirror for {}: the host has a port", list(.providers))]
    Ports { providers: Vec<ProviderPattern> },
    /// Clients fail if the directory of the plugin cache does not exist.
    #[error("there is no directory {}: clients do not start without the plugin cache that `plugin_cache_dir` names", printable(.path))]
    NoCache { path: String },
    /// A top-level block that clients do not know.
    #[error("unknown block `{}`: clients ignore it", printable(.name))]
    UnknownBlock {
        name: String,
        meant: Option<&'static str>,
    },
    /// An argument that clients do not know, of a block or at the top.
    #[error("unknown argument `{}`{}: clients ignore it", printable(.name), of_block(.block.as_deref()))]
    UnknownArgument {
        name: String,
        /// `None` at the top.
        block: Option<String>,
        meant: Option<&'static str>,
    },
    /// Clients take the block for the host's credentials, and ask no token helper.
    #[error("`credentials` for {} has no `token`: clients send the host no token", printable(.host))]
    NoToken { host: String },
    #[error("`credentials` for {} has an empty `token`: clients send no token, and ask no helper", printable(.host))]
    EmptyToken { host: String },
    /// Nothing installs any provider.
    #[error("`provider_installation` has no installation method: clients find no provider")]
    NoMethods,
    /// A block of `provider_installation` that clients do not know.
    #[error("there is no installation method `{}`: clients ignore the block", printable(.name))]
    UnknownMethod {
        name: String,
        meant: Option<&'static str>,
    },
    /// Only OpenTofu has `oci_mirror`.
    #[error(
        "terraform does not know `oci_mirror`: it prints an error about the block, and goes on without it"
    )]
    NotForTerraform,
    #[error(
        "terraform reads this file too: it does not know `oci_mirror`, prints an error about the block, and goes on without it"
    )]
    ReadByTerraform,
    /// Clients use the directories of `dev_overrides` without checking versions and lock files.
    #[error("`dev_overrides` replaces {}: clients ignore versions and the lock file for it", list(.providers))]
    Overrides { providers: Vec<String> },
    /// Clients fail if the directory of a filesystem mirror does not exist.
    #[error("there is no directory {}: clients fail for every provider of this mirror", printable(.path))]
    NoDirectory { path: String },
    /// The directory of a filesystem mirror has nothing that `include` names, as if it were another directory.
    #[error("{} has no provider of {}: clients find none of them there, and expect {}/HOSTNAME/NAMESPACE/TYPE", printable(.path), list(.providers), printable(.path))]
    NothingIncluded {
        path: String,
        providers: Vec<ProviderPattern>,
    },
    /// Without credentials, clients can pull from public repositories only.
    #[error("clients find no credentials for repositories such as {repository}: they can pull only if it is public{}", not_read(.unread.as_deref()))]
    NoCredentials {
        repository: Repository,
        /// A file with credentials for it that clients do not read.
        unread: Option<PathBuf>,
    },
}

impl TrapKind {
    /// The name of the variant in documents.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Overlap { .. } => "overlap",
            Self::TwoSources { .. } => "two_sources",
            Self::Template(_) | Self::NoRepository(_) | Self::Shared(_) => "template",
            Self::Unchecked(_) => "unchecked_template",
            Self::Spelling { .. } => "template_spelling",
            Self::NoArgument { .. } => "missing_argument",
            Self::Url { .. } => "url",
            Self::NoSlash { .. } => "url_without_slash",
            Self::NoPath { .. } => "url_without_path",
            Self::UnknownBlock { .. } => "unknown_block",
            Self::UnknownArgument { .. } => "unknown_argument",
            Self::NoToken { .. } | Self::EmptyToken { .. } => "no_token",
            Self::NoMethods => "no_methods",
            Self::UnknownMethod { .. } => "unknown_method",
            Self::NotForTerraform | Self::ReadByTerraform => "not_for_terraform",
            Self::Overrides { .. } => "dev_overrides",
            Self::NoDirectory { .. } => "missing_directory",
            Self::NothingIncluded { .. } => "nothing_included",
            Self::Ports { .. } => "ports",
            Self::NoCache { .. } => "missing_cache",
            Self::NoCredentials { .. } => "no_credentials",
        }
    }

    /// Whether clients go on without the block.
    fn is_ignored_block(&self) -> bool {
        matches!(
            self,
            Self::NoArgument { .. }
                | Self::Url { .. }
                | Self::UnknownMethod { .. }
                | Self::NotForTerraform
        )
    }

    /// Whether the configuration may be meant so.
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Self::TwoSources { .. }
                | Self::Unchecked(_)
                | Self::Shared(_)
                | Self::ReadByTerraform
                | Self::NoPath { .. }
                | Self::NoCredentials { .. }
        )
    }
}

/// The traps of a configuration for a client: what clients ignore, then those of methods in their order. The configuration alone decides: whether directories exist and
/// registries need credentials is not checked here.
pub fn traps(config: &CliConfig, client: Client) -> Vec<Trap> {
    let mut traps = config.ignored.clone();
    if config.installation.as_ref().is_some_and(Vec::is_empty) {
        let line = config.installation_line;
        let kind = TrapKind::NoMethods;
        traps.push(Trap { line, kind });
    }
    if let Some(overrides) = &config.overrides {
        let line = overrides.line;
        let providers = overrides.providers.clone();
        let kind = TrapKind::Overrides { providers };
        traps.push(Trap { line, kind });
    }
    let methods = config.installation.iter().flatten();
    let methods: Vec<_> = methods
        .map(|method| (method, method.own_traps(client)))
        .collect();
    let mut methods = methods.as_slice();
    let is_used = |own: &[TrapKind]| !own.iter().any(TrapKind::is_ignored_block);
    while let Some(((method, own), later)) = methods.split_first() {
        let used = later.iter().filter(|(_, own)| is_used(own));
        let overlaps = used.filter_map(|(second, _)| method.overlap(second));
        let overlaps = overlaps.filter(|_| is_used(own));
        let kinds = own.iter().cloned().chain(overlaps);
        traps.extend(kinds.map(|kind| method.trap(kind)));
        methods = later;
    }
    traps
}

impl InstallationMethod {
    /// The trap with the line of this method.
    pub fn trap(&self, kind: TrapKind) -> Trap {
        let line = self.line;
        Trap { line, kind }
    }

    /// What `include` names.
    pub fn included(&self) -> &[ProviderPattern] {
        self.include.as_deref().unwrap_or_default()
    }

    fn own_traps(&self, client: Client) -> Vec<TrapKind> {
        let no = |method, argument| vec![TrapKind::NoArgument { method, argument }];
        match &self.kind {
            MethodKind::OciMirror { .. } if client == Client::Terraform => {
                vec![TrapKind::NotForTerraform]
            }
            MethodKind::OciMirror {
                repository_template,
            } => of_template(repository_template, self.included()),
            MethodKind::Direct => Vec::new(),
            MethodKind::FilesystemMirror { path } => match path.as_deref() {
                None | Some("") => no("filesystem_mirror", "path"),
                Some(_) => Vec::new(),
            },
            MethodKind::NetworkMirror { url } => match url.as_deref() {
                None | Some("") => no("network_mirror", "url"),
                Some(url) => {
                    let has_port =
                        |one: &&ProviderPattern| one.hostname().is_some_and(Hostname::has_port);
                    let providers: Vec<_> =
                        self.included().iter().filter(has_port).cloned().collect();
                    let ports = (!providers.is_empty()).then_some(TrapKind::Ports { providers });
                    of_url(url).into_iter().chain(ports).collect()
                }
            },
            MethodKind::Other(name) => vec![TrapKind::UnknownMethod {
                name: name.clone(),
                meant: nearest(name, &METHODS.map(|(name, _)| name)),
            }],
        }
    }

    /// The trap of this method before another one that installs the same providers.
    fn overlap(&self, second: &Self) -> Option<TrapKind> {
        let providers = self.shared(second);
        let (first, line) = (self.kind.name().to_owned(), second.line);
        let second = second.kind.name().to_owned();
        match &self.kind {
            // If `direct` lacks a version, clients skip it.
            MethodKind::Direct => None,
            _ if providers.is_empty() => None,
            MethodKind::FilesystemMirror { .. } => Some(TrapKind::TwoSources {
                first,
                second,
                line,
                providers,
            }),
            _ => Some(TrapKind::Overlap {
                first,
                second,
                line,
                providers,
            }),
        }
    }

    /// The providers that both methods install.
    fn shared(&self, second: &Self) -> Vec<ProviderPattern> {
        let everything = [ProviderPattern::default()];
        let of = |method: &Self| match method.included() {
            [] => everything.to_vec(),
            include => include.to_vec(),
        };
        let (ours, theirs) = (of(self), of(second));
        let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
        let both = pairs.filter_map(|(a, b)| a.intersection(b));
        let is_excluded = |both: &ProviderPattern| {
            let mut excluded = self.exclude.iter().chain(&second.exclude);
            excluded.any(|pattern| pattern.covers(both))
        };
        let mut shared: Vec<_> = both.filter(|both| !is_excluded(both)).cloned().collect();
        shared.sort();
        shared.dedup();
        shared
    }
}

fn of_template(text: &str, include: &[ProviderPattern]) -> Vec<TrapKind> {
    let checked = RepositoryTemplate::parse(text).and_then(|template| {
        template.check_patterns(include)?;
        Ok(template)
    });
    match checked {
        Ok(template) if template.hcl() != text => vec![TrapKind::Spelling {
            hcl: template.hcl().to_owned(),
        }],
        Ok(template) => {
            let shared = template.check_distinct();
            shared.err().map(TrapKind::Shared).into_iter().collect()
        }
        Err(template::Error::Template { problems, .. }) => {
            problems.into_iter().map(of_problem).collect()
        }
        Err(error) => vec![TrapKind::NoRepository(error)],
    }
}

/// Clients evaluate templates that tfoci refuses.
fn of_problem(problem: TemplateProblem) -> TrapKind {
    match problem {
        TemplateProblem::Refused { .. }
        | TemplateProblem::TooLong { .. }
        | TemplateProblem::TooDeep => TrapKind::Unchecked(problem),
        problem => TrapKind::Template(problem),
    }
}

fn of_url(text: &str) -> Option<TrapKind> {
    let url = || text.to_owned();
    match Url::parse(text) {
        Ok(parsed) if parsed.scheme() == "https" && parsed.has_host() => {
            if parsed.path() == "/" {
                let url = parsed.to_string();
                return Some(TrapKind::NoPath { url });
            }
            (!parsed.path().ends_with('/')).then(|| TrapKind::NoSlash { url: url() })
        }
        _ => Some(TrapKind::Url { url: url() }),
    }
}

/// Credentials that only tfoci reads.
fn not_read(file: Option<&Path>) -> String {
    file.map(|file| format!("; they do not read {}", printable_path(file)))
        .unwrap_or_default()
}

fn of_block(block: Option<&str>) -> String {
    block
        .map(|block| format!(" of `{block}`"))
        .unwrap_or_default()
}

fn at(line: &Option<usize>) -> String {
    line.map(|line| format!(" (line {line})"))
        .unwrap_or_default()
}

/// The first of several names.
fn list<T: ToString>(names: &[T]) -> String {
    listed(names.iter().map(|name| printable(&name.to_string())), FEW)
}

impl Hint for TrapKind {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Overlap { .. } => "name them in `exclude` of one".to_owned(),
            Self::Spelling { hcl } => format!("write {}", printable(hcl)),
            Self::Ports { .. } => "name it in `exclude`, and leave it to `direct`".to_owned(),
            Self::NotForTerraform => {
                "`tfoci install --into DIR` writes a directory for `filesystem_mirror`".to_owned()
            }
            Self::NoCredentials {
                unread: Some(_), ..
            } => "name the file in `docker_style_config_files` of `oci_default_credentials`"
                .to_owned(),
            Self::NoCredentials { repository, .. } => {
                let (registry, _) = repository.host_and_name();
                format!("`tfoci login {registry}` stores some")
            }
            Self::UnknownBlock { meant, .. }
            | Self::UnknownArgument { meant, .. }
            | Self::UnknownMethod { meant, .. } => format!("did you mean `{}`?", (*meant)?),
            _ => return None,
        })
    }
}
