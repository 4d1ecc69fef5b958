//! Origins: the provider registries that publish providers (contract 5).
//!
//! A version costs one request for each platform, one for its checksum document and one for its signature, whatever
//! the number of platforms; the list of versions is one request, and discovery one a host.
//!
//! An origin is asked with its own spelling of a version. Which platform a package is for is what the origin says, and never what its
//! file name looks like; the file name is only the key to its line in the checksum document.

mod metadata;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use tokio::sync::OnceCell;
use url::Url;

use super::error::{Document, Error};
use super::wire::{ListedVersion, VersionList};
use super::{Offer, Offers, Source, Zip, discovery, fetch};
use crate::address::{Hostname, ProviderAddr};
use crate::http::{Answer, Http, Request, Secret};
use crate::platform::Platform;
use crate::release::{self, Package, Release};
use crate::trust::{Checksums, Subject};
use crate::version::SpelledVersion;
use metadata::{Asked, Metadata};

/// The longest list of versions, and the longest package metadata. Real ones have half a megabyte, and ten kilobytes.
const LARGEST_JSON: u64 = 8 << 20;
const LARGEST_CHECKSUMS: u64 = 4 << 20;
const LARGEST_SIGNATURE: u64 = 64 << 10;
/// How many requests for one version are under way at once.
const ABREAST: usize = 8;

/// Which platforms are tried where nobody says which there are, the most frequent first.
const LIKELY: [&str; 4] = [
    "linux_amd64",
    "darwin_amd64",
    "windows_amd64",
    "linux_arm64",
];

/// The origins of all providers, reached as they are needed.
#[derive(Clone)]
pub struct Origin {
    http: Http,
    services: Arc<Mutex<HashMap<Hostname, Arc<OnceCell<Service>>>>>,
}

/// The provider registry of one host.
#[derive(Clone)]
struct Service {
    /// Where its paths begin.
    base: Url,
    /// The host that the address names.
    named: Url,
    secret: Option<Secret>,
}

