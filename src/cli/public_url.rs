//! The URL at which clients reach a server or the files of a site, in `--url`.

use tfoci::source::network_mirror::base_url;
use url::Url;

/// Parses a URL of one of these schemes, without a query and without credentials. The URL has a slash at its end.
///
/// # Errors
/// The text is no such URL. The error says what is expected.
pub(super) fn public_url(text: &str, schemes: &[&str]) -> Result<Url, &'static str> {
    let url = base_url(text).ok();
    let url = url.filter(|url| schemes.contains(&url.scheme()));
    url.ok_or("expected https://HOST, with a path if there is one")
}

/// Parses the URL of a network mirror. Clients accept it by https only, and drop the text after its last slash.
///
/// # Errors
/// As [`public_url`].
pub(super) fn mirror_url(text: &str) -> Result<String, &'static str> {
    public_url(text, &["https"]).map(Into::into)
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
