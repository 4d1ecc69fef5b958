//! Traps of a CLI configuration: clients refuse it, drop a part of it without a word, or do something other than its author probably meant
//! ([clients: CLI configuration](crate::clients#cli-configuration)).

use std::fmt;

use serde::Serialize;
use url::Url;

use super::installation::METHODS;
use super::{CliConfig, InstallationMethod, MethodKind};
use crate::address::{Hostname, ProviderPattern};
use crate::error::{FEW, OneLine, listed, printable};
use crate::lockfile::Client;
use crate::nearest::nearest;
use crate::syntax::{Block, Member, Section, Value};
use crate::template::{self, RepositoryTemplate, TemplateProblem};

/// The blocks and arguments at the top that one of the clients knows.
const TOP: [&str; 13] = [
    "credentials",
    "credentials_helper",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "host",
    "oci_credentials",
    "oci_default_credentials",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "provider_installation",
    "providers",
    "provisioners",
    "registry_protocols",
];

/// The blocks that clients find by their exact names. They do not distinguish upper and lower case in any other name.
const EXACT: [&str; 4] = [
    "oci_credentials",
    "oci_default_credentials",
    "provider_installation",
    "registry_protocols",
];

/// The blocks whose arguments are checked, with the number of their labels, and their arguments.
const BLOCKS: [(&str, usize, &[&str]); 6] = [
    (
        "oci_credentials",
        1,
        &[
            "username",
            "password",
            "access_token",
            "refresh_token",
            "docker_credentials_helper",
        ],
    ),
    (
        "oci_default_credentials",
        0,
        &[
            "discover_ambient_credentials",
            "docker_style_config_files",
            "docker_credentials_helper",
        ],
    ),
    ("credentials_helper", 1, &["args"]),
    ("host", 1, &["services"]),
    (
        "registry_protocols",
        0,
        &["retry_count", "request_timeout_seconds"],
    ),
    ("credentials", 1, &["token"]),
];

/// The kinds of traps of a block without which clients go on.
const IGNORED: [&str; 4] = [
    "missing_argument",
    "url",
    "unknown_method",
    "not_for_terraform",
];

/// A trap, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trap {
    /// The line of the block, from 1; unknown in JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The name of such traps in documents.
    pub kind: &'static str,
    /// Whether the configuration may be meant so.
    #[serde(skip)]
    pub is_note: bool,
    /// What is wrong.
    pub message: String,
    /// What helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Trap {
    /// Something that its author cannot have meant.
    pub fn problem(kind: &'static str, message: impl fmt::Display) -> Self {
        Self {
            line: None,
            kind,
            is_note: false,
            message: message.to_string(),
            hint: None,
        }
    }

    /// Something that may be meant so.
    pub fn note(kind: &'static str, message: impl fmt::Display) -> Self {
        Self {
            is_note: true,
            ..Self::problem(kind, message)
        }
    }

    /// The trap with what helps.
    #[must_use]
    pub fn advising(self, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { hint, ..self }
    }

    /// The trap with its line.
    #[must_use]
    pub fn at(self, line: Option<usize>) -> Self {
        Self { line, ..self }
    }

    fn meaning(self, name: Option<&str>) -> Self {
        let hint = name.map(|name| format!("did you mean `{name}`?"));
        Self { hint, ..self }
    }
}

/// The traps of a configuration for a client: what clients ignore, then those of methods in their order. The configuration alone decides:
/// whether directories exist and registries need credentials is not checked here.
pub fn traps(config: &CliConfig, client: Client) -> Vec<Trap> {
    let mut traps = config.ignored.clone();
    if config.installation.as_ref().is_some_and(Vec::is_empty) {
        let message =
            "`provider_installation` has no installation method: clients find no provider";
        traps.push(Trap::problem("no_methods", message).at(config.installation_line));
    }
    // Clients use these directories without checking versions and lock files.
    if let Some(overrides) = &config.overrides {
        let message = format!(
            "`dev_overrides` replaces {}: clients ignore versions and the lock file for it",
            list(&overrides.providers)
        );
        traps.push(Trap::problem("dev_overrides", message).at(overrides.line));
    }
    let methods = config.installation.iter().flatten();
    let methods: Vec<_> = methods
        .map(|method| (method, method.own_traps(client)))
        .collect();
    let mut methods = methods.as_slice();
    let is_used = |own: &[Trap]| !own.iter().any(|trap| IGNORED.contains(&trap.kind));
    while let Some(((method, own), later)) = methods.split_first() {
        let used = later.iter().filter(|(_, own)| is_used(own));
        let overlaps = used.filter_map(|(second, _)| method.overlap(second));
        let overlaps = overlaps.filter(|_| is_used(own));
        let all = own.iter().cloned().chain(overlaps);
        traps.extend(all.map(|trap| trap.at(method.line)));
        methods = later;
    }
    traps
}

