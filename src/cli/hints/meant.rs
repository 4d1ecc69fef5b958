//! Arguments that are probably misspelt. What is meant depends on what the command takes.

use std::path::Path;

use tfoci::error::printable;
use tfoci::nearest::nearest;
use tfoci::outcome::Problem;
use tfoci::selection;
use tfoci::store::endpoint::AddressError;
use tfoci::template::Error as TemplateError;

use crate::cli::error::CommandError;

/// The prefix of directories of layouts.
const LAYOUT: &str = "oci-layout";

/// The prefixes of sources other than the origin.
const MIRRORS: [&str; 2] = ["network-mirror", "filesystem-mirror"];

/// What a command takes as arguments.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Takes {
    /// Whether it reads from sources as well as from stores.
    pub(in crate::cli) sources: bool,
    /// Whether it has the option `--chdir`.
    pub(in crate::cli) directory: bool,
}

/// Adds what is probably meant to an error.
pub(in crate::cli) fn explained(error: CommandError, takes: Takes) -> CommandError {
    let directory = directory(&error).filter(|_| takes.directory);
    let hint = match (directory, in_store(&error, takes.sources)) {
        (Some(directory), _) => {
            let directory = printable(directory);
            format!("the directory of a configuration is named with `--chdir {directory}`")
        }
        (None, Some(meant)) => format!("did you mean `{}`?", printable(&meant)),
        (None, None) => return error,
    };
    let error = Box::new(error);
    CommandError::Misspelt { error, hint }
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

/// The store or source that is meant by a text that no repository can have as its name.
fn in_store(error: &CommandError, takes_sources: bool) -> Option<String> {
    let Problem::Endpoint(AddressError::Repository(TemplateError::Template { text, .. })) =
        &*error.failure()?.problem
    else {
        return None;
    };
    match (text.contains(':'), takes_sources) {
        (true, true) => prefix(text, &[LAYOUT, MIRRORS[0], MIRRORS[1]]),
        (true, false) => prefix(text, &[LAYOUT]),
        (false, true) => nearest(text, &["origin"]).map(str::to_owned),
        (false, false) => None,
    }
}

/// The source that is meant by a text whose prefix is misspelt.
pub(super) fn mirror(text: &str) -> Option<String> {
    prefix(text, &MIRRORS)
}

fn prefix(text: &str, prefixes: &[&str]) -> Option<String> {
    let (name, rest) = text.split_once(':')?;
    let meant = nearest(name, prefixes).filter(|meant| *meant != name)?;
    Some(format!("{meant}:{rest}"))
}
