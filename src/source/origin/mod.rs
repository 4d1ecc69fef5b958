//! Origins: the provider registries that publish providers
//! ([clients: registry protocol](crate::clients#registry-protocol)).
//!
//! A version costs one request for each platform, one for its checksum document and one for its signature, whatever
//! the number of platforms; the list of versions is one request, and discovery one a host.
//!
//! An origin is asked with its own spelling of a version. Which platform a package is for is what the origin says, and never what its
//! file name looks like; the file name is only the key to its line in the checksum document.

mod listing;
mod metadata;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use tokio::sync::OnceCell;
use url::Url;

use super::auth::RequestAuth;
use super::discovery::{self, Found};
use super::error::{Document, Error};
use super::fetch::{self, Access, Kind};
use super::package::PackageMeta;
use super::renewal::Renewal;
use super::{AvailableVersions, ReleaseAnswer};
use crate::address::{Hostname, ProviderAddr};
use crate::authentication::Note;
use crate::digest::Digest;
use crate::http::{Answer, Request};
use crate::json;
use crate::oci::MOST_PLATFORMS;
use crate::platform::Platform;
use crate::protocol::registry::{Download, VersionList};
use crate::release::{self, Package, Release};
use crate::trust::limits;
use crate::version::SpelledVersion;
use listing::{available_versions, listed};
use metadata::{Asked, Metadata};

/// The longest list of versions. Real ones have half a megabyte.
const LARGEST_JSON: u64 = 8 << 20;
/// The longest package metadata. Real ones have ten kilobytes, and several are read at once.
const LARGEST_METADATA: u64 = 512 << 10;
/// How many requests for one version are under way at once.
const ABREAST: usize = 8;

/// The platforms that are tried if the list of versions has none, the most frequent first.
const LIKELY: [&str; 4] = [
    "linux_amd64",
    "darwin_amd64",
    "windows_amd64",
    "linux_arm64",
];

/// The origins of all providers, reached as they are needed.
#[derive(Clone)]
pub struct Origin {
    access: Access,
    services: Arc<Mutex<HashMap<Hostname, Arc<OnceCell<Service>>>>>,
}

/// The provider registry of one host.
#[derive(Clone)]
struct Service {
    /// Where its paths begin.
    base: Url,
    /// The host that the user named: that of the address, or of a `host` block.
    named: Url,
    /// Who we are to that host, and to its service wherever the host itself says that it is: it means its own users to be
    /// known there ([clients: registry tokens](crate::clients#registry-tokens)).
    auth: RequestAuth,
    /// Whether it is certain that the host means this service.
    is_verified: bool,
}

impl Origin {
    /// Nothing is opened before the first request.
    pub fn new(access: Access) -> Self {
        Self {
            access,
            services: Arc::default(),
        }
    }

    async fn service(&self, host: &Hostname) -> Result<Service, Error> {
        let cell = Arc::clone(
            self.services
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(host.clone())
                .or_default(),
        );
        let found = cell.get_or_try_init(|| self.find(host));
        found.await.cloned()
    }

    async fn find(&self, host: &Hostname) -> Result<Service, Error> {
        let access = &self.access;
        let auth = access.auth(host).await;
        let found = discovery::provider_registry(access, host, &auth).await?;
        let Found {
            base,
            is_verified,
            is_own,
        } = found;
        let named = match access.credentials.services(host)? {
            Some(_) => base.clone(),
            None => access.http.base(host.as_ascii())?,
        };
        // Only the host itself may name another host that gets its token.
        let auth = match is_own || base.origin() == named.origin() {
            true => auth,
            false => RequestAuth::redirected(),
        };
        Ok(Service {
            base,
            named,
            auth,
            is_verified,
        })
    }

    /// Asks a provider registry for one of its own documents, with the token of its host.
    async fn ask(&self, service: &Service, path: &[&str], limit: u64) -> Result<Answer, Error> {
        let url = service.url(path);
        let request = || {
            Request::new(Method::GET, url.clone(), &service.named)
                .header(ACCEPT, "application/json")
                .authorization(service.auth.secret.clone(), &service.base)
                .whole(limit)
        };
        self.access.send(Kind::Document, request).await
    }

