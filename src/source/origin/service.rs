//! The provider registry of a host, and service discovery, which finds it
//! ([clients: service discovery](crate::clients#service-discovery)).

use std::sync::Arc;

use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use url::Url;

use super::super::auth::RequestAuth;
use super::super::error::{Contradiction, Document, Error};
use super::super::fetch::{self, Access};
use super::Origin;
use crate::address::Hostname;
use crate::http::{Request, Shown};
use crate::jobs::locked;
use crate::protocol::discovery::services;

/// The largest discovery document in bytes, which is the limit of clients.
const LARGEST: u64 = 1 << 20;
const SERVICE: &str = "providers.v1";
/// The most hosts whose services are remembered. Clients of a server may name any number.
const MOST_HOSTS: usize = 4_096;

/// The provider registry of one host.
#[derive(Clone)]
pub(super) struct Service {
    /// How its documents and packages are requested.
    pub(super) access: Access,
    /// The base URL of its endpoints.
    pub(super) base: Url,
    /// The URL that the user named: of the host in the address, or of a `host` block.
    pub(super) named: Url,
    /// The credentials for that host. They are also sent to a service on another host, if the host's own discovery document names it
    /// ([clients: host tokens](crate::clients#host-tokens)).
    pub(super) auth: RequestAuth,
    /// Whether the location of the service is authentic.
    pub(super) is_verified: bool,
}

impl Origin {
    pub(super) async fn service(&self, host: &Hostname) -> Result<Service, Error> {
        let cell = {
            let mut services = locked(&self.services);
            if services.len() >= MOST_HOSTS && !services.contains_key(host) {
                // Those that are asked for right now stay.
                services.retain(|_, cell| Arc::strong_count(cell) > 1);
            }
            services.entry(host.clone()).or_default().clone()
        };
        let found = cell.get_or_try_init(|| Service::find(&self.access, host));
        found.await.cloned()
    }
}

impl Service {
    /// Finds a host's provider registry: in the `host` block of the CLI configuration, otherwise in the host's discovery document.
    ///
    /// # Errors
    /// The host has no provider registry, or its document is invalid.
    async fn find(access: &Access, host: &Hostname) -> Result<Self, Error> {
        let auth = access.auth(host).await;
        let names_host = match auth.is_from_program() {
            // A program may answer for every host that a client of a server names.
            true => !access.http.every_host_is_a_stranger(),
            false => auth.secret.is_some(),
        };
        let configured = access.credentials.services(host)?;
        let named = access.http.base(host.as_ascii())?;
        if names_host || configured.is_some() {
            // The user's own configuration names the host.
            access.http.trust(&named);
        }
        let document = named.join(".well-known/terraform.json");
        let document = document.unwrap_or_else(|_| named.clone());
        let Some(services) = configured else {
            return Self::discover(access, host, auth, named, document).await;
        };
        let service = services.get(SERVICE);
        let service = service.ok_or_else(|| no_service(host, true, String::new()))?;
        let base = place(&document, document.clone().into(), Ok(service))?;
        let mut access = access.clone();
        // For this provider registry alone: a client of a server may name the same host as a provider's.
        access.http = access.http.naming(&base);
        Ok(Self {
            access,
            named: base.clone(),
            base,
            auth,
            is_verified: true,
        })
    }

    /// Reads the host's discovery document.
    async fn discover(
        access: &Access,
        host: &Hostname,
        auth: RequestAuth,
        named: Url,
        document: Url,
    ) -> Result<Self, Error> {
        let request = || {
            Request::new(Method::GET, document.clone(), &named)
                .header(ACCEPT, "application/json")
                .authorization(auth.secret.clone(), &named)
                .whole(LARGEST)
        };
        let answer = access.document(request).await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Err(no_service(host, false, fetch::absence(&answer)));
        }
        let what = Document::Discovery;
        let answer = fetch::json_only(&what, fetch::successful(&what, answer, &auth)?)?;
        let (is_verified, is_own) = (answer.is_verified(), !answer.is_elsewhere());
        let (final_url, shown) = (answer.url().clone(), answer.shown());
        let services = fetch::json(&what, answer, services)?;
        let service = services.get(SERVICE);
        let service = service.ok_or_else(|| no_service(host, false, String::new()))?;
        let service = service.as_deref().map_err(String::as_str);
        let base = place(&final_url, shown, service)?;
        // Send the token to another host only if the host's own discovery document names that host.
        let auth = match is_own || base.origin() == named.origin() {
            true => auth,
            false => RequestAuth::redirected(),
        };
        Ok(Self {
            access: access.clone(),
            base,
            named,
            auth,
            is_verified,
        })
    }
}

/// The error for services without a provider registry of the known protocol version.
fn no_service(host: &Hostname, configured: bool, answer: String) -> Error {
    let host = host.clone();
    Error::NoService {
        host,
        configured,
        answer,
    }
}

/// Resolves the URL of a service against the URL of the document, which errors show in the given form. `Err` is JSON that is not text, for the
/// message.
fn place(document: &Url, shown: Shown, service: Result<&str, &str>) -> Result<Url, Error> {
    let url = service.ok().and_then(|text| join(document, text));
    url.ok_or_else(|| {
        let received = service.map_or_else(str::to_owned, |text| Shown::from(text).to_string());
        Contradiction::new(SERVICE, "a URL without a user's name", &received)
            .of(Document::Discovery, shown)
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
}