impl InstallationMethod {
    /// What `include` names.
    pub fn included(&self) -> &[ProviderPattern] {
        self.include.as_deref().unwrap_or_default()
    }

    fn own_traps(&self, client: Client) -> Vec<Trap> {
        let no = |argument| {
            let method = self.kind.name();
            let message = format!("`{method}` has no `{argument}`: clients ignore the block");
            vec![Trap::problem("missing_argument", message)]
        };
        match &self.kind {
            MethodKind::OciMirror { .. } if client == Client::Terraform => {
                let message = "terraform does not know `oci_mirror`: it prints an error about the block, and goes on without it";
                let hint = "`tfoci install --into DIR` writes a directory for `filesystem_mirror`";
                vec![Trap::problem("not_for_terraform", message).advising(hint)]
            }
            MethodKind::OciMirror {
                repository_template,
            } => of_template(repository_template, self.included()),
            MethodKind::Direct => Vec::new(),
            MethodKind::FilesystemMirror { path } => match path.as_deref() {
                None | Some("") => no("path"),
                Some(_) => Vec::new(),
            },
            MethodKind::NetworkMirror { url } => match url.as_deref() {
                None | Some("") => no("url"),
                Some(url) => of_url(url).into_iter().chain(self.of_ports()).collect(),
            },
            MethodKind::Other(name) => {
                let shown = printable(name);
                let message =
                    format!("there is no installation method `{shown}`: clients ignore the block");
                let meant = nearest(name, &METHODS.map(|(name, _)| name));
                vec![Trap::problem("unknown_method", message).meaning(meant)]
            }
        }
    }

    /// Clients put the host of a provider into the URL of a mirror, where a port breaks it.
    fn of_ports(&self) -> Option<Trap> {
        let has_port = |one: &&ProviderPattern| one.hostname().is_some_and(Hostname::has_port);
        let providers: Vec<_> = self.included().iter().filter(has_port).collect();
        let message = format!(
            "clients refuse to ask a network mirror for {}: the host has a port",
            list(&providers)
        );
        let trap = Trap::problem("ports", message);
        (!providers.is_empty())
            .then(|| trap.advising("name it in `exclude`, and leave it to `direct`"))
    }

