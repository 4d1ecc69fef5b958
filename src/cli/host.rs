//! Hosts as options name them.

use std::net::Ipv6Addr;

use url::Url;

/// Reads `HOST` or `HOST:PORT`, where an IPv6 address stands in brackets, and gives it as URLs have it. Anything else would match no
/// host, and its user would not know.
pub(super) fn host(text: &str) -> Result<String, &'static str> {
    read(text).ok_or("expected HOST or HOST:PORT, such as registry.internal:5000 or [::1]:5000")
}

fn read(text: &str) -> Option<String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            let port = if rest.is_empty() {
                None
            } else {
                Some(rest.strip_prefix(':')?)
            };
            (format!("[{address}]"), port)
        }
        None => {
            let (name, port) = match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text, None),
            };
            (named(name)?, port)
        }
    };
    let Some(port) = port else {
        return Some(host);
    };
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port: u16 = port.parse().ok().filter(|port| is_number && *port > 0)?;
    Some(format!("{host}:{port}"))
}

/// A name or an IPv4 address, which may be spelled in several ways.
fn named(name: &str) -> Option<String> {
    let is_one = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    let url = Url::parse(&format!("https://{name}/")).ok();
    let url = url.filter(|_| name.chars().all(is_one))?;
    url.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_written_as_urls_have_them() {
        for (text, expected) in [
            ("Registry.Internal", "registry.internal"),
            ("my_registry:5000", "my_registry:5000"),
            ("m\u{fc}nchen.example", "xn--mnchen-3ya.example"),
            ("127.0.0.1:05000", "127.0.0.1:5000"),
            ("[::1]", "[::1]"),
            ("[0:0::1]:5000", "[::1]:5000"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            ":5000",
            "a:",
            "a:0",
            "a:+1",
            "a:65536",
            "a:b",
            "http://a",
            "a/b",
            "a@b",
            "a?b",
            "a b",
            "*.a",
            "::1",
            "[::1",
            "[a]",
            "[::1]5000",
            "[::1]:",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
