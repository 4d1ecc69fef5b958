//! Hints about the store or source that a command reads, and about the directory that it writes.

use std::path::Path;

use tfoci::error::{printable, printable_path};
use tfoci::shown::Shown;

use crate::cli::arguments::ORIGIN;
use crate::cli::error::{CommandError, Unusable};

pub(super) fn hint(error: &CommandError) -> Option<String> {
    let text = match error {
        CommandError::Source(error) => return Some(source(&error.text)),
        CommandError::NotAStore { text } => return Some(not_a_store(text)),
        CommandError::EmptyStore {
            mirror: Some(directory),
            ..
        } => return Some(is_mirror(directory)),
        CommandError::EmptyStore { store, meant, .. } => {
            return Some(empty_store(store, meant.as_deref()));
        }
        CommandError::NoClientReads { text } => {
            let text = printable(text);
            return Some(format!(
                "`tfoci install --from {text} --into DIR` writes a filesystem mirror"
            ));
        }
        CommandError::Unusable(error) => return Some(unusable(error)),
        CommandError::ListedOnly { option, from } => {
            return Some(format!(
                "leave out `{option}`; `tfoci inspect ADDR@VERSION --from {from}` takes it, and verifies one version"
            ));
        }
        CommandError::NoSelection {
            store,
            is_directory: true,
        } => return Some(format!("did you mean `oci-layout:{}`?", printable(store))),
        CommandError::NoSelection { .. } => {
            "a directory is written `oci-layout:DIR`. A template whose providers can be listed has `{namespace}` and `{type}`, and no other expressions; else name the provider, such as `acme/demo@1.0.0`"
        }
        CommandError::NoStore { .. } => {
            "name it with `--from STORE`, or give a reference as `push` prints it"
        }
        CommandError::TwoStores => "leave out `--from`",
        CommandError::UnknownProvider { .. } => {
            "name the provider and the store: `ADDR@DIGEST --from STORE`"
        }
        CommandError::NothingProven {
            is_listed: false, ..
        } => "`--all` shows the reasons",
        CommandError::NoRepositoryMatches {
            example: Some(_), ..
        } => {
            "write the template like such a name: the same beginning, and as many levels in the same order"
        }
        CommandError::NoRepositoryMatches { example: None, .. } => {
            "the registry is empty, or hides its repositories from this user: a provider that the command names needs no list"
        }
        CommandError::OtherDirectory { .. } => {
            "nothing was written. Name another directory; it need not exist"
        }
        CommandError::NoSiteDirectory { address } => return Some(site_directory(address)),
        CommandError::IntoStore { .. } => "`tfoci copy --to STORE` copies into a store",
        CommandError::NoOci => {
            "`tfoci install --into DIR` writes a filesystem mirror from the registry. `registry.terraform.io` as the default host means terraform, unless `--client` says otherwise"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests where the directory of a site stands.
fn site_directory(address: &str) -> String {
    let address = printable(address);
    format!(
        "name the directory first: `tfoci site DIR {address}`. A directory with this name is written `./{address}`"
    )
}

/// Suggests what may be meant by a text that is not a source.
fn source(text: &Shown) -> String {
    let text = text.to_string();
    match text.starts_with("https://") && !text.contains('…') {
        true => format!(
            "a network mirror is written `network-mirror:{text}`; stores are copied with `tfoci copy`"
        ),
        false => "stores are copied with `tfoci copy`".to_owned(),
    }
}

/// Suggests the command that reads a source and writes a store.
fn not_a_store(text: &str) -> String {
    match text == ORIGIN {
        true => "`tfoci mirror ADDR --to STORE` copies from the origin into a store".to_owned(),
        false => {
            format!("`tfoci mirror ADDR --from {text} --to STORE` copies from it into a store")
        }
    }
}

/// Suggests another configuration.
fn unusable(error: &Unusable) -> String {
    let text = match error {
        Unusable::PlainHttp { .. } => {
            "leave out `--plain-http` if the registry has HTTPS for clients; else use `--into DIR` or `--url URL`"
        }
        Unusable::Port { .. } => {
            "leave it out: `direct` installs it from its origin. `--into DIR` can have it"
        }
    };
    text.to_owned()
}

/// Explains that a directory is a filesystem mirror.
pub(super) fn is_mirror(directory: &Path) -> String {
    format!(
        "it is a filesystem mirror, as `tfoci install --into` writes it, and no store. `mirror`, `versions`, `inspect`, `lock`, and `install` without `--into`, take it as `--from filesystem-mirror:{}`",
        printable_path(directory)
    )
}

/// Suggests where the providers of an empty store are. `meant` is the directory that is probably meant.
fn empty_store(store: &str, meant: Option<&Path>) -> String {
    let text = match meant {
        Some(directory) if *store == format!("oci-layout:{}", directory.display()) => {
            "there are layouts without index.json below it: they are damaged, or were not copied to the end"
        }
        Some(directory) => {
            return format!("did you mean oci-layout:{}?", printable_path(directory));
        }
        None => "check the path: `tfoci push`, `mirror` and `copy` put providers there",
    };
    text.to_owned()
}
