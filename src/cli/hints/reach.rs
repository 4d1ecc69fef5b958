//! Hints about hosts that cannot be reached or require credentials.

use std::io::ErrorKind;

use tfoci::credentials;
use tfoci::disk;
use tfoci::http::{self, ConnectionError, Reason, Silence};
use tfoci::shown::Shown;

/// Suggests what to do about a host that cannot be reached.
pub(super) fn host(error: &http::Error) -> Option<String> {
    let text = match error {
        http::Error::Plain { host, .. } => {
            return Some(format!("to speak to it without TLS, `--plain-http {host}`"));
        }
        http::Error::Private { host, .. } => return Some(know(host)),
        http::Error::NoAuthorities { .. } => {
            "install the system's certificate authorities (ca-certificates), or name a file with `--ca-file` or SSL_CERT_FILE"
        }
        http::Error::Silent {
            silence: Silence::Connection,
            ..
        } => {
            "`--timeout SECONDS` waits longer: a connection gets a quarter of it. Behind a proxy, set HTTPS_PROXY"
        }
        http::Error::Silent { .. } | http::Error::Endless { .. } => {
            "`--timeout SECONDS` waits longer; `-vv` shows every request"
        }
        http::Error::Slow { .. } => {
            "TF_REGISTRY_CLIENT_TIMEOUT says for how long, in seconds; unset, it is five times `--timeout`"
        }
        http::Error::Transport { url, error } => return connection(url, error),
        _ => return None,
    };
    Some(text.to_owned())
}

/// A registry behind a proxy names URLs that only the proxy understands.
pub(super) const OUTER_ADDRESS: &str = "the registry's proxy does not pass on the outer address: it has to send `X-Forwarded-Proto` and `Host`, or the registry's settings have to name that address";

/// Suggests how to name a host at private addresses.
fn know(host: &str) -> String {
    format!("if you know this host, `--allow-private {host}`, or TFOCI_ALLOW_PRIVATE={host}")
}

/// Suggests what to do about a connection that failed.
fn connection(url: &Shown, error: &ConnectionError) -> Option<String> {
    if error.proxy.is_some() {
        let variable = proxy_variable(url).unwrap_or("HTTPS_PROXY");
        return Some(format!(
            "{variable} names this proxy; NO_PROXY names hosts that are reached without it"
        ));
    }
    let host = url.host();
    let text = match &error.reason {
        Reason::UnknownHost => {
            "check the name, and that this machine has a network; behind a proxy, set HTTPS_PROXY"
        }
        Reason::Refused | Reason::NoRoute | Reason::TimedOut => {
            "check the host and its port; behind a proxy, set HTTPS_PROXY"
        }
        Reason::UnknownAuthority => {
            "if the authority is your own, name its certificate, not the server's, with `--ca-file FILE`"
        }
        Reason::OtherName { .. } => "use a name that is in the certificate",
        Reason::NotYetValid => "check this machine's clock",
        Reason::Expired => {
            "the server's operator has to renew it; if it should be valid, check this machine's clock"
        }
        Reason::Private => return Some(know(host)),
        Reason::NotTls => {
            return Some(format!(
                "if it is meant to be plain HTTP, `--plain-http {host}`"
            ));
        }
        Reason::WantsIdentity => {
            return Some(format!(
                "show it a certificate with `--client-cert {host}=FILE`"
            ));
        }
        Reason::NotHttp | Reason::Closed => return maybe_tls(url),
        _ => return None,
    };
    Some(text.to_owned())
}

/// The variable that names the proxy for a URL, in the order in which the HTTP library reads them.
fn proxy_variable(url: &Shown) -> Option<&'static str> {
    let own = match url.is_plain() {
        true => ["HTTP_PROXY", "http_proxy"],
        false => ["HTTPS_PROXY", "https_proxy"],
    };
    let all = ["ALL_PROXY", "all_proxy"];
    own.into_iter()
        .chain(all)
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Suggests TLS for a host that does not understand plain HTTP.
pub(super) fn maybe_tls(url: &Shown) -> Option<String> {
    let host = url.host();
    url.is_plain()
        .then(|| format!("if {host} uses TLS, leave out `--plain-http {host}`"))
}

/// Why the credentials may not be the reason for a refusal.
pub(super) const NO_REPOSITORY: &str =
    ". Some registries answer like this for a repository that they do not have";

/// Suggests what to do if a registry refused the credentials or requires some.
pub(super) fn unauthorized(host: &str, has_tried: bool) -> String {
    let in_ci = "in CI, REGISTRY_AUTH_FILE names a file that has them";
    match has_tried {
        true => format!(
            "they may be wrong or expired, or not authorize this. `tfoci login {host}` stores others; {in_ci}{NO_REPOSITORY}"
        ),
        false => format!(
            "`tfoci login {host}` stores them, with the same `--authfile` if you give one; {in_ci}{NO_REPOSITORY}"
        ),
    }
}

/// `login` stores no password that the registry refuses.
pub(super) const WRONG_PASSWORD: &str = "nothing was stored. Check the username and the password: some registries take a token in place of a password, and some tokens expire";

const OTHER_FILE: &str = "`--authfile FILE`, or REGISTRY_AUTH_FILE, names another file";

/// Whether a file of credentials cannot be used where it is, as in a container without a home directory.
fn is_out_of_place(error: &disk::Error) -> bool {
    match error {
        disk::Error::Io { source, .. } => matches!(
            source.kind(),
            ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::NotADirectory
                | ErrorKind::NotFound
        ),
        disk::Error::NotDirectory { .. } => true,
        _ => false,
    }
}

/// Suggests what to do about credentials that cannot be used.
pub(super) fn credentials(error: &credentials::Error) -> Option<String> {
    let text = match error {
        credentials::Error::HelperStart { helper, .. } => {
            format!("install {helper}, or take it out of the file that names it")
        }
        credentials::Error::NoHome => OTHER_FILE.to_owned(),
        credentials::Error::Disk(error) if is_out_of_place(error) => OTHER_FILE.to_owned(),
        _ => return None,
    };
    Some(text)
}
