//! The provider registry of a host, and service discovery, which finds it
//! ([clients: service discovery](crate::clients#service-discovery)).

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use url::Url;

use super::super::auth::RequestAuth;
use super::super::error::{Document, Error};
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
        let base = service(&services, host, &document, &document.clone().into())?;
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
            return Err(no_service(host));
        }
        let what = Document::Discovery;
        let answer = fetch::json_only(&what, fetch::successful(&what, answer, &auth)?)?;
        let (is_verified, is_own) = (answer.is_verified(), !answer.is_elsewhere());
        let (final_url, shown) = (answer.url().clone(), answer.shown());
        let services = fetch::json(&what, answer, services)?;
        let base = service(&services, host, &final_url, &shown)?;
        // Send the token to another host only if the host's own discovery document names that host.
        let auth = match is_own || base.origin() == named.origin() {
            true => auth,
            false => RequestAuth::none(),
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

fn no_service(host: &Hostname) -> Error {
    Error::NoService { host: host.clone() }
}

/// The URL of the provider registry among services. It may be relative to the URL of their document, which errors show in the given form.
fn service(
    services: &BTreeMap<String, String>,
    host: &Hostname,
    document: &Url,
    shown: &Shown,
) -> Result<Url, Error> {
    let text = services.get(SERVICE).ok_or_else(|| no_service(host))?;
    join(document, text).ok_or_else(|| {
        let received = Shown::from(&**text).to_string();
        let expected = "a URL without a user's name";
        Error::contradiction(&Document::Discovery, shown, SERVICE, expected, &received)
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
