//! What a client reads before it sends anything. Each step has the trap of one part ([clients: CLI
//! configuration](crate::clients#cli-configuration)).

use std::path::Path;

use url::Url;

use super::{Code, Doctor, Finding, Step};
use crate::address::ProviderPattern;
use crate::config::cli::{self, CliConfig, InstallationMethod, MethodKind};
use crate::credentials::Readers;
use crate::disk;
use crate::error::{FEW, listed, one_line, printable, printable_path};
use crate::lockfile::Client;
use crate::shown::Shown;
use crate::template::{self, RepositoryTemplate, TemplateProblem};

const CONFIGURATION: &str = "configuration";

impl Doctor {
    /// The steps before any request.
    pub fn machine(&self) -> Vec<Step> {
        let machine = &self.machine;
        let mut steps = match &machine.config {
            Err(error) => {
                let refused = Finding::of(Code::ConfigurationRefused, error);
                vec![Step::bad(CONFIGURATION, refused)]
            }
            Ok(None) => vec![Step::good(
                CONFIGURATION,
                "none, so packages come from origins",
            )],
            Ok(Some((path, config))) => self.configuration(path, config),
        };
        steps.extend(self.plugin_cache());
        steps.extend(machine.variables.iter().cloned());
        steps
    }

    /// The files of credentials that the client reads, and those that only tfoci reads.
    pub fn credentials(&self) -> Vec<Step> {
        let sources = self.machine.every_credential.registry_sources();
        let steps = sources.into_iter().filter_map(|source| {
            let path = printable_path(&source.path);
            let outcome = match (&source.error, source.readers) {
                (None, Readers::Clients) => Ok(path),
                (None, Readers::OnlyTfoci) => Ok(format!("{path}, which only tfoci reads")),
                (Some(error), Readers::Clients) if !error.is_not_found() => {
                    Err(Finding::of(Code::CredentialsUnreadable, error))
                }
                _ => return None,
            };
            let name = "credentials";
            Some(Step { name, outcome })
        });
        steps.collect()
    }

    fn configuration(&self, path: &Path, config: &CliConfig) -> Vec<Step> {
        let client = self.machine.client;
        let mut found: Vec<(Option<usize>, Finding)> = Vec::new();
        let bytes = disk::read_regular(path, cli::LARGEST as u64).unwrap_or_default();
        if bytes.starts_with(b"\xef\xbb\xbf") {
            let message = "the file begins with a byte order mark, so clients refuse it";
            found.push((None, Finding::new(Code::ByteOrderMark, message)));
        }
        for ignored in &config.ignored {
            let message = format!("{} has no effect", ignored.what);
            found.push((ignored.line, Finding::new(Code::BlockIgnored, message)));
        }
        if let Some(overrides) = &config.overrides {
            let message = format!("`dev_overrides` replaces {}", list(&overrides.providers));
            found.push((overrides.line, Finding::new(Code::DevOverrides, message)));
        }
        let methods = config.installation.as_deref().unwrap_or_default();
        let mut used: Vec<&InstallationMethod> = Vec::new();
        for method in methods {
            match of_method(method, client) {
                Some(finding) => found.push((method.line, finding)),
                None if matches!(method.kind, MethodKind::Other(_)) => {}
                None => {
                    let overlaps = used.iter().filter_map(|first| overlap(first, method));
                    found.extend(overlaps.map(|finding| (method.line, finding)));
                    used.push(method);
                }
            }
        }
        found.sort_by_key(|(line, _)| *line);
        let file = printable_path(path);
        let good = Step::good(CONFIGURATION, &*file);
        let bad = found.into_iter().map(|(line, finding)| {
            let line = line.map(|line| format!(", line {line}"));
            let place = format!("{file}{}", line.unwrap_or_default());
            Step::bad(CONFIGURATION, finding.at(place))
        });
        std::iter::once(good).chain(bad).collect()
    }

    fn plugin_cache(&self) -> Option<Step> {
        let cache = self.machine.plugin_cache.as_ref()?;
        let config = self.machine.configured();
        let methods = config.and_then(|config| config.installation.as_deref());
        let real = cache.canonicalize().ok();
        let is_cache = |method: &InstallationMethod| match &method.kind {
            MethodKind::FilesystemMirror { path: Some(path) } => {
                real.is_some() && Path::new(path).canonicalize().ok() == real
            }
            _ => false,
        };
        let shown = printable_path(cache);
        let finding = if !cache.is_dir() {
            Finding::new(Code::DirectoryMissing, "the plugin cache does not exist")
        } else if methods.unwrap_or_default().iter().any(is_cache) {
            let message = "a `filesystem_mirror` is the same directory: clients cannot link a package to itself";
            Finding::new(Code::CacheIsMirror, message)
        } else {
            return Some(Step::good("plugin cache", shown));
        };
        Some(Step::bad("plugin cache", finding.at(shown)))
    }
}

