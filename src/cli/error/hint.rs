//! What helps after an error of a command.

use tfoci::error::{Hint, printable, printable_path};
use tfoci::lockfile::Client;
use tfoci::{constraint, selection};

use super::{CommandError, LockDifference};

impl Hint for CommandError {
    fn hint(&self) -> Option<String> {
        if let Some(failure) = self.failure() {
            return failure.hint();
        }
        match self {
            Self::Plain { hint, .. } => hint.clone(),
            Self::Empty { advice, .. } => Some((*advice).to_owned()),
            Self::Selection(error) => selection(error),
            Self::Source(error) => error.hint(),
            Self::TrustFile { source, .. } => source.hint(),
            Self::Trust(error) => error.hint(),
            Self::KeyFile {
                is_trust_file: true,
                ..
            } => Some("a trust file is named with `--trust`".to_owned()),
            Self::KeyFile { error, .. } => error.hint(),
            Self::MirrorFile { source, .. } => source.hint(),
            Self::LockFile { source, .. } => source.hint(),
            Self::Configuration(error) => error.hint(),
            Self::Credentials(error) | Self::Named { error, .. } => error.hint(),
            Self::Serve(error) => error.hint(),
            Self::LockTarget(error) => error.hint(),
            Self::LockDiffers { difference, .. } => Some(difference.advice()),
            Self::NotPinned { .. } => {
                Some("write their tables by hand: `match` and `keys`".to_owned())
            }
            _ => self.own_hint(),
        }
    }
}

impl CommandError {
    fn own_hint(&self) -> Option<String> {
        let text = match self {
            Self::ModuleMissing {
                client, directory, ..
            } => {
                let (client, directory) = (client.program(), printable_path(directory));
                return Some(format!(
                    "`{client} -chdir={directory} get` downloads the modules"
                ));
            }
            Self::DataLink { .. } => "name the directory that it leads to with TF_DATA_DIR",
            Self::NotRequired { .. } => {
                "add it to `required_providers`, or name another directory with `--chdir`"
            }
            Self::TwoClients { .. } => "run it once for each client, with its directories",
            Self::NamedTwice(_) => "name it once: `ADDR@'A, B'` joins constraints",
            Self::NoMethod { .. } => "`--from origin` asks its provider registry",
            Self::NoTls {
                plain_host: Some(host),
            } => {
                return Some(format!(
                    "`--plain-http {}` is for the store; without a host, `--plain-http` is for the server",
                    printable(host)
                ));
            }
            Self::NoTls { .. } => "`--plain-http` leaves HTTPS to a proxy in front of the server",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// About an argument that is not a provider.
fn selection(error: &selection::Error) -> Option<String> {
    let text = match error {
        selection::Error::Constraints(error)
            if error.mistake == constraint::ConstraintError::LeadingV =>
        {
            return Some(format!(
                "did you mean `{}`?",
                printable(&error.text.replacen(['v', 'V'], "", 1))
            ));
        }
        selection::Error::Address { text, .. } if text.contains('*') => {
            "an address names one provider and has no `*`"
        }
        selection::Error::Address { text, .. } if text.contains("://") => {
            "write it without the scheme: `HOST/NAMESPACE/TYPE`"
        }
        selection::Error::Address { text, .. } if text.ends_with(".toml") => {
            "a mirror file is named with `--file`"
        }
        selection::Error::Address { text, .. } if text.ends_with(".hcl") => {
            "a lock file is named with `--from-lock`"
        }
        selection::Error::Address { text, .. } => {
            let (host, rest) = text.split_once('/')?;
            let is_short = host.contains(['.', ':']) && !rest.contains('/');
            is_short.then_some("an address with a host has three parts: `HOST/NAMESPACE/TYPE`")?
        }
        _ => return None,
    };
    Some(text.to_owned())
}

impl LockDifference {
    fn advice(&self) -> String {
        match self {
            Self::Unrequired { client, .. } => {
                format!(
                    "`{} init` removes it; or delete its block",
                    client.program()
                )
            }
            Self::Offered { directory, .. } => format!(
                "if nothing requires it, remove it from {}",
                printable_path(directory)
            ),
            Self::Missing {
                client: Some(client),
                ..
            } => format!(
                "the file is not one of {}: leave out `--client`",
                Client::program(*client)
            ),
            Self::NoH1 { .. } | Self::NoFile => {
                "`tfoci lock --h1` with the same options writes it; commit the file".to_owned()
            }
            Self::Missing { client: None, .. } => {
                "`tfoci lock` brings it up to date; commit the file".to_owned()
            }
        }
    }
}
