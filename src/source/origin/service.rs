//! The provider registry of a host.

use std::sync::{Arc, PoisonError};

use super::Origin;
use url::Url;

use super::super::auth::RequestAuth;
use super::super::discovery::{self, ServiceLocation};
use super::super::error::Error;
use super::super::fetch::Access;
use crate::address::Hostname;

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

/// The most hosts whose services are remembered. Clients of a server may name any number.
const MOST_HOSTS: usize = 4_096;

impl Origin {
    pub(super) async fn service(&self, host: &Hostname) -> Result<Service, Error> {
        let cell = {
            let services = self.services.lock();
            let mut services = services.unwrap_or_else(PoisonError::into_inner);
            if services.len() >= MOST_HOSTS && !services.contains_key(host) {
                // Those that are asked for right now stay.
                services.retain(|_, cell| Arc::strong_count(cell) > 1);
            }
            services.entry(host.clone()).or_default().clone()
        };
        let found = cell.get_or_try_init(|| self.find(host));
        found.await.cloned()
    }

    async fn find(&self, host: &Hostname) -> Result<Service, Error> {
        let access = &self.access;
        let auth = access.auth(host).await;
        let names_host = match auth.is_from_program() {
            // A program may answer for every host that a client of a server names.
            true => !access.http.every_host_is_a_stranger(),
            false => auth.secret.is_some(),
        };
        if names_host || access.credentials.services(host)?.is_some() {
            // The user's own configuration names the host.
            access.http.trust(&access.http.base(host.as_ascii())?);
        }
        let found = discovery::provider_registry(access, host, &auth).await?;
        let ServiceLocation {
            base,
            is_verified,
            is_own,
        } = found;
        let mut access = access.clone();
        let named = match access.credentials.services(host)? {
            Some(_) => {
                // For this provider registry alone: a client of a server may name the same host as a provider's.
                access.http = access.http.naming(&base);
                base.clone()
            }
            None => access.http.base(host.as_ascii())?,
        };
        // Send the token to another host only if the host's own discovery document names that host.
        let auth = match is_own || base.origin() == named.origin() {
            true => auth,
            false => RequestAuth::redirected(),
        };
        Ok(Service {
            access,
            base,
            named,
            auth,
            is_verified,
        })
    }
}