    /// The trap of this method before another one that installs the same providers: clients fail if this one lacks a version that the other one
    /// has ([clients: installation methods](crate::clients#installation-methods)).
    fn overlap(&self, second: &Self) -> Option<Trap> {
        let providers = self.shared(second);
        if providers.is_empty() {
            return None;
        }
        let line = second.line.map(|line| format!(" (line {line})"));
        let both = format!(
            "`{}` and `{}`{} both install {}: clients",
            printable(self.kind.name()),
            printable(second.kind.name()),
            line.unwrap_or_default(),
            list(&providers)
        );
        match &self.kind {
            // If `direct` lacks a version, clients skip it.
            MethodKind::Direct => None,
            // They skip a directory too.
            MethodKind::FilesystemMirror { .. } => {
                let message = format!("{both} ask both for versions, and take the newest");
                Some(Trap::note("two_sources", message))
            }
            _ => {
                let message = format!(
                    "{both} take the newest version of both, and fail if the first lacks it"
                );
                Some(Trap::problem("overlap", message).advising("name them in `exclude` of one"))
            }
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

fn of_template(text: &str, include: &[ProviderPattern]) -> Vec<Trap> {
    let checked = RepositoryTemplate::parse(text).and_then(|template| {
        template.check_patterns(include)?;
        Ok(template)
    });
    let wrong = |error: template::Error| Trap::problem("template", OneLine(&error));
    match checked {
        // The symbols have the form that only tfoci replaces.
        Ok(template) if template.hcl() != text => {
            let message = "clients do not replace `{hostname}`, `{namespace}` and `{type}`";
            let hint = format!("write {}", printable(template.hcl()));
            vec![Trap::problem("template_spelling", message).advising(hint)]
        }
        Ok(template) => {
            let shared = template.check_distinct().err();
            let note = |error| Trap {
                is_note: true,
                ..wrong(error)
            };
            shared.map(note).into_iter().collect()
        }
        Err(template::Error::Template { problems, .. }) => {
            problems.into_iter().map(of_problem).collect()
        }
        Err(error) => vec![wrong(error)],
    }
}

/// Clients evaluate templates that tfoci refuses.
fn of_problem(problem: TemplateProblem) -> Trap {
    match problem {
        TemplateProblem::Refused { .. }
        | TemplateProblem::TooLong { .. }
        | TemplateProblem::TooDeep => {
            let message = format!("the repository template is not checked: {problem}");
            Trap::note("unchecked_template", message)
        }
        problem => Trap::problem(
            "template",
            format!("the repository template is wrong: {problem}"),
        ),
    }
}

/// Clients request network mirrors over TLS only, and replace what follows the last slash.
fn of_url(text: &str) -> Option<Trap> {
    let shown = printable(text);
    match Url::parse(text) {
        Ok(url) if url.scheme() == "https" && url.has_host() => match url.path() {
            "/" => Some(Trap::note(
                "url_without_path",
                format!(
                    "`{url}` is right for a site that `tfoci site` wrote: the network mirror of `tfoci serve` is at `{url}mirror/`"
                ),
            )),
            path if path.ends_with('/') => None,
            _ => Some(Trap::problem(
                "url_without_slash",
                format!(
                    "`{shown}` has no slash at its end: clients drop what follows the last one"
                ),
            )),
        },
        _ => Some(Trap::problem(
            "url",
            format!("`{shown}` is not the https URL of a network mirror: clients ignore the block"),
        )),
    }
}

/// What clients ignore without a word, in the order of the kinds of blocks: names that they do not know, and credentials without a token.
pub(super) fn ignored(root: &Section) -> Vec<Trap> {
    let mut traps = unknown(root.all(), "", &TOP);
    for (name, labels, arguments) in BLOCKS {
        for block in root.blocks(name, labels).unwrap_or_default() {
            let labels = block.labels.iter().map(|label| format!(" \"{label}\""));
            let shown = labels.fold(name.to_owned(), |name, label| name + &label);
            traps.extend(unknown(block.body.all(), &shown, arguments));
            if name == "credentials" {
                traps.extend(no_token(&block));
            }
        }
    }
    for installation in root.blocks("provider_installation", 0).unwrap_or_default() {
        let arguments = installation.body.all().filter(|member| !member.is_block());
        traps.extend(unknown(arguments, installation.name, &[]));
        for block in installation.body.all_blocks() {
            let known = METHODS.iter().find(|(method, _)| *method == block.name);
            if let Some((name, arguments)) = known {
                traps.extend(unknown(block.body.all(), name, arguments));
            }
        }
    }
    traps
}

/// The unknown members of a block; `block` is empty for those at the top. JSON has no comments but members that begin with `//`.
fn unknown<'a>(
    members: impl Iterator<Item = &'a Member>,
    block: &str,
    known: &'static [&'static str],
) -> Vec<Trap> {
    let is_known = |name: &str| {
        let is_exact = EXACT.contains(&&*name.to_ascii_lowercase());
        let is_same = |one: &&str| *one == name || !is_exact && one.eq_ignore_ascii_case(name);
        known.iter().any(is_same) || name.starts_with("//")
    };
    let of = match block {
        "" => String::new(),
        block => format!(" of `{}`", printable(block)),
    };
    let unknown = members.filter(|member| !is_known(&member.name));
    let traps = unknown.map(|member| {
        let (what, kind) = match block.is_empty() && member.is_block() {
            true => ("block", "unknown_block"),
            false => ("argument", "unknown_argument"),
        };
        let name = printable(&member.name);
        let trap = Trap::problem(
            kind,
            format!("unknown {what} `{name}`{of}: clients ignore it"),
        );
        trap.meaning(nearest(&member.name, known)).at(member.line)
    });
    traps.collect()
}

/// Clients take the block for the host's credentials, and ask no token helper.
fn no_token(block: &Block<'_>) -> Option<Trap> {
    let host = block.labels.first().map(|host| printable(host));
    let host = host.unwrap_or_default();
    let message = match block.body.value("token") {
        None => format!("`credentials` for {host} has no `token`: clients send the host no token"),
        Some(Value::Text(token)) if token.is_empty() => format!(
            "`credentials` for {host} has an empty `token`: clients send no token, and ask no helper"
        ),
        Some(_) => return None,
    };
    Some(Trap::problem("no_token", message).at(block.line))
}

/// The first of several names.
pub fn list<T: ToString>(names: &[T]) -> String {
    listed(names.iter().map(|name| printable(&name.to_string())), FEW)
}
