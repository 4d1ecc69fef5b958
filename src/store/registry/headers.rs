//! Headers of a registry: challenges, and links to the next page of a list.
//!
//! Their text is not trusted. It is parsed here without any I/O, so that the parsers can be fuzzed.

use url::Url;

/// The authentication scheme of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthScheme {
    /// User name and password in each request.
    Basic,
    /// A token from a token server.
    Bearer {
        /// The URL of the token server.
        realm: Url,
        /// The token server's name for the registry.
        service: Option<String>,
    },
}

/// The challenge has no realm, or it is no URL, names a user, or is `http` while the registry is `https`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableRealm(
    /// The realm as it is written in the challenge.
    pub Option<String>,
);

/// The scheme in the `WWW-Authenticate` headers of the registry at `base`; `Bearer` if there is a choice. `None` if the headers
/// name no known scheme.
///
/// # Errors
/// The realm of the first `Bearer` challenge is unusable.
pub fn scheme<'a>(
    headers: impl IntoIterator<Item = &'a str>,
    base: &Url,
) -> Result<Option<AuthScheme>, UnusableRealm> {
    let mut basic = None;
    for header in headers {
        // zot sends `basic realm=`, which is no whole challenge.
        let scheme = header.split_ascii_whitespace().next().unwrap_or_default();
        if scheme.eq_ignore_ascii_case("basic") {
            basic = Some(AuthScheme::Basic);
        }
        for challenge in http_auth::parser::ChallengeParser::new(header).filter_map(Result::ok) {
            if challenge.scheme.eq_ignore_ascii_case("bearer") {
                let parameter = |name: &str| {
                    let mut parameters = challenge.params.iter();
                    let found = parameters.find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.to_unescaped())
                };
                // Without one, this is a server of another kind, which must not see a password.
                let text = parameter("realm");
                let realm = text.as_ref().and_then(|text| base.join(text).ok());
                let realm = realm.filter(|realm| is_as_strong(realm, base));
                return Ok(Some(AuthScheme::Bearer {
                    realm: realm.ok_or(UnusableRealm(text))?,
                    service: parameter("service"),
                }));
            }
            if challenge.scheme.eq_ignore_ascii_case("basic") {
                basic = Some(AuthScheme::Basic);
            }
        }
    }
    Ok(basic)
}

/// Whether the connection to the realm is as secure as the one to the registry: the password is sent to the realm. A user in the URL would
/// take the place of the configured one.
fn is_as_strong(realm: &Url, base: &Url) -> bool {
    let is_secure = realm.scheme() == "https";
    (is_secure || (realm.scheme() == "http" && base.scheme() == "http")) && !names_user(realm)
}

fn names_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The URL of the next page: in `Link` headers, joined by commas, the one with `rel=next`; without it the first one, whatever its `rel`
/// ([clients: tag lists](crate::clients#tag-lists)).
///
/// # Errors
/// The header or its URL, as it is written: it does not begin with `<URL>`, or the URL names a user or another scheme, host or port.
pub fn next_page(links: &str, page: &Url) -> Result<Url, String> {
    let malformed = || links.to_owned();
    let text = links.strip_prefix('<').ok_or_else(malformed)?;
    let mut each = text.split('<').map(|link| link.split_once('>'));
    let first = each.next().flatten().ok_or_else(malformed)?;
    let is_next = |(_, parameters): &(&str, &str)| {
        let parameters = parameters.to_ascii_lowercase().replace([' ', '"'], "");
        parameters.contains("rel=next")
    };
    let next = std::iter::once(first).chain(each.flatten()).find(is_next);
    let (target, _) = next.unwrap_or(first);
    let is_usable = |next: &Url| !names_user(next) && next.origin() == page.origin();
    let next = page.join(target).ok().filter(is_usable);
    next.ok_or_else(|| target.to_owned())
}
