//! Why a connection failed, in one sentence instead of the error chains of the libraries that make it.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError};

use super::resolver::{PrivateAddress, UnknownHost};
use crate::error::{causes, printable};

/// Why a connection failed or broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The name of the host has no address.
    #[error("the host name has no address (DNS)")]
    UnknownHost,
    /// The host has private addresses only, and a server referred to it.
    #[error("only a file or a server names this host, and it has only private addresses")]
    Private,
    /// The host has only link-local addresses or addresses of a cloud's metadata service, and the user did not name it.
    #[error("the host has only link-local or metadata addresses")]
    LinkLocal,
    /// No process accepts connections at the port.
    #[error("the connection was refused")]
    Refused,
    /// The network has no route to the host.
    #[error("the network has no route to the host")]
    NoRoute,
    /// The host did not respond in time.
    #[error("the host did not respond in time")]
    TimedOut,
    /// The server closed the connection before its response was complete.
    #[error("the server closed the connection too early")]
    Closed,
    /// No trusted authority issued the server's certificate.
    #[error("no trusted certificate authority issued the server's certificate")]
    UnknownAuthority,
    /// The certificate is for other names.
    #[error("the server's certificate is for another name")]
    OtherName,
    /// The certificate is not valid yet or any more, or the clock of this machine is wrong.
    #[error("the server's certificate has expired, or is not valid yet")]
    Expired,
    /// The certificate is invalid for another reason.
    #[error("the server's certificate is invalid")]
    Certificate,
    /// The server does not use TLS.
    #[error("the server does not use TLS at this port")]
    NotTls,
    /// The server requires a client certificate and received none.
    #[error("the server requires a client certificate")]
    WantsIdentity,
    /// The server refused TLS for another reason.
    #[error("the server refused the TLS connection")]
    RefusedTls,
    /// The response is not HTTP.
    #[error("the response is not HTTP")]
    NotHttp,
    /// Anything else, in the words of the operating system or of a library.
    #[error("{0}")]
    Other(String),
}

impl Reason {
    /// Whether there is a server, and no trusted TLS connection to it.
    pub fn is_tls(&self) -> bool {
        matches!(
            self,
            Self::UnknownAuthority
                | Self::OtherName
                | Self::Expired
                | Self::Certificate
                | Self::NotTls
                | Self::WantsIdentity
                | Self::RefusedTls
        )
    }

    /// Whether the client itself refused to connect.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Private | Self::LinkLocal)
    }

    /// The reason in an error of the HTTP library.
    pub(super) fn of(error: &reqwest::Error) -> Self {
        let known = causes(error).find_map(Self::of_cause);
        known.unwrap_or_else(|| match error.is_timeout() {
            true => Self::TimedOut,
            false => Self::Other(last(error)),
        })
    }

    fn of_cause(cause: &(dyn StdError + 'static)) -> Option<Self> {
        if cause.is::<UnknownHost>() {
            return Some(Self::UnknownHost);
        }
        if let Some(refused) = cause.downcast_ref::<PrivateAddress>() {
            return Some(match refused.is_link {
                true => Self::LinkLocal,
                false => Self::Private,
            });
        }
        match cause.downcast_ref::<hyper::Error>() {
            Some(error) if error.is_incomplete_message() || error.is_closed() => Some(Self::Closed),
            Some(error) if error.is_parse() => Some(Self::NotHttp),
            _ => tls(cause).map(Self::of_tls).or_else(|| io_reason(cause)),
        }
    }

    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(error) => match error {
                CertificateError::UnknownIssuer => Self::UnknownAuthority,
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::OtherName,
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::Expired,
                _ => Self::Certificate,
            },
            rustls::Error::InvalidMessage(_) => Self::NotTls,
            rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
                Self::WantsIdentity
            }
            _ => Self::RefusedTls,
        }
    }
}

/// The innermost cause, which names the event that the outer ones only wrap.
fn last(error: &reqwest::Error) -> String {
    let last = causes(error).last().map(ToString::to_string);
    printable(&last.unwrap_or_else(|| "the request failed".to_owned()))
}

/// The reason of an I/O error, or of one that it wraps and that is not its source.
fn io_reason(error: &(dyn StdError + 'static)) -> Option<Reason> {
    let error = error.downcast_ref::<io::Error>()?;
    Some(match error.kind() {
        io::ErrorKind::ConnectionRefused => Reason::Refused,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Reason::NoRoute,
        io::ErrorKind::TimedOut => Reason::TimedOut,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Reason::Closed,
        _ => return error.get_ref().and_then(|inner| io_reason(inner)),
    })
}

/// The error of TLS. I/O errors may wrap an error that is not their source.
fn tls<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    let inner = || {
        error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
    };
    error
        .downcast_ref()
        .or_else(|| inner().and_then(|inner| tls(inner)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::time::Duration;

    use reqwest::dns::{Name, Resolve, Resolving};

    use super::super::guard::Guard;
    use super::super::resolver::Resolver;
    use super::*;

    /// A resolver by which every name is another name of one address.
    struct Alias {
        address: &'static str,
        resolver: Resolver,
    }

    impl Resolve for Alias {
        fn resolve(&self, _: Name) -> Resolving {
            self.resolver.resolve(self.address.parse().unwrap())
        }
    }

    /// What is said about the failure of a request.
    fn failure(client: reqwest::ClientBuilder, url: &str) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        // Another test may have installed it already.
        let _installed_before = rustls::crypto::ring::default_provider().install_default();
        let client = client.no_proxy().build().unwrap();
        let error = runtime.block_on(async { client.get(url).send().await });
        let error = error.unwrap_err();
        Reason::of(&error).to_string()
    }

    #[test]
    fn names_of_guarded_addresses_are_told_apart() {
        for (guard, address, expected) in [
            (
                Guard::NoLinks,
                "169.254.169.254",
                "the host has only link-local or metadata addresses",
            ),
            (
                Guard::Public,
                "127.0.0.1",
                "only a file or a server names this host, and it has only private addresses",
            ),
        ] {
            let proxies = BTreeSet::new();
            let resolver = Resolver {
                guard,
                proxies,
                resolved: Arc::default(),
            };
            let alias = Arc::new(Alias { address, resolver });
            let client = reqwest::Client::builder().dns_resolver(alias);
            assert_eq!(failure(client, "http://example.test/"), expected);
        }
    }

    /// The timeouts of tfoci are reported in words of their own. This one is of the operating system, or of the library.
    #[test]
    fn a_host_that_is_silent_for_too_long_did_not_respond() {
        // Connections wait in the queue of the socket, and no process accepts them.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let client = reqwest::Client::builder().timeout(Duration::from_millis(20));
        assert_eq!(failure(client, &url), "the host did not respond in time");
    }
}
