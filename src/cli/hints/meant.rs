//! Arguments that are probably misspelt.

use tfoci::address::HostPort;
use tfoci::constraint::VersionConstraints;
use tfoci::credentials;
use tfoci::error::{Category, printable};
use tfoci::nearest::nearest;

use crate::cli::error::{CommandError, Meant};

/// What `--from` names if it is each provider's origin.
pub(in crate::cli) const ORIGIN: &str = "origin";

/// The prefix of network mirrors.
const NETWORK: &str = "network-mirror";

/// The prefix of directories that are filesystem mirrors.
const FILESYSTEM: &str = "filesystem-mirror";

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
        Meant::KeyFile => {
            "key files are relative to the trust file: copy them beside it, or name fingerprints"
                .to_owned()
        }
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

/// The source that is meant by a text whose prefix is misspelt.
pub(super) fn mirror(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(':')?;
    let path = rest.strip_prefix("//");
    let meant = match name {
        // Other tools write a registry so.
        "oci" if path.is_some() => return None,
        "file" => FILESYSTEM,
        _ => nearest(name, &[NETWORK, FILESYSTEM]).filter(|meant| *meant != name)?,
    };
    // Directories are written as paths, and not as URLs.
    let rest = path.filter(|_| meant != NETWORK).unwrap_or(rest);
    Some(format!("{meant}:{rest}"))
}