impl Origin {
    /// Nothing is opened before the first request.
    pub fn new(http: Http) -> Self {
        Self {
            http,
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
        let found = cell.get_or_try_init(|| async {
            let secret = None;
            let text = host.as_ascii();
            Ok::<_, Error>(Service {
                base: discovery::provider_registry(&self.http, text, secret.as_ref()).await?,
                named: self.http.base(text)?,
                secret,
            })
        });
        found.await.cloned()
    }

    /// Asks a provider registry for one of its own documents, with the token of its host.
    async fn ask(&self, service: &Service, path: &[&str]) -> Result<Answer, Error> {
        let url = service.url(path);
        let request = || {
            Request::new(Method::GET, url.clone(), &service.named)
                .header(ACCEPT, "application/json")
                // The host itself says where its service is, and means its own users to be known there (contract 5.2).
                .secret(service.secret.clone(), &service.base)
                .whole(LARGEST_JSON)
        };
        fetch::send(&self.http, request).await
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
        let answer = self.ask(&service, &path).await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let what = Document::Download;
        let answer = fetch::successful(what, answer, None).await?;
        let asked = Asked {
            platform,
            http: &self.http,
            named: &service.named,
            url: answer.url().clone(),
        };
        let said = fetch::json(what, answer, LARGEST_JSON).await?;
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
        let answer = fetch::send(&self.http, request).await?;
        let answer = fetch::successful(what, answer, None).await?;
        let name = url.path_segments().and_then(|mut all| all.next_back());
        Ok(release::Document {
            name: name.unwrap_or_default().to_owned(),
            bytes: answer.bytes(limit).await?,
        })
    }

    /// What the origin says about each platform, those left out that it does not have.
    async fn every(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: impl IntoIterator<Item = Platform>,
    ) -> Result<Vec<Metadata>, Error> {
        let asked = platforms.into_iter().map(|platform| {
            let (origin, provider, version) = (self.clone(), provider.clone(), version.clone());
            async move { origin.metadata(&provider, &version, &platform).await }
        });
        let found: Vec<Option<Metadata>> = futures_util::stream::iter(asked)
            .buffered(ABREAST)
            .try_collect()
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The platforms of a version whose origin does not list them: what one answer says of the others, else what the
    /// checksum document has zips for.
    async fn discover(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<(Vec<Metadata>, Vec<Platform>), Error> {
        for platform in LIKELY.iter().filter_map(|text| text.parse().ok()) {
            let Some(first) = self.metadata(provider, version, &platform).await? else {
                continue;
            };
            let mut others = first.packages.clone();
            if others.is_empty() {
                let service = self.service(provider.hostname()).await?;
                others = self.listed(provider, version, &first, &service).await?;
            }
            others.retain(|other| *other != platform);
            return Ok((vec![first], others));
        }
        Ok((Vec::new(), Vec::new()))
    }

    /// The platforms for which the checksum document has zips. It is not verified yet: what it lists in vain is not found.
    async fn listed(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        metadata: &Metadata,
        service: &Service,
    ) -> Result<Vec<Platform>, Error> {
        let Some(url) = &metadata.checksums else {
            return Ok(Vec::new());
        };
        let document = self.document(Document::Checksums, url, &service.named, LARGEST_CHECKSUMS);
        let checksums = Checksums::parse(&document.await?.bytes).ok();
        let subject = Subject {
            provider,
            version: version.version(),
        };
        let names = checksums.iter().flat_map(|checksums| checksums.lines());
        Ok(names
            .filter_map(|(name, _)| subject.platform_of(name))
            .collect())
    }
}

impl Source for Origin {
    type Package = Zip;

    const BRINGS_PROOF: bool = true;

    async fn offers(&self, provider: &ProviderAddr) -> Result<Offers, Error> {
        let service = self.service(provider.hostname()).await?;
        let path = [provider.namespace(), provider.type_name(), "versions"];
        let answer = self.ask(&service, &path).await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Err(Error::NoProvider {
                place: self.name(provider),
                provider: provider.clone(),
            });
        }
        let what = Document::Versions;
        let answer = fetch::successful(what, answer, None).await?;
        let url = answer.url().clone();
        let list: VersionList = fetch::json(what, answer, LARGEST_JSON).await?;
        Ok(Offers {
            offers: offers(list.versions, &url)?,
            warnings: list.warnings,
        })
    }

    async fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Vec<Platform>, Error> {
        let (found, mut platforms) = self.discover(provider, version).await?;
        platforms.extend(found.into_iter().map(|metadata| metadata.platform));
        Ok(platforms)
    }

    async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: Option<&[Platform]>,
    ) -> Result<Release<Zip>, Error> {
        let (mut found, others) = match platforms {
            Some(platforms) => (Vec::new(), platforms.to_vec()),
            None => self.discover(provider, version).await?,
        };
        found.extend(self.every(provider, version, others.clone()).await?);
        found.sort_by(|a, b| a.platform.cmp(&b.platform));
        let Some(first) = found.first() else {
            return Err(Error::NoPlatform {
                place: self.name(provider),
                platforms: others.iter().map(Platform::to_string).collect(),
            });
        };
        let service = self.service(provider.hostname()).await?;
        let document = async |what, url: &Option<Url>, limit| match url {
            Some(url) => {
                let document = self.document(what, url, &service.named, limit);
                document.await.map(Some)
            }
            None => Ok(None),
        };
        let (checksums, signature) = futures_util::future::try_join(
            document(Document::Checksums, &first.checksums, LARGEST_CHECKSUMS),
            document(Document::Signature, &first.signature, LARGEST_SIGNATURE),
        )
        .await?;
        let (protocols, keys) = (first.protocols.clone(), first.keys.clone());
        Ok(Release {
            provider: provider.clone(),
            version: version.version().clone(),
            protocols,
            checksums,
            signatures: signature.into_iter().collect(),
            keys,
            packages: sized(found).await?,
            notes: Vec::new(),
        })
    }

    fn name(&self, provider: &ProviderAddr) -> String {
        provider.hostname().to_string()
    }
}

/// The packages, once the size of each is known.
async fn sized(found: Vec<Metadata>) -> Result<Vec<Package<Zip>>, Error> {
    futures_util::stream::iter(found.into_iter().map(Metadata::package))
        .buffered(ABREAST)
        .try_collect()
        .await
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

/// The versions of a list, ascending. A version that is listed twice has the platforms of both, under its first spelling.
fn offers(listed: Vec<ListedVersion>, url: &Url) -> Result<Vec<Offer>, Error> {
    let mut offers: BTreeMap<_, Offer> = BTreeMap::new();
    for ListedVersion { version, platforms } in listed {
        let version: SpelledVersion = version.parse().map_err(|source| Error::Version {
            url: url.clone().into(),
            source,
        })?;
        let read = platforms.map(|all| {
            let read = all.iter().map(|one| Platform::new(&one.os, &one.arch));
            read.collect::<Result<Vec<_>, _>>()
        });
        let platforms = read.transpose().map_err(|source| Error::Platform {
            what: Document::Versions,
            url: url.clone().into(),
            source,
        })?;
        let offer = offers
            .entry(version.version().clone())
            .or_insert_with(|| Offer {
                version,
                platforms: None,
            });
        if let Some(more) = platforms {
            let all = offer.platforms.get_or_insert_default();
            all.extend(more);
            all.sort();
            all.dedup();
        }
    }
    Ok(offers.into_values().collect())
}
