//! Origins: the provider registries that publish providers
//! ([clients: provider registry protocol](crate::clients#provider-registry-protocol)).
//!
//! A version takes one request per platform, one for its checksum document and one for its signature. The list of versions takes one
//! request per provider, and discovery one per host.
//!
//! Requests use the origin's spelling of a version. The platform of a package comes from the origin's metadata, never from its file name.
//! The file name only selects a line of the checksum document.

mod discovered;
mod listing;
mod metadata;
mod service;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use reqwest::header::{ACCEPT, LAST_MODIFIED};
use reqwest::{Method, StatusCode};
use tokio::sync::OnceCell;
use url::Url;

use super::auth::RequestAuth;
use super::error::{Document, Error};
use super::fetch::{self, Access};
use super::location::Renewal;
use super::source_package::SourcePackage;
use super::{AvailableVersions, ReleaseAnswer};
use crate::address::{Hostname, ProviderAddr};
use crate::authentication::Note;
use crate::http::{Answer, Request};
use crate::platform::{Platform, Platforms};
use crate::protocol::provider_registry::{DownloadMetadata, VersionList};
use crate::release::{self, Package, Release};
use crate::trust::limits;
use crate::version::SpelledVersion;
pub(crate) use discovered::LIKELY;
use listing::available_versions;
use metadata::{Metadata, MetadataRequest};
use service::Service;

/// The largest list of versions, in bytes. Real ones have up to half a megabyte.
const LARGEST_JSON: u64 = 8 << 20;
/// The largest package metadata, in bytes. Real ones have ten kilobytes, and several are read at once.
const LARGEST_METADATA: u64 = 512 << 10;
/// The most concurrent requests for one version: half of the small requests that one host may receive at once, so that another version
/// makes progress too.
const CONCURRENT_REQUESTS: usize = 8;

/// The origins of all providers. Each host is discovered when it is first needed.
#[derive(Clone)]
pub struct Origin {
    access: Access,
    services: Arc<Mutex<HashMap<Hostname, Arc<OnceCell<Service>>>>>,
}

impl Origin {
    /// Creates the source. It opens no connection before the first request.
    pub fn new(access: Access) -> Self {
        Self {
            access,
            services: Arc::default(),
        }
    }

    /// The metadata of one package; `None` if the origin has none for this platform.
    async fn metadata(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platform: &Platform,
    ) -> Result<Option<Metadata>, Error> {
        let service = self.service(provider.hostname()).await?;
        let path = [
            provider.namespace(),
            provider.type_name(),
            version.spelling(),
            "download",
            platform.os(),
            platform.arch(),
        ];
        let answer = self.ask(&service, &path, LARGEST_METADATA).await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let what = Document::Download(platform.clone());
        let answer = fetch::successful(&what, answer, &service.auth)?;
        let asked = MetadataRequest {
            platform,
            access: &service.access,
            named: &service.named,
            url: answer.url().clone(),
            shown: answer.shown(),
            is_verified: service.is_verified && answer.is_verified(),
        };
        let said = fetch::json(&what, answer, DownloadMetadata::read)?;
        Metadata::read(said, &asked).map(Some)
    }

    /// Requests a document of a provider registry, with the token for its host.
    async fn ask(&self, service: &Service, path: &[&str], limit: u64) -> Result<Answer, Error> {
        let base = &service.base;
        let mut url = base.join(".").unwrap_or_else(|_| base.clone());
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let request = || {
            Request::new(Method::GET, url.clone(), &service.named)
                .header(ACCEPT, "application/json")
                .authorization(service.auth.secret.clone(), &service.base)
                .whole(limit)
        };
        service.access.document(request).await
    }

    /// Requests a document whose URL comes from metadata. It is public, so the request carries no token.
    async fn document(
        &self,
        what: Document,
        url: &Url,
        service: &Service,
        limit: u64,
    ) -> Result<release::Document, Error> {
        let request = || Request::new(Method::GET, url.clone(), &service.named).whole(limit);
        let answer = service.access.document(request).await?;
        let answer = fetch::successful(&what, answer, &RequestAuth::none())?;
        let name = url.path_segments().and_then(|mut all| all.next_back());
        // What is not a date must not make a document look older than it is.
        let modified = answer
            .headers(LAST_MODIFIED)
            .into_iter()
            .map(|date| httpdate::parse_http_date(&date).unwrap_or_else(|_| SystemTime::now()));
        let modified = modified.max();
        Ok(release::Document {
            name: name.unwrap_or_default().to_owned(),
            bytes: answer.into_body(),
            modified,
        })
    }

