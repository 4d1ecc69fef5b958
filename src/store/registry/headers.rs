//! What a registry says in headers: how to authenticate, and where the next page is.
//!
//! Both are a stranger's text. They are parsed here, apart from what is done with them, so that they can be fuzzed.

use url::Url;

/// How a registry wants to be authenticated to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// By name and password.
    Basic,
    /// By a token.
    Bearer {
        /// The URL of the token server.
        realm: Url,
        /// What the token server calls the registry.
        service: Option<String>,
    },
}

/// A challenge names a realm that is no URL, or that is weaker than the registry: `http` where the registry has `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusableRealm;

/// A `Link` that leads to another scheme, host or port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignPage {
    /// The target as it is written.
    pub target: String,
}

/// What the `WWW-Authenticate` headers of the registry at `base` ask for: a token where there is a choice. `None` if they ask for nothing
/// that is known here.
///
/// # Errors
/// The realm of the first `Bearer` challenge cannot be used.
pub fn scheme<'a>(
    headers: impl IntoIterator<Item = &'a str>,
    base: &Url,
) -> Result<Option<Scheme>, UnusableRealm> {
    let mut basic = None;
    for header in headers {
        for challenge in http_auth::parser::ChallengeParser::new(header).filter_map(Result::ok) {
            if challenge.scheme.eq_ignore_ascii_case("bearer") {
                let parameter = |name: &str| {
                    let mut parameters = challenge.params.iter();
                    let found = parameters.find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.to_unescaped())
                };
                let realm = base.join(&parameter("realm").unwrap_or_default());
                let realm = realm.ok().filter(|realm| is_as_strong(realm, base));
                return Ok(Some(Scheme::Bearer {
                    realm: realm.ok_or(UnusableRealm)?,
                    service: parameter("service"),
                }));
            }
            if challenge.scheme.eq_ignore_ascii_case("basic") {
                basic = Some(Scheme::Basic);
            }
        }
    }
    Ok(basic)
}

/// A realm must not be weaker than the registry that names it: the password goes there.
fn is_as_strong(realm: &Url, base: &Url) -> bool {
    realm.scheme() == "https" || (realm.scheme() == "http" && base.scheme() == "http")
}

/// Where the next page is: any `Link` header is followed, whatever its `rel`
/// ([clients: tag lists](crate::clients#tag-lists)). `None` if it names no target.
///
/// # Errors
/// The target lies at another scheme, host or port than `page`.
pub fn next_page(link: &str, page: &Url) -> Option<Result<Url, ForeignPage>> {
    let (target, _) = link.strip_prefix('<')?.split_once('>')?;
    let next = page.join(target).ok();
    let next = next.filter(|next| next.origin() == page.origin());
    Some(next.ok_or_else(|| ForeignPage {
        target: target.to_owned(),
    }))
}
