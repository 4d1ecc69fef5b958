//! Arguments that are probably misspelt. What is meant depends on what the command takes.

use std::path::Path;

use tfoci::address::HostPort;
use tfoci::constraint::VersionConstraints;
use tfoci::credentials;
use tfoci::error::{Category, printable};
use tfoci::nearest::nearest;
use tfoci::outcome::Problem;
use tfoci::selection;
use tfoci::source::filesystem_mirror::nearby;
use tfoci::store::endpoint::{AddressError, MappingError};
use tfoci::template::Error as TemplateError;

use crate::cli::error::{CommandError, Meant};

/// What `--from` names if it is each provider's origin.
pub(in crate::cli) const ORIGIN: &str = "origin";

/// The prefix of directories of layouts.
const LAYOUT: &str = "oci-layout";

/// The prefix of network mirrors.
const NETWORK: &str = "network-mirror";

/// The prefix of directories that are filesystem mirrors.
const FILESYSTEM: &str = "filesystem-mirror";

/// The prefixes of sources other than the origin.
const MIRRORS: [&str; 2] = [NETWORK, FILESYSTEM];

/// What a command takes as arguments.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Takes {
    /// Whether it reads from sources as well as from stores.
    pub(in crate::cli) sources: bool,
    /// Whether it has the option `--chdir`.
    pub(in crate::cli) directory: bool,
    /// Whether it has the option `--into`, which is not used.
    pub(in crate::cli) into: bool,
}

/// Adds what is probably meant to an error.
pub(in crate::cli) fn explained(error: CommandError, takes: Takes) -> CommandError {
    let directory = directory(&error).filter(|_| takes.directory);
    let into = word(&error).filter(|_| takes.into);
    let meant = match (directory, into, in_store(&error, takes.sources)) {
        (Some(directory), ..) => Meant::Directory(directory.to_owned()),
        (None, Some(into), _) => Meant::Into(into.to_owned()),
        (None, None, Some(place)) => Meant::Place(place),
        (None, None, None) => return error,
    };
    let error = Box::new(error);
    CommandError::Misspelt { error, meant }
}

/// Adds where the key files of a trust file are, if one is missing.
pub(in crate::cli) fn key_file(error: CommandError) -> CommandError {
    match error.category() {
        Category::NotFound => CommandError::Misspelt {
            error: Box::new(error),
            meant: Meant::KeyFile,
        },
        _ => error,
    }
}

/// Adds the command with the registry alone, if a URL or a repository was named.
pub(in crate::cli) fn registry(error: credentials::Error, command: &'static str) -> CommandError {
    let meant = match &error {
        credentials::Error::NotARegistry { text } => registry_of(text),
        _ => None,
    };
    match meant {
        Some(registry) => CommandError::Misspelt {
            error: Box::new(error.into()),
            meant: Meant::Registry { command, registry },
        },
        None => error.into(),
    }
}

/// Suggests the argument that is probably meant.
pub(super) fn hint(meant: &Meant) -> String {
    match meant {
        Meant::Directory(directory) => {
            let directory = printable(directory);
            format!("the directory of a configuration is named with `--chdir {directory}`")
        }
        Meant::KeyFile => {
            "key files are relative to the trust file: copy them beside it, or name fingerprints"
                .to_owned()
        }
        Meant::Into(directory) => {
            let directory = printable(directory);
            format!("if it is the directory to write, name it with `--into {directory}`")
        }
        Meant::Place(place) => format!("did you mean `{}`?", printable(place)),
        Meant::Registry { command, registry } => {
            format!("did you mean `tfoci {command} {registry}`?")
        }
    }
}

/// The host and port of a URL or repository, without a name and password.
fn registry_of(text: &str) -> Option<String> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (authority, _) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let is_whole = host.contains(['.', ':']) || host == "localhost";
    (is_whole && HostPort::parse(host).is_some()).then(|| printable(host))
}

/// The address that is meant by the spelling of another package manager, such as `acme/demo=1.0.0`.
pub(super) fn selection(text: &str) -> Option<String> {
    let (provider, constraints) = text.split_at(text.find(['=', '<', '>', '!', '~'])?);
    let constraints = constraints.trim_start_matches('=').trim();
    let parsed: VersionConstraints = constraints.parse().ok()?;
    let meant = printable(&format!("{}@{constraints}", provider.trim()));
    // A shell reads `<` and `>` without quotes as redirections.
    Some(match parsed.as_exact() {
        Some(_) => format!("`{meant}`"),
        None => format!("`'{meant}'`"),
    })
}

/// The directory in the place of an address.
fn directory(error: &CommandError) -> Option<&str> {
    match error {
        CommandError::Selection(selection::Error::Address { text, .. }) => {
            Path::new(text).is_dir().then_some(text)
        }
        _ => None,
    }
}

/// A single word in the place of an address.
fn word(error: &CommandError) -> Option<&str> {
    match error {
        CommandError::Selection(selection::Error::Address { text, .. }) => {
            let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            text.chars().all(is_word).then_some(text)
        }
        _ => None,
    }
}

/// The store or source that is meant by a text that no repository can have as its name, or by a directory without its prefix.
fn in_store(error: &CommandError, takes_sources: bool) -> Option<String> {
    let text = match &*error.failure()?.problem {
        Problem::Endpoint(AddressError::Repository(TemplateError::Template { text, .. })) => text,
        Problem::Mapping(MappingError::OneRepository { text, .. }) => {
            let is_directory = Path::new(text).is_dir();
            return is_directory.then(|| format!("{LAYOUT}:{text}"));
        }
        _ => return None,
    };
    match (text.contains(':'), takes_sources) {
        (true, true) => prefix(text, &[LAYOUT, NETWORK, FILESYSTEM]),
        (true, false) => prefix(text, &[LAYOUT]),
        (false, true) => nearest(text, &[ORIGIN]).map(str::to_owned),
        (false, false) => None,
    }
}

/// The source that is meant by a text whose prefix is misspelt.
pub(super) fn mirror(text: &str) -> Option<String> {
    prefix(text, &MIRRORS)
}

fn prefix(text: &str, prefixes: &[&'static str]) -> Option<String> {
    let (name, rest) = text.split_once(':')?;
    let path = rest.strip_prefix("//");
    let meant = match (name, path) {
        // Other tools write a registry so.
        ("oci", Some(_)) => return None,
        ("file", _) => of_directory(path.unwrap_or(rest), prefixes),
        _ => nearest(name, prefixes).filter(|meant| *meant != name)?,
    };
    // Directories are written as paths, and not as URLs.
    let rest = path.filter(|_| meant != NETWORK).unwrap_or(rest);
    Some(format!("{meant}:{rest}"))
}

/// The prefix of a directory that a URL names.
fn of_directory(path: &str, prefixes: &[&'static str]) -> &'static str {
    let is_mirror = || nearby::is_mirror(Path::new(path));
    match prefixes.contains(&LAYOUT) && !(prefixes.contains(&FILESYSTEM) && is_mirror()) {
        true => LAYOUT,
        false => FILESYSTEM,
    }
}