    /// The packages of a version. Each can request a new URL when its own has expired.
    fn packages_of(
        &self,
        found: Vec<Metadata>,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Vec<Package<SourcePackage>> {
        let packages = found.into_iter().map(|metadata| {
            let (platform, digest) = (metadata.platform.clone(), metadata.digest);
            let (origin, provider, version) = (self.clone(), provider.clone(), version.clone());
            let asked = Arc::new((origin, provider, version, platform));
            metadata.package(Renewal(Arc::new(move || {
                let asked = Arc::clone(&asked);
                async move {
                    let (origin, provider, version, platform) = &*asked;
                    let now = origin.metadata(provider, version, platform).await?;
                    now.map(|metadata| metadata.place_of(digest)).transpose()
                }
                .boxed()
            })))
        });
        packages.collect()
    }

    /// Requests the metadata of these platforms, and adds it to what was found before. Keys are kept from one response only. Also returns the
    /// platforms that the origin does not have.
    async fn metadata_of_all(
        &self,
        mut known: Vec<Metadata>,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: impl IntoIterator<Item = Platform>,
    ) -> Result<(Vec<Metadata>, BTreeSet<Platform>), Error> {
        let asked = platforms.into_iter().map(|platform| {
            let (origin, provider, version) = (self.clone(), provider.clone(), version.clone());
            async move {
                let answer = origin.metadata(&provider, &version, &platform).await?;
                Ok::<_, Error>(answer.ok_or(platform))
            }
        });
        let mut answers = futures_util::stream::iter(asked).buffered(CONCURRENT_REQUESTS);
        let mut absent = BTreeSet::new();
        while let Some(answer) = answers.try_next().await? {
            match answer {
                Ok(mut metadata) => {
                    // All responses for a version repeat the keys.
                    if !known.is_empty() {
                        metadata.keys = Vec::new();
                    }
                    known.push(metadata);
                }
                Err(platform) => drop(absent.insert(platform)),
            }
        }
        Ok((known, absent))
    }
}

impl Origin {
    pub(super) async fn available_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<AvailableVersions, Error> {
        let service = self.service(provider.hostname()).await?;
        let path = [provider.namespace(), provider.type_name(), "versions"];
        let answer = self.ask(&service, &path, LARGEST_JSON).await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Err(Error::NoProvider {
                place: answer.shown().to_string(),
            });
        }
        let what = Document::Versions;
        let answer = fetch::successful(&what, answer, &service.auth)?;
        let list = fetch::json(&what, answer, VersionList::read)?;
        Ok(available_versions(list))
    }

    pub(super) async fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Vec<Platform>, Error> {
        let (found, others, _) = self.discover(provider, version).await?;
        let platforms = found.into_iter().map(|metadata| metadata.platform);
        Ok(platforms.chain(others).collect())
    }

    pub(super) async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: &Platforms,
    ) -> Result<ReleaseAnswer, Error> {
        let (found, others, checksums) = match platforms.named() {
            Some(platforms) => (Vec::new(), platforms.to_vec(), None),
            None => self.discover(provider, version).await?,
        };
        let every = self.metadata_of_all(found, provider, version, others);
        let (mut found, absent) = every.await?;
        let keys = found
            .iter_mut()
            .flat_map(|one| std::mem::take(&mut one.keys));
        let keys: Vec<_> = keys.collect();
        found.sort_by(|a, b| a.platform.cmp(&b.platform));
        let Some(first) = found.first() else {
            return Ok(ReleaseAnswer {
                release: None,
                absent,
                reported: BTreeSet::new(),
            });
        };
        let service = self.service(provider.hostname()).await?;
        let document = async |what, url: &Option<Url>, limit| match url {
            Some(url) => {
                let document = self.document(what, url, &service, limit);
                document.await.map(Some)
            }
            None => Ok(None),
        };
        let checksums = async {
            match checksums {
                Some(read) => Ok(Some(read)),
                None => document(Document::Checksums, &first.checksums, limits::CHECKSUMS).await,
            }
        };
        let signature = document(Document::Signature, &first.signature, limits::SIGNATURE);
        let (checksums, signature) = futures_util::future::try_join(checksums, signature).await?;
        let (protocols, reported) = (first.protocols.clone(), first.reported.clone());
        // Any of the answers may be the one with the keys.
        let is_verified = found.iter().all(|one| one.is_verified);
        let unverified = (!is_verified).then_some(Note::UnverifiedTransport);
        let release = Release {
            provider: provider.clone(),
            version: version.version().clone(),
            protocols,
            checksums,
            signatures: signature.into_iter().collect(),
            keys,
            packages: self.packages_of(found, provider, version),
            notes: unverified.into_iter().collect(),
        };
        Ok(ReleaseAnswer {
            release: Some(release),
            absent,
            reported,
        })
    }
}
