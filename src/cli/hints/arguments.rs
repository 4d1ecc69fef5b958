//! Hints about arguments that name no provider or version, or that are missing.

use std::ffi::OsStr;
use std::path::Path;

use tfoci::constraint::{self, ConstraintError};
use tfoci::error::{printable, printable_path};
use tfoci::selection;
use tfoci::version::Version;

use crate::cli::error::CommandError;

pub(super) fn hint(error: &CommandError) -> Option<String> {
    let text = match error {
        CommandError::Selection(selection::Error::Address { text, .. }) => return address(text),
        CommandError::Selection(selection::Error::Constraints(error)) => {
            return without_v(error);
        }
        CommandError::NoVersionWanted {
            command: "versions",
            text,
            is_exact: true,
            ..
        } => return Some(format!("did you mean `tfoci inspect {}`?", printable(text))),
        CommandError::NoDestination {
            file, is_in_file, ..
        } => return Some(destination(file.as_deref(), *is_in_file)),
        CommandError::NothingToMirror => {
            "name providers, such as `hashicorp/random`, or a file that does: `--file FILE`, `--from-lock FILE`, `--from-config DIR`"
        }
        CommandError::NoTerminal => {
            "`--username NAME --password-stdin` reads the password from standard input"
        }
        CommandError::Topic {
            meant: Some(meant), ..
        } => return Some(format!("did you mean `tfoci help {meant}`?")),
        CommandError::Topic { meant: None, .. } => "`tfoci help` lists the commands and topics",
        CommandError::Filter => {
            "`--rebuild-index` writes an index of these platforms, as `push` would"
        }
        CommandError::OwnAnnotation { .. } => {
            "choose another key; registries link a package to its sources by `org.opencontainers.image.source`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests how to name a store to mirror into.
fn destination(file: Option<&Path>, is_in_file: bool) -> String {
    match file.map(printable_path) {
        Some(file) if is_in_file => format!("leave out the address: {file} has it"),
        Some(file) => {
            format!("name the store with `--to STORE`, or add the provider to {file}")
        }
        None => "name the store with `--to STORE`, or with `to` in the mirror file".to_owned(),
    }
}

/// The constraint that is meant by the name of a release tag, such as `v1.0.0`.
fn without_v(error: &constraint::Error) -> Option<String> {
    let is_tag = error.mistake == ConstraintError::LeadingV;
    is_tag.then(|| {
        let meant = error.text.replacen(['v', 'V'], "", 1);
        format!("did you mean `{}`?", printable(&meant))
    })
}

/// The address in a URL.
fn without_scheme(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let rest = rest.trim_end_matches('/');
    let address = rest.split('@').next().unwrap_or_default();
    let is_url = ["http", "https"].contains(&scheme) && address.matches('/').count() == 2;
    is_url.then(|| format!("write it without `{scheme}://`: `{}`", printable(rest)))
}

/// Suggests how to write what is not an address of a provider.
fn address(text: &str) -> Option<String> {
    if text.contains('*') {
        return Some("an address names one provider and has no `*`".to_owned());
    }
    if let Some(meant) = without_scheme(text) {
        return Some(meant);
    }
    let extension = Path::new(text).extension().and_then(OsStr::to_str);
    let shown = printable(text);
    match extension {
        Some("toml") => return Some(format!("a mirror file is named with `--file {shown}`")),
        Some("hcl") => return Some(format!("a lock file is named with `--from-lock {shown}`")),
        _ if text.parse::<Version>().is_ok() => {
            return Some(format!("a version follows its provider: `ADDR@{shown}`"));
        }
        _ => {}
    }
    let (host, rest) = text.split_once('/')?;
    if !host.contains(['.', ':']) {
        return None;
    }
    match rest.matches('/').count() {
        0 => {
            let host = printable(host);
            Some(format!(
                "an address with a host has three parts: `{host}/NAMESPACE/TYPE`"
            ))
        }
        1 => None,
        _ => Some(format!(
            "a version in a repository is `{shown}:VERSION`, as `push` prints it"
        )),
    }
}
