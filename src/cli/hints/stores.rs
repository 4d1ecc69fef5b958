//! Hints about stores that cannot be read or written.

use std::path::Path;

use tfoci::address::ProviderAddr;
use tfoci::blob;
use tfoci::error::{printable, printable_path};
use tfoci::http;
use tfoci::nearest::nearest;
use tfoci::oci;
use tfoci::outcome::{At, Problem};
use tfoci::place::Place;
use tfoci::store::endpoint::{AddressError, MappingError};
use tfoci::store::known::{KnownRegistry, LevelsError};
use tfoci::store::{self, Endpoint};
use tfoci::template::{Error as TemplateError, TemplateProblem};

use super::reach;

/// The symbols of a template.
const SYMBOLS: [&str; 3] = ["hostname", "namespace", "type"];

/// Explains the risk of a JSON object with a duplicate member.
const TWO_MEANINGS: &str = "such a document can show one package to a tool that verifies it and another to the client that installs it. Find out who wrote it before you replace it";

/// Suggests what to do about a store address.
pub(super) fn address(error: &AddressError) -> Option<String> {
    match error {
        AddressError::Repository(error) => template(error),
        AddressError::Levels(error) => Some(levels(error)),
        AddressError::User { .. } => {
            Some("`tfoci login REGISTRY` keeps them where no message shows them".to_owned())
        }
        _ => None,
    }
}

