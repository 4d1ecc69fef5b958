//! What helps when a source does not give a version or a package.

use super::folder;
use super::{AuthTried, Error};
use crate::credentials::tokens;
use crate::error::{Hint, printable};

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Http(error) => return error.hint(),
            Self::Disk(error) => return error.hint(),
            Self::Credentials(error) => return error.hint(),
            Self::Status {
                tried: Some(tried), ..
            } => return tried.hint(),
            Self::Status { status: 429.., .. } => {
                "run it again later: what is done is not repeated"
            }
            Self::Unpacked { .. } => "mirror it from its origin",
            Self::NoService { .. } => {
                "if its registry is on another host, a `host` block in the CLI configuration names it"
            }
            Self::NoProvider { .. } => "a private provider may need a token",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

impl Hint for AuthTried {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoToken(host) => Some(match tokens::variable(host) {
                Some(variable) => format!("give it a token with the variable {variable}"),
                None => format!(
                    "give it a token: `credentials \"{}\"` in the CLI configuration",
                    host.to_unicode()
                ),
            }),
            Self::NoLogin(host) => Some(format!(
                "`machine {}` in .netrc gives it a name and password",
                printable(host)
            )),
            Self::Sent(_) => Some(
                "the token or password may have expired, or may not read this provider".to_owned(),
            ),
            Self::Nothing => None,
        }
    }
}

impl Hint for folder::Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(_) | Self::NoZip => {
                "name the folder that the release process writes, such as `dist`"
            }
            Self::SeveralVersions { .. } => "choose one: `--provider ADDR@VERSION`",
            Self::NoChecksums { .. } => "`sha256sum terraform-provider-*.zip` prints its lines",
            Self::ArmouredSignature { .. } => "`gpg --detach-sign` makes one in binary",
            Self::ListedZipMissing { .. } => "`--platform` pushes only some platforms",
            Self::ProviderManifest { .. } => {
                r#"write it as `{"version":1,"metadata":{"protocol_versions":["6.0"]}}`"#
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
