//! Hints about sources that do not provide a version or package.

use tfoci::credentials::tokens;
use tfoci::disk;
use tfoci::error::printable;
use tfoci::outcome::PackageError;
use tfoci::source;

use super::{Effect, reach, versions};

/// A web page in place of a document.
const PAGE: &str =
    "a page in place of JSON often means that something between here and the server wants a login";

/// Suggests what to do if a source does not provide a package.
pub(super) fn of_package(error: &PackageError, effect: Effect) -> Option<String> {
    let text = match error {
        PackageError::Source(error) => return at_source(error, effect),
        PackageError::Http(error) => return reach::host(error),
        PackageError::Blob(_) => {
            "this version was not tagged. The bytes are not the announced ones: the source is broken, or a proxy changes packages"
        }
    };
    Some(text.to_owned())
}

/// As [`at_source`]. An address without a host may mean another provider than the one that a mirror lacks.
pub(super) fn of_provider(error: &source::Error, address: &str, effect: Effect) -> Option<String> {
    let hint = at_source(error, effect)?;
    match (error, versions::without_host(address)) {
        (source::Error::NotServed { .. } | source::Error::NotMirrored { .. }, Some(short)) => {
            Some(format!(
                "{hint}. If another host is meant: `{short}` means {address}, and `--default-host HOST` changes that"
            ))
        }
        _ => Some(hint),
    }
}

/// Suggests what to do if a source fails.
pub(super) fn at_source(error: &source::Error, effect: Effect) -> Option<String> {
    let text = match error {
        source::Error::Http(error) => return reach::host(error),
        source::Error::Credentials(error) => return reach::credentials(error),
        source::Error::Disk(disk::Error::TempFile { .. }) => {
            "packages of unknown size or hash are downloaded there first. Free some space, name another directory with TMPDIR, or download one at a time with `--jobs 1`"
        }
        source::Error::Unauthorized {
            tried: tried @ source::AuthTried::NoToken { .. },
            status: 403,
            ..
        } => {
            return authenticate(tried).map(|hint| {
                format!("{hint}. A web server without tokens answers 403 too, if it may not read the file or a directory above it")
            });
        }
        source::Error::Unauthorized { tried, .. } => return authenticate(tried),
        source::Error::Status {
            status: 404,
            what: source::Document::Checksums | source::Document::Signature,
            ..
        } => {
            return Some(effect.hint(
                "The origin lists a file that does not exist, so clients cannot install this version either",
            ));
        }
        source::Error::Status {
            status,
            what,
            retry_after,
            ..
        } => {
            let hint = of_status(*status, what, retry_after.is_some());
            return hint.map(str::to_owned);
        }
        source::Error::Unpacked { .. } => {
            "mirror it from its origin: lock files pin the hashes of authors' zips"
        }
        source::Error::Linked { .. } => {
            "put a directory in the place of the link: only the mirror itself and its zips may be links"
        }
        source::Error::Repeated { .. } => {
            return Some(effect.hint(
                "Such a document can show one package to tfoci and another to the client that installs it: its owner has to fix it",
            ));
        }
        source::Error::ContentType { .. } => PAGE,
        source::Error::OtherType { .. } => {
            "clients accept `application/json` only; in nginx, `include mime.types;` within `http` says so"
        }
        error if error.is_page() => PAGE,
        error => return lacking(error),
    };
    Some(text.to_owned())
}

/// Suggests where to look for what the source does not have.
fn lacking(error: &source::Error) -> Option<String> {
    let text = match error {
        source::Error::NoService { .. } => {
            "if the provider registry is on another host, a `host` block in the CLI configuration names it"
        }
        source::Error::NoProvider { .. } => {
            "the full address counts: the same name on another host is another provider. A private one may need a token"
        }
        source::Error::NotServed { .. } => {
            "the mirror does not have this provider, or is not at this URL: its address ends where HOSTNAME/NAMESPACE/TYPE begins"
        }
        source::Error::NotMirrored { .. } => {
            "name the directory above the hosts: packages lie in HOSTNAME/NAMESPACE/TYPE below it"
        }
        source::Error::NoPlatform { platforms, .. }
            if platforms.keys().any(|one| one.probably_meant().is_some()) =>
        {
            return super::meant_platform(platforms.keys());
        }
        source::Error::NoPlatform { available, .. } if !available.is_empty() => {
            "choose among these by `--platform`, or by `platforms` in the mirror file"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Suggests what to do if a source answers with an error. `says_when` tells whether it says when to ask again.
fn of_status(status: u16, what: &source::Document, says_when: bool) -> Option<&'static str> {
    match status {
        429 if says_when => {
            Some("run it again when that time has passed: what is done is not repeated")
        }
        429 => {
            Some("run it again later, with fewer at once (`--jobs`): what is done is not repeated")
        }
        404 => absent(what),
        501 => Some(
            "the server does not do this at all: its owner has to say what serves providers there",
        ),
        500.. => Some(
            "the server fails, and asking again did not help. Run it again later: what is done is not repeated",
        ),
        _ => None,
    }
}

/// Suggests what to do if a document or file that the source refers to is missing.
fn absent(what: &source::Document) -> Option<&'static str> {
    match what {
        source::Document::Package(_) | source::Document::Archives => {
            Some("the source lists a package that is not there: its owner has to publish it again")
        }
        _ => None,
    }
}

/// Suggests how to authenticate to the source.
fn authenticate(tried: &source::AuthTried) -> Option<String> {
    let text = match tried {
        source::AuthTried::NoToken { host } => match tokens::variable(host) {
            Some(variable) => {
                return Some(format!(
                    "give it a token: {variable}, or a `credentials` block in the CLI configuration"
                ));
            }
            None => {
                return Some(format!(
                    "give it a token: `credentials \"{}\"` in the CLI configuration",
                    host.to_unicode()
                ));
            }
        },
        source::AuthTried::Token { .. } => {
            "the token may have expired, or may not read this provider"
        }
        source::AuthTried::NoLogin { host } => {
            return Some(format!(
                "packages get names and passwords, never tokens: `machine {}` in .netrc",
                printable(host)
            ));
        }
        source::AuthTried::Login { .. } => {
            "the password may have changed, or may not read this package"
        }
        source::AuthTried::Redirected => {
            "tokens and passwords go to no host that is only redirected to. A `host` block in the CLI configuration names where a provider registry is; a URL of a package that is signed may have expired"
        }
        source::AuthTried::Nothing => {
            "clients send no credentials for it either: the source has to serve it without, or by a signed URL"
        }
    };
    Some(text.to_owned())
}
