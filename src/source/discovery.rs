//! Service discovery: where a host keeps its provider registry (contract 5.1).

use reqwest::Method;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use url::Url;

use super::error::{Document, Error};
use super::fetch;
use super::wire::Services;
use crate::http::{Http, Request, Secret};

/// The largest document that clients read.
const LARGEST: u64 = 1 << 20;
const SERVICE: &str = "providers.v1";

/// Asks a host for the base URL of its provider registry. `host` is as an address has it, with its port.
///
/// # Errors
/// There is no provider registry, or the document is none.
pub(super) async fn provider_registry(
    http: &Http,
    host: &str,
    secret: Option<&Secret>,
) -> Result<Url, Error> {
    let base = http.base(host)?;
    let url = base
        .join(".well-known/terraform.json")
        .unwrap_or(base.clone());
    let request = || {
        Request::new(Method::GET, url.clone(), &base)
            .header(ACCEPT, "application/json")
            .secret(secret.cloned(), &base)
            .whole(LARGEST)
    };
    let answer = fetch::send(http, request).await?;
    let nothing = |others| Error::NoService {
        host: host.to_owned(),
        others,
    };
    if answer.status() == StatusCode::NOT_FOUND {
        return Err(nothing(Vec::new()));
    }
    let what = Document::Discovery;
    let answer = fetch::successful(what, answer, None).await?;
    let content_type = answer.header(CONTENT_TYPE);
    let final_url = answer.url().clone();
    if !content_type.as_deref().is_some_and(fetch::is_json) {
        return Err(Error::ContentType {
            what,
            url: final_url.into(),
            received: content_type,
        });
    }
    let services: Services = fetch::json(what, answer, LARGEST).await?;
    let Some(service) = services.get(SERVICE) else {
        let others = services
            .keys()
            .filter(|name| name.starts_with("providers."));
        return Err(nothing(others.cloned().collect()));
    };
    service
        .as_str()
        .and_then(|text| place(&final_url, text))
        .ok_or_else(|| Error::Contradiction {
            what,
            field: SERVICE,
            url: final_url.into(),
            expected: "a URL without a user's name".to_owned(),
            received: service.to_string(),
        })
}

/// A service's URL, which may be relative to the document.
fn place(document: &Url, text: &str) -> Option<Url> {
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
        let at = |text| place(&document, text).map(String::from);
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
        assert!(fetch::is_json("application/json; charset=utf-8"));
        assert!(fetch::is_json("Application/JSON"));
        assert!(!fetch::is_json("text/json"));
    }
}
