//! What helps when a source does not give a version or a package.

use super::folder;
use super::{AuthTried, Document, Error, SourceAddrError};
use crate::credentials::tokens;
use crate::error::{Category, Hint, printable};

const PAGE: &str = "a page in place of JSON often means that a server on the way wants a login";

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Http(error) => return error.hint(),
            Self::Disk(error) => return error.hint(),
            Self::Credentials(error) => return error.hint(),
            Self::Archive { source, .. } => return source.hint(),
            Self::Unauthorized { tried, .. } => return tried.hint(),
            Self::Status {
                status: 404,
                what: Document::Discovery | Document::Versions,
                ..
            } => return None,
            Self::Status { status: 404, .. } => {
                "the source lists a file that it does not have: its owner has to publish it again"
            }
            Self::Status { status: 429, .. } => {
                "run it again later, or with fewer at once (`--jobs`)"
            }
            Self::Status { status: 500.., .. } => {
                "run it again later: what is done is not repeated"
            }
            Self::Unpacked { .. } => "mirror it from its origin",
            Self::Linked { .. } => "put a directory in the place of the link",
            Self::Json { source, .. } if source.category() == Category::Untrusted => {
                "its owner has to fix it: two readers see two packages in such a document"
            }
            Self::ContentType { received, .. } | Self::Json { received, .. }
                if received
                    .as_deref()
                    .is_some_and(|other| other.starts_with("text/html")) =>
            {
                PAGE
            }
            Self::ContentType { received: None, .. } => PAGE,
            Self::ContentType { .. } => {
                "in nginx, `include mime.types;` within `http` sets the type"
            }
            Self::NoService { .. } => {
                "if its registry is on another host, a `host` block in the CLI configuration names it"
            }
            Self::NoProvider { .. } => {
                "the same name on another host is another provider; a private one may need a token"
            }
            Self::NotServed { .. } => {
                "the URL of a mirror ends where HOSTNAME/NAMESPACE/TYPE begins"
            }
            Self::NotMirrored { .. } => {
                "name the directory above the hosts: packages lie in HOSTNAME/NAMESPACE/TYPE below it"
            }
            Self::NoPlatform { available, .. } if !available.is_empty() => {
                "choose among these with `--platform`"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

impl Hint for AuthTried {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoToken { host } => {
                let variable = tokens::variable(host);
                let block = || format!("credentials \"{}\"", host.to_unicode());
                return Some(match variable {
                    Some(variable) => format!("give it a token with the variable {variable}"),
                    None => format!("give it a token: `{}` in the CLI configuration", block()),
                });
            }
            Self::Token { .. } => "the token may have expired, or may not read this provider",
            Self::NoLogin { host } => {
                return Some(format!(
                    "`machine {}` in .netrc gives it a name and password",
                    printable(host)
                ));
            }
            Self::Login { .. } => "the password may have changed, or may not read this package",
            Self::Redirected => {
                "a signed URL may have expired; tokens do not follow a redirect to another host"
            }
            Self::Nothing => {
                "the source has to serve it without credentials: clients send none either"
            }
        };
        Some(text.to_owned())
    }
}

impl Hint for SourceAddrError {
    fn hint(&self) -> Option<String> {
        let text = self.text.to_string();
        match text.starts_with("https://") && !text.contains('…') {
            true => Some(format!("write `network-mirror:{text}`")),
            false => Some("stores are copied with `tfoci copy`".to_owned()),
        }
    }
}

impl Hint for folder::Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(_) | Self::NoZip(_) => {
                "name the folder that the release process writes, such as `dist`"
            }
            Self::SeveralVersions { .. } => "choose one: `--provider ADDR@VERSION`",
            Self::OtherType { .. } => "`--provider` names the type that is in the folder",
            Self::NoChecksums { .. } => "`sha256sum terraform-provider-*.zip` prints its lines",
            Self::ArmouredSignature {
                clearsigned: Some(document),
                ..
            } => {
                return Some(format!(
                    "`gpg --detach-sign {}` makes one",
                    printable(document)
                ));
            }
            Self::ArmouredSignature { .. } => "`gpg --dearmor` converts it",
            Self::ListedZipMissing { .. } => "`--platform` pushes only some platforms",
            Self::SamePlatform { .. } => "remove the one that the checksum document does not list",
            Self::ProviderManifestAltered { .. } => {
                "build the release again, and sign after the last change"
            }
            Self::ProviderManifest { .. } => {
                r#"write it as `{"version":1,"metadata":{"protocol_versions":["6.0"]}}`"#
            }
            Self::NoVersion { .. } | Self::NoPlatform { .. } | Self::Checksums(_) => return None,
        };
        Some(text.to_owned())
    }
}
