//! Hints about sources that do not provide a version or package.

use tfoci::credentials::tokens;
use tfoci::disk;
use tfoci::error::printable;
use tfoci::outcome::PackageError;
use tfoci::source;

use super::{reach, stores};

/// Suggests what to do if a source does not provide a package.
pub(super) fn of_package(error: &PackageError) -> Option<String> {
    match error {
        PackageError::Source(error) => at_source(error),
        PackageError::Store(error) => stores::store(error),
        PackageError::Http(error) => reach::host(error),
        PackageError::Blob(_) => Some("this version was not tagged. The bytes are not the announced ones: the source is broken, or a proxy changes packages".to_owned()),
    }
}

/// Suggests what to do if a source fails.
pub(super) fn at_source(error: &source::Error) -> Option<String> {
    let text = match error {
        source::Error::Http(error) => return reach::host(error),
        source::Error::Credentials(error) => return reach::credentials(error),
        source::Error::Disk(disk::Error::TempFile { .. }) => {
            "packages of unknown size or hash are downloaded there first. Free some space, name another directory with TMPDIR, or download one at a time with `--jobs 1`".to_owned()
        }
        source::Error::Unauthorized { tried, .. } => return authenticate(tried),
        source::Error::Status { status: 429, retry_after: Some(_), .. } => {
            "run it again when that time has passed: what is done is not repeated".to_owned()
        }
        source::Error::Status { status: 429, .. } => {
            "run it again later, with fewer at once (`--jobs`): what is done is not repeated".to_owned()
        }
        source::Error::Status { status: 404, what, .. } => return absent(what).map(str::to_owned),
        source::Error::Status { status: 501, .. } => {
            "the server does not do this at all: its owner has to say what serves providers there".to_owned()
        }
        source::Error::Status { status: 500.., .. } => {
            "the server fails, and asking again did not help. Run it again later: what is done is not repeated".to_owned()
        }
        source::Error::NoService { .. } => {
            "if the registry is on another host, a `host` block in the CLI configuration names it".to_owned()
        }
        source::Error::NoProvider { .. } => {
            "the full address counts: the same name on another host is another provider. A private one may need a token".to_owned()
        }
        source::Error::NotServed { .. } => {
            "the mirror does not have this provider, or is not at this URL: its address ends where HOSTNAME/NAMESPACE/TYPE begins".to_owned()
        }
        source::Error::NotMirrored { .. } => {
            "name the directory above the hosts: packages lie in HOSTNAME/NAMESPACE/TYPE below it".to_owned()
        }
        source::Error::NoPlatform { platforms, .. }
            if platforms.iter().any(|one| one.in_names_of_go().is_some()) =>
        {
            return super::meant_platform(platforms);
        }
        source::Error::NoPlatform { available, .. } if !available.is_empty() => {
            "choose among these by `--platform`, or by `platforms` in the mirror file".to_owned()
        }
        source::Error::Unpacked { .. } => {
            "mirror it from its origin: lock files pin the hashes of authors' zips".to_owned()
        }
        source::Error::Linked { .. } => {
            "put a directory in the place of the link: only the mirror itself and its zips may be links".to_owned()
        }
        source::Error::Repeated { .. } => {
            "nothing of this version was written. Such a document can show one package to tfoci and another to the client that installs it: its owner has to fix it".to_owned()
        }
        source::Error::ContentType { .. } => page(),
        source::Error::Json { received: Some(received), .. } if received.starts_with("text/html") => page(),
        _ => return None,
    };
    Some(text)
}

fn page() -> String {
    "a page in place of JSON often means that something between here and the server wants a login"
        .to_owned()
}

/// Suggests what to do if a document or file that the source refers to is missing.
fn absent(what: &source::Document) -> Option<&'static str> {
    match what {
        source::Document::Checksums | source::Document::Signature => Some(
            "nothing of this version was written. The origin lists a file that does not exist, so clients cannot install this version either",
        ),
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
            Some(variable) => format!("give it a token: {variable}, or a `credentials` block in the CLI configuration"),
            None => format!("give it a token: `credentials \"{}\"` in the CLI configuration", host.to_unicode()),
        },
        source::AuthTried::Token { .. } => {
            "the token may have expired, or may not read this provider".to_owned()
        }
        source::AuthTried::NoLogin { host } => {
            format!("packages get names and passwords, never tokens: `machine {}` in .netrc", printable(host))
        }
        source::AuthTried::Login { .. } => {
            "the password may have changed, or may not read this package".to_owned()
        }
        source::AuthTried::Redirected => {
            "tokens and passwords go to no host that is only redirected to. A `host` block in the CLI configuration names where a registry is; a URL of a package that is signed may have expired".to_owned()
        }
        source::AuthTried::Nothing => {
            "clients send no credentials for it either: the registry has to serve it without, or by a signed URL".to_owned()
        }
    };
    Some(text)
}
