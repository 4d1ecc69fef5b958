//! Hints: suggestions that follow an error. They depend on the variant of the error, never on its text.
//!
//! The library states what happened; only here is known which option or command helps. An error without a hint is one that the user can do
//! nothing about, or whose message already says what to do.

mod files;
mod folders;
mod locking;
pub(super) mod meant;
mod mirroring;
mod origins;
mod proof;
mod reach;
mod stores;
mod versions;

use std::ffi::OsStr;
use std::path::Path;

use tfoci::address::pattern;
use tfoci::blob;
use tfoci::configuration;
use tfoci::error::{printable, printable_path};
use tfoci::oci;
use tfoci::outcome::{At, Failure, Problem};
use tfoci::platform::Platform;
use tfoci::selection;
use tfoci::shown::Shown;
use tfoci::store;
use tfoci::version::Version;

use super::error::CommandError;

/// A suggestion for this error, if there is one.
pub(super) fn of(error: &CommandError) -> Option<String> {
    if let Some(hint) = files::home(error) {
        return Some(hint);
    }
    match error {
        CommandError::Misspelt { hint, .. } => Some(hint.clone()),
        CommandError::Journey(failure) => journey(failure),
        CommandError::NotLocked { failure, .. } if matches!(failure.at, At::From(_)) => proof::not_locked_in_store(&failure.problem),
        CommandError::Mirroring(failure) | CommandError::NotLocked { failure, .. } => mirroring::hint(failure).or_else(|| journey(failure)),
        CommandError::Locking(failure) | CommandError::NotSelected { failure, .. } => locking::hint(failure).or_else(|| journey(failure)),
        CommandError::DataLink { .. } => Some("name the directory that it leads to with TF_DATA_DIR".to_owned()),
        CommandError::LockDiffers { difference, .. } => Some(locking::differs(difference)),
        CommandError::LockTarget(error) => locking::target(error),
        CommandError::ModuleMissing { client, directory, .. } => Some(locking::get(*client, directory)),
        CommandError::NotRequired { .. } => Some("add it to `required_providers`, or name another directory with `--chdir`".to_owned()),
        CommandError::NoMethod { .. } => Some("`--from origin` asks the provider's own registry".to_owned()),
        CommandError::Configuration(configuration::Error::Empty { .. }) => {
            Some("name another directory, with `--chdir`; or a provider, such as `acme/demo@~> 1.0`".to_owned())
        }
        CommandError::Credentials(error) => reach::credentials(error),
        CommandError::NoTerminal => {
            Some("`--username NAME --password-stdin` reads the password from standard input".to_owned())
        }
        CommandError::TrustFile { source, .. } => Some(proof::trust_file(source)),
        CommandError::KeyAsTrust { .. } => Some("a file of keys is named with `--key`, or by `keys` in a trust file".to_owned()),
        CommandError::KeyFile { is_trust_file: true, .. } => Some("a trust file is named with `--trust`".to_owned()),
        CommandError::KeyFile { error, .. } | CommandError::Trust(error) => proof::key_file(error),
        CommandError::KeyNotFile { .. } => {
            Some("a fingerprint goes into `keys` of a trust file (`tfoci help trust`); `gpg --export --armor FINGERPRINT` writes the key itself".to_owned())
        }
        CommandError::NoSuchTrustFile { .. } => Some("check the path; `tfoci mirror --pin-new` creates a new one, with the keys that it sees".to_owned()),
        CommandError::NoTls => Some(
            "`--tls-cert FILE --tls-key FILE` serves HTTPS, which clients require. `--plain-http` leaves it to a proxy, or is enough for a look at the page".to_owned(),
        ),
        CommandError::NotPinned { .. } => {
            Some("pin them by hand: a table with `match` and `keys`, before any other that matches the provider".to_owned())
        }
        CommandError::NotText { .. } => Some(files::ENCODING.to_owned()),
        CommandError::LockFile { source, .. } => files::lock(source),
        CommandError::Serve(error) => files::serve(error),
        CommandError::MirrorFile { source, .. } => Some(mirroring::file(source)),
        CommandError::NoTrustFile => Some("name it with `--trust FILE`: it is created if it does not exist".to_owned()),
        CommandError::NoDestination { file: Some(file), is_in_file: true, .. } => {
            Some(format!("leave out the address: {} has it", printable_path(file)))
        }
        CommandError::NoDestination { file: Some(file), .. } => {
            Some(format!("name the store with `--to STORE`, or add the provider to {}", printable_path(file)))
        }
        CommandError::NoDestination { .. } => {
            Some("name the store with `--to STORE`, or with `to` in the mirror file".to_owned())
        }
        CommandError::NoVersionWanted { text, is_exact: true, .. } => {
            Some(format!("did you mean `tfoci inspect {}`?", printable(text)))
        }
        CommandError::Source(error) => Some(source(&error.text)),
        CommandError::NoSelection => {
            Some("a directory is written `oci-layout:DIR`. A template whose providers can be listed has `{namespace}` and `{type}`, and no other expressions; else name the provider, such as `acme/demo@1.0.0`".to_owned())
        }
        CommandError::NotAStore { text } if text == meant::ORIGIN => Some(
            "`tfoci mirror ADDR --to STORE` copies from the origin into a store".to_owned(),
        ),
        CommandError::NotAStore { text } => Some(format!(
            "`tfoci mirror ADDR --from {text} --to STORE` copies from it into a store"
        )),
        CommandError::NothingToMirror => Some(
            "name providers, such as `hashicorp/random`, or a file that does: `--file FILE`, `--from-lock FILE`, `--from-config DIR`".to_owned(),
        ),
        CommandError::Selection(selection::Error::Address { text, .. }) => address(text),
        CommandError::Pattern(pattern::Error::Name { name, .. }) if name.contains('@') => {
            Some("a pattern names providers, and no version".to_owned())
        }
        CommandError::Pattern(pattern::Error::Name { name, .. }) if name.contains('.') => {
            Some(format!("`{}/*/*` is every provider of a host", printable(name)))
        }
        CommandError::NoStore { .. } => Some("name it with `--from STORE`, or give a reference as `push` prints it".to_owned()),
        CommandError::TwoStores => Some("leave out `--from`".to_owned()),
        CommandError::UnknownProvider { .. } => Some("name the provider and the store: `ADDR@DIGEST --from STORE`".to_owned()),
        CommandError::NothingProven { is_listed: false, .. } => Some("`--all` shows the reasons".to_owned()),
        CommandError::IntoStore { .. } => Some("`tfoci copy --to STORE` copies into a store".to_owned()),
        CommandError::NoRepositoryMatches { example: Some(_), .. } => {
            Some("give the template as many levels as the repositories have, in the same order".to_owned())
        }
        CommandError::NoOci => Some("`tfoci install --into DIR` writes a filesystem mirror from the registry".to_owned()),
        CommandError::NoClientReads { text } => Some(format!("`tfoci install --from {} --into DIR` writes a filesystem mirror", printable(text))),
        CommandError::EmptyStore { store, meant: Some(directory) }
            if *store == format!("oci-layout:{}", directory.display()) =>
        {
            Some("there are layouts without index.json below it: they are damaged, or were not copied to the end".to_owned())
        }
        CommandError::EmptyStore { meant: Some(directory), .. } => {
            Some(format!("did you mean oci-layout:{}?", printable_path(directory)))
        }
        CommandError::EmptyStore { .. } => {
            Some("check the path: `tfoci push`, `mirror` and `copy` put providers there".to_owned())
        }
        CommandError::Topic { .. } => Some("`tfoci help` lists the commands and topics".to_owned()),
        CommandError::Filter => Some("`--rebuild-index` writes an index of these platforms, as `push` would".to_owned()),
        CommandError::OwnAnnotation { .. } => {
            Some("choose another key; registries link a package to its sources by `org.opencontainers.image.source`".to_owned())
        }
        _ => None,
    }
}

