//! Hints about a server that cannot start.

use std::io::ErrorKind;

use tfoci::error::{printable, printable_path};
use tfoci::serve;

use super::{files, stores};
use crate::cli::error::CommandError;

pub(super) fn hint(error: &CommandError) -> Option<String> {
    match error {
        CommandError::NoExclusion { .. } => {
            Some("give `--exclude` once for each version".to_owned())
        }
        CommandError::NoTls { plain_host } => Some(no_tls(plain_host.as_deref())),
        CommandError::SwappedTls {
            certificate, key, ..
        } => {
            let (certificate, key) = (printable_path(certificate), printable_path(key));
            Some(format!(
                "they are swapped: `--tls-cert {certificate} --tls-key {key}`"
            ))
        }
        CommandError::OneRepository {
            is_exact: true,
            text,
        } => Some(match stores::store_around(text) {
            Some(meant) => format!("leave out `--exact-repository`, and name {meant}"),
            None => "leave out `--exact-repository`: it is for stores of one provider".to_owned(),
        }),
        CommandError::OneRepository { text, .. } => {
            const TEMPLATE: &str = "put `{hostname}`, `{namespace}` and `{type}` into the address";
            Some(stores::directory(text).unwrap_or_else(|| TEMPLATE.to_owned()))
        }
        CommandError::Serve(serve::Error::TlsKey {
            key,
            certificate,
            source: serve::TlsError::NoPair,
        }) => {
            let (key, certificate) = (printable_path(key), printable_path(certificate));
            Some(format!(
                "name the key that the certificate was made for: `openssl pkey -pubout -in {key}` then prints the same as `openssl x509 -pubkey -noout -in {certificate}`"
            ))
        }
        CommandError::Serve(error) => not_started(error).map(str::to_owned),
        CommandError::File { named_by, .. } if files::missing(error).is_some() => {
            let text = match named_by.as_str() {
                "--tokens" => TOKENS,
                "--signing-key" => SIGNING_KEY,
                _ => return None,
            };
            Some(text.to_owned())
        }
        _ => None,
    }
}

const TOKENS: &str = "`tfoci help deployment` shows how to make a token";
const SIGNING_KEY: &str =
    "`openssl rand -base64 32` makes a key; `tfoci help deployment` describes the file";

/// Suggests how the server speaks to clients. `plain_host` is a host that `--plain-http` names.
fn no_tls(plain_host: Option<&str>) -> String {
    let text = match plain_host.map(printable) {
        Some(host) => {
            return format!(
                "`--plain-http {host}` is for the store; for the server, add `--plain-http` without a host"
            );
        }
        None => {
            "`--tls-cert FILE --tls-key FILE` serves HTTPS, which clients require. `--plain-http` leaves it to a proxy, or is enough for a look at the page"
        }
    };
    text.to_owned()
}

fn not_started(error: &serve::Error) -> Option<&'static str> {
    match error {
        serve::Error::Listen { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            Some("another program listens there: `--listen IP:PORT` names another port")
        }
        serve::Error::Listen { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            Some(
                "ports below 1024 need a permission: `--listen IP:PORT` names another port, or `AmbientCapabilities=CAP_NET_BIND_SERVICE` in a unit of systemd allows it",
            )
        }
        serve::Error::Tokens {
            source: serve::TokensError::Text(_),
            ..
        } => Some(files::ENCODING),
        serve::Error::Tokens {
            source: serve::TokensError::Empty | serve::TokensError::Line { .. },
            ..
        } => Some(TOKENS),
        serve::Error::Keys {
            source:
                serve::KeyError::Malformed { .. }
                | serve::KeyError::Hex { .. }
                | serve::KeyError::Count { count: 0 },
            ..
        } => Some(SIGNING_KEY),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which ports need a permission depends on the system, and the super-user has it.
    #[test]
    fn a_low_port_has_a_hint() {
        let error = serve::Error::Listen {
            address: ([127, 0, 0, 1], 80).into(),
            source: ErrorKind::PermissionDenied.into(),
        };
        assert_eq!(
            not_started(&error),
            Some(
                "ports below 1024 need a permission: `--listen IP:PORT` names another port, or `AmbientCapabilities=CAP_NET_BIND_SERVICE` in a unit of systemd allows it"
            )
        );
    }
}
