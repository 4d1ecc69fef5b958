//! The URL at which clients reach a server or the files of a site, in `--url`.

use url::Url;

/// Parses a URL of one of these schemes, without a query and without credentials.
///
/// # Errors
/// The text is no such URL. The error says what is expected.
pub(super) fn public_url(text: &str, schemes: &[&str]) -> Result<Url, String> {
    let is_public = |url: &Url| {
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        schemes.contains(&url.scheme()) && url.has_host() && is_bare
    };
    let parsed = Url::parse(text);
    let reason = match parsed {
        Ok(url) if is_public(&url) => return Ok(url),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    // The scheme is missing. `HOST:PORT` is a URL too, whose scheme is the host.
    if !text.contains("://") {
        let with_scheme = format!("https://{text}");
        let is_right = Url::parse(&with_scheme).is_ok_and(|url| is_public(&url));
        if is_right {
            return Err(format!("expected {with_scheme}"));
        }
    }
    let expected = "expected https://HOST, with a path if there is one";
    Err(match reason {
        Some(reason) => format!("{reason}; {expected}"),
        None => expected.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_its_scheme_is_completed() {
        const OTHER: &str = "expected https://HOST, with a path if there is one";
        for (text, expected) in [
            (
                "providers.corp.test",
                "expected https://providers.corp.test",
            ),
            (
                "providers.corp.test:8443/tf",
                "expected https://providers.corp.test:8443/tf",
            ),
            ("localhost:8443", "expected https://localhost:8443"),
            ("ftp://providers.corp.test", OTHER),
            ("https://a@providers.corp.test", OTHER),
            ("https://providers.corp.test?q", OTHER),
            ("http://providers.corp.test", OTHER),
        ] {
            let error = public_url(text, &["https"]).unwrap_err();
            assert_eq!(error, expected, "{text}");
        }
        assert!(public_url("", &["https"]).unwrap_err().ends_with(OTHER));
        assert!(public_url("https://providers.corp.test/tf", &["https"]).is_ok());
    }
}