/// Suggests what else may be meant by a text that is not a source.
fn source(text: &Shown) -> String {
    let text = text.to_string();
    if let Some(meant) = meant::mirror(&text) {
        return format!("did you mean `{meant}`?");
    }
    match text.starts_with("https://") && !text.contains('…') {
        true => format!(
            "a network mirror is written `network-mirror:{text}`; stores are copied with `tfoci copy`"
        ),
        false => "stores are copied with `tfoci copy`".to_owned(),
    }
}

/// Suggests how to write what is not an address of a provider.
fn address(text: &str) -> Option<String> {
    if text.contains('*') {
        return Some("an address names one provider and has no `*`".to_owned());
    }
    if let Some(meant) = meant::selection(text) {
        return Some(format!("a version follows an `@`: {meant}"));
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
    let is_host = host.contains('.') && !rest.contains('/');
    is_host.then(|| {
        let host = printable(host);
        format!("an address with a host has three parts: `{host}/NAMESPACE/TYPE`")
    })
}

/// Suggests the platform that is meant by the name that another tool has for it.
fn meant_platform(platforms: &[Platform]) -> Option<String> {
    let meant = platforms.iter().find_map(Platform::in_names_of_go)?;
    Some(format!("did you mean `--platform {meant}`?"))
}

fn journey(failure: &Failure) -> Option<String> {
    let provider = failure
        .subject
        .as_ref()
        .map(|subject| subject.provider.to_string());
    let address = provider.unwrap_or_else(|| "ADDR".to_owned());
    let text = match &*failure.problem {
        Problem::Endpoint(error) => return stores::address(error),
        Problem::Mapping(error) => return stores::mapping(error),
        Problem::Source(error) => return origins::at_source(error),
        Problem::Package { source, .. } => return origins::of_package(source),
        Problem::Unread(store::Error::Blob { .. } | store::Error::Missing { .. }) => {
            "this version was not tagged. The store that is copied from is damaged: copy the version onto it again, `tfoci mirror --recheck` it, or push its release with `--existing replace`".to_owned()
        }
        Problem::Store(error) | Problem::Unread(error) => return stores::store(error),
        Problem::Blob(blob::Error::Http(error)) => return reach::host(error),
        Problem::Trust(error) => return proof::untrusted(error, &address),
        Problem::Folder(error) => return folders::in_folder(error, &address),
        Problem::Unreadable(error @ store::Error::Refusal(oci::Refusal::Repeated { .. })) => {
            return stores::store(error);
        }
        Problem::Unreadable(_) => {
            "evidence that cannot be read proves nothing. Pushing the release again writes it anew".to_owned()
        }
        Problem::Archive { source, .. } => return folders::in_zip(source),
        Problem::OtherProvider { stored, .. } if matches!(failure.at, At::From(_)) => format!(
            "name the provider that the packages were made for. Where the names of repositories have no host, `--default-host {}` names it",
            stored.hostname()
        ),
        Problem::NoProvider => return Some(versions::no_provider(&address, &failure.at)),
        problem => return versions::hint(problem, &address),
    };
    Some(text)
}
