//! Hosts in options.

use tfoci::address::HostPort;
use url::Url;

/// Parses `HOST` or `HOST:PORT`, with brackets around IPv6 addresses, and normalises it as the URL parser does. Any other spelling would
/// silently match no host.
pub(super) fn host(text: &str) -> Result<String, &'static str> {
    read(text).ok_or("expected HOST or HOST:PORT, such as registry.internal:5000 or [::1]:5000")
}

fn read(text: &str) -> Option<String> {
    let parsed = HostPort::parse(text)?;
    let host = match parsed.ipv6() {
        Some(address) => format!("[{address}]"),
        None => named(parsed.host)?,
    };
    match parsed.port {
        None => Some(host),
        Some(0) => None,
        Some(port) => Some(format!("{host}:{port}")),
    }
}

/// Normalises a name or an IPv4 address, which has several spellings.
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