/// Suggests what to do about a provider that has no place in a store.
pub(super) fn mapping(error: &MappingError) -> Option<String> {
    let text = match error {
        MappingError::Template(error) => return template(error),
        MappingError::Levels(error) => return Some(levels(error)),
        MappingError::OneRepository { text, .. } => {
            const EXACT: &str = "put `{hostname}`, `{namespace}` and `{type}` into the address; or, for this one repository, add `--exact-repository`";
            return Some(directory(text).unwrap_or_else(|| EXACT.to_owned()));
        }
        MappingError::NoType { .. } => {
            "add `{type}` to the template; or, for this one repository, `--exact-repository`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests a layout in place of what could be the name of one repository. Those of registries begin with a host, which has a dot or a port.
pub(super) fn directory(text: &str) -> Option<String> {
    if Path::new(text).is_dir() {
        return Some(format!("did you mean `oci-layout:{}`?", printable(text)));
    }
    let host = text.split('/').next().unwrap_or_default();
    let is_host = host == "localhost" || host.contains(['.', ':']);
    (!is_host).then(|| {
        "a directory is written `oci-layout:DIR`; the template of a registry has `{hostname}`, `{namespace}` and `{type}`".to_owned()
    })
}

/// Suggests how to create a repository.
fn no_repository(registry: KnownRegistry, name: &str) -> String {
    match registry {
        KnownRegistry::Ecr => {
            format!(
                "create it first: `aws ecr create-repository --repository-name {}`",
                printable(name)
            )
        }
        _ => "create the repository, or the project that it belongs to, before the first push"
            .to_owned(),
    }
}

pub(super) fn store(error: &store::Error) -> Option<String> {
    if error.is_about_access() {
        return access(error);
    }
    if let Some(hint) = layout(error) {
        return Some(hint);
    }
    let text = match error {
        store::Error::Template(error) => return template(error),
        store::Error::NoRepository { registry, name, .. } => {
            return Some(no_repository(*registry, name));
        }
        store::Error::Unwelcome { .. } => {
            "nothing of this version was changed. Some registries take only media types that they know: an update may know those of OpenTofu (GitLab since late 2025), or the registry's operator can add them"
        }
        store::Error::Immutable { .. } => {
            "the version is as it was. Push all platforms of a version at once, or have the registry's operator let the tags of this repository move"
        }
        store::Error::BadLink {
            is_foreign: true, ..
        } => reach::OUTER_ADDRESS,
        store::Error::NoCatalog { .. } => {
            "other commands do without the list: name the providers, such as `acme/demo`"
        }
        store::Error::Moved { .. } => {
            "the version was published again, or the reference is of another store. Find out who moved the tag before you use the new reference"
        }
        store::Error::Refusal(oci::Refusal::BodyArtifactType { received, .. })
            if received.is_empty() =>
        {
            "another tool may have copied it and left out what clients need: copy it with `tfoci copy`"
        }
        store::Error::Refusal(oci::Refusal::Repeated { .. })
        | store::Error::LayoutRepeated { .. }
        | store::Error::Repeated { .. } => TWO_MEANINGS,
        store::Error::Refusal(oci::Refusal::NoPlatform { platform, .. })
            if platform.probably_meant().is_some() =>
        {
            return super::meant_platform(std::slice::from_ref(platform));
        }
        store::Error::Refusal(oci::Refusal::NoPlatform { available, .. })
            if !available.is_empty() =>
        {
            "choose one of these with `--platform`, or mirror or push the one that is missing"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests what to do about a layout that is incomplete, or is not where it is expected.
fn layout(error: &store::Error) -> Option<String> {
    let text = match error {
        store::Error::IsRepository { path } => {
            return Some(around(path).unwrap_or_else(|| {
                "for the provider that is in it, name the provider and add `--exact-repository`"
                    .to_owned()
            }));
        }
        store::Error::NoParent { .. } => {
            "if it is the place of a disk, mount the disk; otherwise create the directory"
        }
        store::Error::Incomplete { .. } => {
            "it may be written just now, was not copied to the end, or is on a disk that is not mounted. Otherwise restore the file, or delete the directory and copy, mirror or push its versions again"
        }
        store::Error::Marker { .. } => {
            "restore the file, or write what is expected into it, if the rest of the layout is whole"
        }
        store::Error::LayoutIndex { .. } => {
            "restore the file, or delete the directory of this layout and copy, mirror or push its versions again"
        }
        store::Error::NoStore { .. } => {
            "check the path: `tfoci push`, `mirror` and `copy` create a store there. A directory that is one layout by itself needs `--exact-repository`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests how to repair a store that has lost a part of a version, or has other bytes.
pub(super) fn damaged(error: &store::Error, at: &At) -> String {
    let text = match error {
        _ if matches!(at.place(), Some(Place::Layout(_))) => {
            "the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`"
        }
        store::Error::Missing { .. } => {
            "the registry has lost it. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again"
        }
        _ => {
            "a registry keeps the bytes that it has, even if the right ones are uploaded. Its operator has to delete this blob from the storage of the registry; then `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes it again"
        }
    };
    text.to_owned()
}

/// Suggests what to do about a store that cannot be opened, to a command that takes no single repository.
pub(super) fn of_all(problem: &Problem) -> Option<String> {
    let text = match problem {
        Problem::Store(store::Error::IsRepository { path }) => {
            return Some(around(path).unwrap_or_else(|| {
                "move it to DIR/HOSTNAME/NAMESPACE/TYPE, and name `oci-layout:DIR`".to_owned()
            }));
        }
        Problem::Store(store::Error::NoStore { .. }) => {
            "check the path: `tfoci push`, `mirror` and `copy` create a store there"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests the store that has this layout, if the directories around it have the names of a provider.
fn around(layout: &Path) -> Option<String> {
    let meant = store_around(&format!("oci-layout:{}", layout.display()))?;
    Some(format!("did you mean {meant}?"))
}

/// The store that has this layout.
pub(super) fn store_around(layout: &str) -> Option<String> {
    let meant = Endpoint::parse(layout, false).ok()?.likely_directory()?;
    Some(format!("oci-layout:{}", printable_path(&meant)))
}

/// Suggests what to do about a store that cannot be reached, or that refuses the credentials.
fn access(error: &store::Error) -> Option<String> {
    match error {
        store::Error::Http(http::Error::Plain { was_tls: true, .. }) => {
            Some(reach::OUTER_ADDRESS.to_owned())
        }
        store::Error::Http(error)
        | store::Error::Blob {
            source: blob::Error::Http(error),
            ..
        } => reach::host(error),
        store::Error::Credentials(error) => reach::credentials(error),
        store::Error::Unauthorized { host, tried, .. } => {
            Some(reach::unauthorized(host, tried.is_some()))
        }
        store::Error::ListRefused(refused) => {
            let advice = access(refused)?;
            let advice = advice.strip_suffix(reach::NO_REPOSITORY).unwrap_or(&advice);
            Some(format!(
                "{advice}. If `versions` works with them, this registry does not list its repositories to you: name the providers, such as `acme/demo`"
            ))
        }
        store::Error::Forbidden { host, .. } => Some(format!(
            "ask the registry's operator for this permission, or `tfoci login {host}` as a user who has it{}",
            reach::NO_REPOSITORY
        )),
        store::Error::NoRegistry { .. } => {
            const OTHER_SERVER: &str = "name the host and port of a registry; its API begins at /v2/. `tfoci serve` is a network mirror, which `--from network-mirror:URL` reads";
            Some(OTHER_SERVER.to_owned())
        }
        store::Error::Registry { status: 405, .. } => {
            const READ_ONLY: &str = "the registry refuses this kind of request: if it is a cache of another one, or may only be read, write to one that takes uploads";
            Some(READ_ONLY.to_owned())
        }
        store::Error::WantsTls { url, .. } => reach::maybe_tls(url),
        store::Error::RefusedElsewhere { registry, .. } => Some(format!(
            "no login helps: the credentials for {registry} go to no other host. Ask the registry's operator why that host refuses"
        )),
        _ => None,
    }
}

fn levels(levels: &LevelsError) -> String {
    match levels.expected.is_exact {
        true => "join what tells providers apart with underscores, such as `{namespace}_{type}`"
            .to_owned(),
        false => "add the levels that are missing".to_owned(),
    }
}

/// A shell has replaced symbols by nothing.
const EMPTIED: &str = "put the template in single quotes: between double quotes a shell replaces `${…}` by nothing. `{namespace}` needs no quotes";

/// Shells replace an unquoted `${…}` by nothing. A template without placeholders is often meant as a directory.
fn template(error: &TemplateError) -> Option<String> {
    use tfoci::oci::repository_name::RepositoryErrorKind;
    if let TemplateError::Template { text, .. } | TemplateError::Provider { text, .. } = error
        && let Some(symbol) = SYMBOLS
            .into_iter()
            .find(|symbol| text.contains(&format!("${symbol}")))
    {
        return Some(format!(
            "a symbol has braces: write `${{{symbol}}}`, in single quotes"
        ));
    }
    if let TemplateError::Template { text, .. } = error {
        if text.is_empty() {
            return Some("a variable of the shell that is not set gives an empty text".to_owned());
        }
        if text.ends_with('/') && !text.contains("//") {
            return Some("leave out the slash at the end".to_owned());
        }
    }
    if let TemplateError::Template { problems, .. } = error
        && let Some(meant) = problems.iter().find_map(meant_symbol)
    {
        return Some(format!("did you mean `{meant}`?"));
    }
    if let TemplateError::Template { text, problems } = error
        && let [TemplateProblem::Shared { meant }] = problems.as_slice()
    {
        let (text, meant) = (printable(text), printable(meant));
        return Some(format!(
            "`tfoci copy --from '{text}' --to '{meant}'` copies what is there to a template that keeps providers apart"
        ));
    }
    if let TemplateError::Template { text, problems } = error
        && let [TemplateProblem::Missing { .. }, ..] = problems.as_slice()
    {
        if text.contains("//") {
            return Some(EMPTIED.to_owned());
        }
        return Some(
            "put `{hostname}`, `{namespace}` and `{type}` into the address; or name only providers that it tells apart, such as `'example.com/*/*'` without `{hostname}`"
                .to_owned(),
        );
    }
    let text = match error.mistake_in_name()? {
        RepositoryErrorKind::TagOrDigest { found } => match error {
            TemplateError::Provider { text, provider, .. } if found.starts_with(':') => {
                return Some(host_with_port(text, provider));
            }
            _ => {
                return Some(format!(
                    "leave out `{}`: tfoci makes the tags itself, from the versions",
                    printable(found)
                ));
            }
        },
        RepositoryErrorKind::EmptyComponent | RepositoryErrorKind::Separator { .. } => EMPTIED,
        RepositoryErrorKind::Scheme => {
            "leave out the scheme: tfoci speaks HTTPS, and plain HTTP with `--plain-http HOST`. A network mirror is read with `--from network-mirror:URL`, where the command takes it"
        }
        RepositoryErrorKind::NoName => {
            "a directory is written `oci-layout:DIR`, a registry `REGISTRY/REPOSITORY`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// The symbol that is probably meant by one that does not exist.
fn meant_symbol(problem: &TemplateProblem) -> Option<&'static str> {
    match problem {
        TemplateProblem::Symbol { name } => nearest(name, &SYMBOLS),
        _ => None,
    }
}

/// Suggests a template for a provider whose host has a port.
fn host_with_port(template: &str, provider: &ProviderAddr) -> String {
    let registry = printable(template.split('/').next().unwrap_or_default());
    let host = provider.hostname();
    format!(
        "the name of a repository has no port. Give such a host a template of its own, such as `'{registry}/local/${{namespace}}/${{type}}'`, and read it with `--default-host {host}`"
    )
}
