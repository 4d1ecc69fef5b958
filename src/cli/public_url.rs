//! The URL at which clients reach a server or the files of a site, in `--url`.

use url::Url;

/// Parses a URL of one of these schemes, without a query and without credentials.
///
/// # Errors
/// The text is no such URL. The error says what is expected.
pub(super) fn public_url(text: &str, schemes: &[&str]) -> Result<Url, &'static str> {
    let is_public = |url: &Url| {
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        schemes.contains(&url.scheme()) && url.has_host() && is_bare
    };
    let parsed = Url::parse(text).ok().filter(is_public);
    parsed.ok_or("expected https://HOST, with a path if there is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_urls_are_refused() {
        for text in [
            "",
            "providers.corp.test",
            "localhost:8443",
            "ftp://providers.corp.test",
            "https://a@providers.corp.test",
            "https://providers.corp.test?q",
            "http://providers.corp.test",
        ] {
            assert!(public_url(text, &["https"]).is_err(), "{text}");
        }
        assert!(public_url("https://providers.corp.test/tf", &["https"]).is_ok());
    }
}