/// What is wrong with an installation method by itself.
fn of_method(method: &InstallationMethod, client: Client) -> Option<Finding> {
    let name = method.kind.name();
    let place = match &method.kind {
        MethodKind::OciMirror { .. } if client == Client::Terraform => {
            let message = "Terraform does not know `oci_mirror`: `tfoci install --into DIR` writes a directory for `filesystem_mirror`";
            return Some(Finding::new(Code::BlockIgnored, message));
        }
        MethodKind::OciMirror {
            repository_template,
        } => {
            let message = of_template(repository_template, method.included())?;
            return Some(Finding::new(Code::TemplateRefused, message));
        }
        MethodKind::FilesystemMirror { path } => path,
        MethodKind::NetworkMirror { url } => url,
        // Methods that clients do not know are ignored like other blocks.
        MethodKind::Direct | MethodKind::Other(_) => return None,
    };
    let (code, message) = match place.as_deref() {
        None | Some("") => (
            Code::BlockIgnored,
            format!("`{name}` names no place, so it has no effect"),
        ),
        Some(url) if name == "network_mirror" => (Code::MirrorUrl, of_url(url)?),
        Some(path) if Path::new(path).is_dir() => return None,
        Some(path) => (
            Code::DirectoryMissing,
            format!("there is no directory {}", printable(path)),
        ),
    };
    Some(Finding::new(code, message))
}

fn of_template(text: &str, include: &[ProviderPattern]) -> Option<String> {
    let checked = RepositoryTemplate::parse(text).and_then(|template| {
        template.check_patterns(include)?;
        Ok(template)
    });
    match checked {
        Ok(template) if template.hcl() == text => None,
        Ok(template) => {
            let hcl = printable(template.hcl());
            let known = "clients do not replace `{hostname}`, but `${hostname}`";
            Some(format!("{known}: write {hcl}"))
        }
        // Clients evaluate templates that tfoci refuses.
        Err(template::Error::Template {
            problem: TemplateProblem::Refused { .. },
            ..
        }) => None,
        Err(template::Error::Template { problem, .. }) => {
            Some(format!("the repository template is wrong: {problem}"))
        }
        Err(error) => Some(one_line(&error)),
    }
}

/// Clients request network mirrors over TLS only, and replace what follows the last slash.
fn of_url(text: &str) -> Option<String> {
    let is_mirror =
        |url: Url| url.scheme() == "https" && url.has_host() && url.path().ends_with('/');
    let is_right = !text.contains(char::is_whitespace) && Url::parse(text).is_ok_and(is_mirror);
    let shown = Shown::from(text);
    (!is_right).then(|| {
        format!("`{shown}` is not an https URL without blanks and with a slash at its end")
    })
}

/// The finding about a mirror before another method for the same providers. Clients skip `direct` or a directory if it does not have a version.
fn overlap(first: &InstallationMethod, second: &InstallationMethod) -> Option<Finding> {
    if let MethodKind::Direct | MethodKind::FilesystemMirror { .. } = first.kind {
        return None;
    }
    let of = |method: &InstallationMethod| match method.included() {
        [] => vec![ProviderPattern::default()],
        include => include.to_vec(),
    };
    let (ours, theirs) = (of(first), of(second));
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
    let mut both: Vec<_> = pairs.filter_map(|(a, b)| a.intersection(b)).collect();
    for excluded in first.exclude.iter().chain(&second.exclude) {
        both.retain(|both| !excluded.covers(both));
    }
    let [first, second] = [first, second].map(|method| method.kind.name());
    let both = (!both.is_empty()).then(|| list(&both))?;
    let message = format!(
        "`{first}` and `{second}` are both for {both}: clients take the newest version of both, and fail if `{first}` does not have it"
    );
    Some(Finding::new(Code::MethodsOverlap, message))
}

fn list<T: ToString>(names: &[T]) -> String {
    listed(names.iter().map(|name| printable(&name.to_string())), FEW)
}