    /// What an origin says about one package; `None` if it has none for this platform.
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
        let answer = fetch::successful(&what, answer, &service.auth).await?;
        let asked = Asked {
            platform,
            access: &self.access,
            named: &service.named,
            url: answer.url().clone(),
            is_verified: service.is_verified && answer.is_verified(),
        };
        let said = fetch::json(&what, answer, LARGEST_METADATA, Download::read).await?;
        Metadata::read(said, &asked).map(Some)
    }

    /// A document whose URL an origin gave. It is public: no token goes with it.
    async fn document(
        &self,
        what: Document,
        url: &Url,
        named: &Url,
        limit: u64,
    ) -> Result<release::Document, Error> {
        let request = || Request::new(Method::GET, url.clone(), named).whole(limit);
        let answer = self.access.send(Kind::Document, request).await?;
        let answer = fetch::successful(&what, answer, &RequestAuth::none()).await?;
        let name = url.path_segments().and_then(|mut all| all.next_back());
        Ok(release::Document {
            name: name.unwrap_or_default().to_owned(),
            bytes: answer.bytes(limit).await?,
        })
    }

    /// The packages of a version. An expired URL is requested again.
    fn package_metas(
        &self,
        found: Vec<Metadata>,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Vec<Package<PackageMeta>> {
        let packages = found.into_iter().map(|metadata| {
            let (origin, provider, version) = (self.clone(), provider.clone(), version.clone());
            let (platform, digest) = (metadata.platform.clone(), metadata.digest);
            metadata.package(Renewal::new(move || {
                let (origin, provider, version) =
                    (origin.clone(), provider.clone(), version.clone());
                let platform = platform.clone();
                async move { origin.place(&provider, &version, &platform, digest).await }.boxed()
            }))
        });
        packages.collect()
    }

    /// Where a package is by now; `None` if the origin has it no more.
    async fn place(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platform: &Platform,
        digest: Digest,
    ) -> Result<Option<Url>, Error> {
        let now = self.metadata(provider, version, platform).await?;
        now.map(|metadata| metadata.place_of(digest)).transpose()
    }

    /// The metadata of each platform that the origin has, besides what is known already. Keys are kept of one answer.
    async fn every(
        &self,
        known: Vec<Metadata>,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: impl IntoIterator<Item = Platform>,
    ) -> Result<Vec<Metadata>, Error> {
        let asked = platforms.into_iter().map(|platform| {
            let (origin, provider, version) = (self.clone(), provider.clone(), version.clone());
            async move { origin.metadata(&provider, &version, &platform).await }
        });
        let answers = futures_util::stream::iter(asked).buffered(ABREAST);
        answers
            .try_fold(known, |mut known, answer| async {
                known.extend(answer);
                keep_keys_once(&mut known);
                Ok(known)
            })
            .await
    }

    /// The platforms of a version whose list has none: those of one package's metadata, else those in the checksum document.
    async fn discover(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Discovered, Error> {
        for platform in LIKELY.iter().filter_map(|text| text.parse().ok()) {
            let Some(first) = self.metadata(provider, version, &platform).await? else {
                continue;
            };
            let mut others = first.packages.clone();
            let mut checksums = None;
            if others.is_empty()
                && let Some(url) = &first.checksums
            {
                let service = self.service(provider.hostname()).await?;
                let what = Document::Checksums;
                let document = self.document(what, url, &service.named, limits::CHECKSUMS);
                let document = document.await?;
                others = listed(provider, version, &document);
                if others.len() > MOST_PLATFORMS {
                    return Err(Error::TooMany {
                        what: Document::Checksums,
                        url: url.clone().into(),
                        counted: json::Error::too_many("packages", MOST_PLATFORMS),
                    });
                }
                checksums = Some(document);
            }
            others.retain(|other| *other != platform);
            return Ok(Discovered {
                found: vec![first],
                others,
                checksums,
            });
        }
        Ok(Discovered::default())
    }
}

/// Keeps the keys only in the answer for the first platform. All answers of a version repeat them.
fn keep_keys_once(found: &mut [Metadata]) {
    let first = found.iter().map(|metadata| &metadata.platform).min();
    let first = first.cloned();
    for metadata in found {
        if Some(&metadata.platform) != first.as_ref() {
            metadata.keys = Vec::new();
        }
    }
}

/// What an origin says of a version of which it does not list the platforms.
#[derive(Default)]
struct Discovered {
    /// The packages that were asked about.
    found: Vec<Metadata>,
    /// For which other platforms there are packages.
    others: Vec<Platform>,
    /// The checksum document, where it had to be read for that.
    checksums: Option<release::Document>,
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
                place: provider.hostname().to_string(),
                provider: provider.clone(),
            });
        }
        let what = Document::Versions;
        let answer = fetch::successful(&what, answer, &service.auth).await?;
        let url = answer.url().clone();
        let list = fetch::json(&what, answer, LARGEST_JSON, VersionList::read).await?;
        available_versions(list, &url)
    }

    pub(super) async fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Vec<Platform>, Error> {
        let discovered = self.discover(provider, version).await?;
        let found = discovered.found.into_iter();
        let platforms = found.map(|metadata| metadata.platform);
        Ok(platforms.chain(discovered.others).collect())
    }

    pub(super) async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: Option<&[Platform]>,
    ) -> Result<ReleaseAnswer, Error> {
        let Discovered {
            found,
            others,
            checksums,
        } = match platforms {
            Some(platforms) => Discovered {
                others: platforms.to_vec(),
                ..Discovered::default()
            },
            None => self.discover(provider, version).await?,
        };
        let every = self.every(found, provider, version, others.clone());
        let mut found = every.await?;
        found.sort_by(|a, b| a.platform.cmp(&b.platform));
        let Some(first) = found.first() else {
            let nothing = Release::unproven(provider, version.version(), Vec::new());
            return Ok(ReleaseAnswer::of(others, nothing));
        };
        let service = self.service(provider.hostname()).await?;
        let document = async |what, url: &Option<Url>, limit| match url {
            Some(url) => {
                let document = self.document(what, url, &service.named, limit);
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
        let (protocols, keys) = (first.protocols.clone(), first.keys.clone());
        let unverified = (!first.is_verified).then_some(Note::UnverifiedTransport);
        let release = Release {
            provider: provider.clone(),
            version: version.version().clone(),
            protocols,
            checksums,
            signatures: signature.into_iter().collect(),
            keys,
            packages: self.package_metas(found, provider, version),
            notes: unverified.into_iter().collect(),
        };
        Ok(ReleaseAnswer::of(others, release))
    }
}

impl Service {
    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.join(".").unwrap_or_else(|_| self.base.clone());
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}
