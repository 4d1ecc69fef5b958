//! Service discovery: finds the provider registry of a host
//! ([clients: service discovery](crate::clients#service-discovery)).

use reqwest::Method;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use url::Url;

use super::auth::RequestAuth;
use super::error::{self, Contradiction, Document, Error};
use super::fetch::{self, Access, RequestKind};
use crate::address::Hostname;
use crate::http::{Request, Shown};
use crate::protocol::discovery::services;

/// The largest discovery document in bytes, which is the limit of clients.
const LARGEST: u64 = 1 << 20;
const SERVICE: &str = "providers.v1";

/// The location of a host's provider registry.
pub(super) struct ServiceLocation {
    /// The URL that the paths of the protocol are resolved against.
    pub(super) base: Url,
    /// Whether the location is authentic: it comes from the user's configuration, or from a response over verified TLS.
    pub(super) is_verified: bool,
    /// Whether the location comes from the host itself or the user's configuration, and not from a host that it redirected to.
    pub(super) is_own: bool,
}

/// Finds a host's provider registry: in the `host` block of the CLI configuration, otherwise in the host's discovery document.
///
/// # Errors
/// The host has no provider registry, or its document is invalid.
pub(super) async fn provider_registry(
    access: &Access,
    host: &Hostname,
    auth: &RequestAuth,
) -> Result<ServiceLocation, Error> {
    let base = access.http.base(host.as_ascii())?;
    let path = ".well-known/terraform.json";
    let url = base.join(path).unwrap_or_else(|_| base.clone());
    if let Some(services) = access.credentials.services(host)? {
        let service = services.get(SERVICE);
        let service =
            service.ok_or_else(|| no_service(host, true, services.keys(), String::new()))?;
        return Ok(ServiceLocation {
            base: place(&url, url.clone().into(), Ok(service))?,
            is_verified: true,
            is_own: true,
        });
    }
    let request = || {
        Request::new(Method::GET, url.clone(), &base)
            .header(ACCEPT, "application/json")
            .authorization(auth.secret.clone(), &base)
            .whole(LARGEST)
    };
    let answer = access.send(RequestKind::Document, request).await?;
    if answer.status() == StatusCode::NOT_FOUND {
        return Err(no_service(host, false, [], fetch::absence(&answer)));
    }
    let what = Document::Discovery;
    let answer = fetch::successful(&what, answer, auth)?;
    let content_type = answer.header(CONTENT_TYPE);
    let (is_verified, is_own) = (answer.is_verified(), !answer.is_elsewhere());
    let (final_url, shown) = (answer.url().clone(), answer.shown());
    if !content_type.as_deref().is_some_and(error::is_json) {
        return Err(Error::not_json(what, shown, content_type));
    }
    let services = fetch::json(&what, answer, services)?;
    let service = services.get(SERVICE);
    let service = service.ok_or_else(|| no_service(host, false, services.keys(), String::new()))?;
    Ok(ServiceLocation {
        base: place(
            &final_url,
            shown,
            service.as_deref().map_err(String::as_str),
        )?,
        is_verified,
        is_own,
    })
}

/// The error for services without a provider registry of the known protocol version. It lists the other versions.
fn no_service<'a>(
    host: &Hostname,
    configured: bool,
    services: impl IntoIterator<Item = &'a String>,
    answer: String,
) -> Error {
    let others = services.into_iter();
    Error::NoService {
        host: host.clone(),
        configured,
        answer,
        others: others
            .filter(|name| name.starts_with("providers."))
            .cloned()
            .collect(),
    }
}

/// Resolves the URL of a service against the URL of the document, which errors show in the given form. `Err` is JSON that is not text, for the
/// message.
fn place(document: &Url, shown: Shown, service: Result<&str, &str>) -> Result<Url, Error> {
    let url = service.ok().and_then(|text| join(document, text));
    url.ok_or_else(|| Error::Contradiction {
        what: Document::Discovery,
        url: shown,
        contradiction: Box::new(Contradiction::new(
            SERVICE,
            "a URL without a user's name",
            &service.map_or_else(str::to_owned, |text| Shown::from(text).to_string()),
        )),
    })
}

/// A service's URL, which may be relative to the document.
fn join(document: &Url, text: &str) -> Option<Url> {
    let mut url = document.join(text).ok()?;
    url.set_fragment(None);
    let sound = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none();
    sound.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_relative_to_the_document_or_somewhere_else() {
        let document = Url::parse("https://example.com/.well-known/terraform.json").unwrap();
        let at = |text| join(&document, text).map(String::from);
        assert_eq!(
            at("/v1/providers/#x").as_deref(),
            Some("https://example.com/v1/providers/")
        );
        assert_eq!(
            at("p/").as_deref(),
            Some("https://example.com/.well-known/p/")
        );
        assert_eq!(
            at("https://other.example/p").as_deref(),
            Some("https://other.example/p")
        );
        for refused in [
            "https://u:p@example.com/",
            "ftp://example.com/",
            "https://[",
            "file:///etc/",
        ] {
            assert_eq!(at(refused), None, "{refused}");
        }
    }

    #[test]
    fn content_types_may_have_parameters() {
        assert!(error::is_json("application/json; charset=utf-8"));
        assert!(error::is_json("Application/JSON"));
        assert!(!error::is_json("text/json"));
    }
}
