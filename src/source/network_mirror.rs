//! Network mirrors: copies of packages behind the network mirror protocol
//! ([clients: network mirrors](crate::clients#network-mirrors)).
//!
//! A mirror has no signatures, so its packages are `unverified` unless a lock file contains their hashes, or it is `tfoci serve`, which hands out
//! the author's documents too. A package must match one of the
//! hashes that the mirror lists. If there is exactly one `zh` hash, the package must match it: it is the digest of the author's zip, which
//! lock files pin. A different zip with the same content would match only the `h1`. If there is no `zh` hash, or several, tfoci downloads
//! the package to compute its digest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::ACCEPT;
use tokio::sync::OnceCell;
use url::Url;

use super::auth::RequestAuth;
use super::error::{Document, Error};
use super::fetch::{self, Access};
use super::location::RemoteMetadata;
use super::package;
use super::{AvailableVersion, AvailableVersions, ReleaseAnswer, SourcePackage};
use crate::address::{Hostname, ProviderAddr};
use crate::authentication::Anchor;
use crate::hash::PackageHash;
use crate::http::{self, Answer, Request, Shown};
use crate::platform::{Platform, Platforms};
use crate::protocol::network_mirror::{Archive, Archives, SignedDocuments, VersionIndex};
use crate::release::{self, Expected, KeyRing, Package, Release, canonical_file_name};
use crate::trust::{Checksums, ReleaseId};
use crate::version::SpelledVersion;

/// The largest list of versions or packages, in bytes. It equals the limit for lists of origins, which contain the same versions.
const LARGEST_JSON: u64 = 8 << 20;
/// The most redirects for a document, the same number as clients follow
/// ([clients: network mirror requests](crate::clients#network-mirror-requests)).
const MOST_REDIRECTS: usize = 5;

/// A server of the network mirror protocol. Clones share its connections and credentials.
#[derive(Clone)]
pub struct NetworkMirror(Arc<Inner>);

struct Inner {
    access: Access,
    base: Url,
    auth: OnceCell<RequestAuth>,
}

/// The base URL of a network mirror, with a slash at its end.
///
/// # Errors
/// Text that is not the URL of a directory.
pub fn base_url(text: &str) -> Result<Url, http::Error> {
    // Without the slash at the end, joining a relative URL would replace the last part of the path.
    let directory = format!("{}/", text.trim_end_matches('/'));
    let url = Url::parse(&directory).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    });
    url.ok_or_else(|| http::Error::Address {
        text: text.into(),
        expected: "the URL of a network mirror: https://HOST/PATH/",
    })
}

impl NetworkMirror {
    /// Creates the source for a base URL. It opens no connection before the first request. The user named its host, even if a
    /// configuration from elsewhere names the same one.
    ///
    /// # Errors
    /// Text that is not the URL of a directory.
    pub fn new(access: Access, base: &str) -> Result<Self, Error> {
        let base = base_url(base)?;
        access.http.trust(&base);
        Ok(Self(Arc::new(Inner {
            access,
            base,
            auth: OnceCell::new(),
        })))
    }

    /// The credentials for the mirror's host.
    async fn auth(&self) -> &RequestAuth {
        let Inner { access, base, auth } = &*self.0;
        let find = || async {
            match host_of(base) {
                Some(host) => access.auth(&host).await,
                None => RequestAuth::none(),
            }
        };
        auth.get_or_init(find).await
    }

    /// Requests a document about a provider, which is JSON.
    async fn document(
        &self,
        what: &Document,
        provider: &ProviderAddr,
        file: &str,
    ) -> Result<Answer, Error> {
        let host = provider.hostname().as_ascii();
        let Inner { access, base, .. } = &*self.0;
        let mut url = base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let path = [host, provider.namespace(), provider.type_name()];
            let path = path.into_iter().chain(file.split('/'));
            segments.pop_if_empty().extend(path);
        }
        let auth = self.auth().await;
        let request = || {
            Request::new(Method::GET, url.clone(), base)
                .header(ACCEPT, "application/json")
                .authorization(auth.secret.clone(), base)
                .redirects(MOST_REDIRECTS)
                .whole(LARGEST_JSON)
        };
        let answer = access.document(request).await?;
        fetch::json_only(what, fetch::successful(what, answer, auth)?)
    }

    /// The packages of a version, whether the mirror has the author's documents, and the URL against which their URLs are resolved, also for a message.
    async fn archives(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<(BTreeMap<Platform, Archive>, bool, Url, Shown), Error> {
        let file = format!("{}.json", version.version());
        let what = Document::Archives;
        let answer = self.document(&what, provider, &file).await?;
        let (url, shown) = (answer.url().clone(), answer.shown());
        let said = fetch::json(&what, answer, Archives::read)?;
        let mut archives = BTreeMap::new();
        for (platform, archive) in said.archives {
            let platform = platform
                .parse()
                .map_err(|error| Error::invalid(&what, &shown, error))?;
            archives.extend(archive.map(|archive| (platform, archive)));
        }
        Ok((archives, said.signed, url, shown))
    }

    /// Adds the author's documents to a release, and the file names that they give its packages.
    async fn add_documents<L>(&self, release: &mut Release<L>) -> Result<(), Error> {
        let file = format!("{}/signed.json", release.version);
        let what = Document::Signature;
        let answer = self.document(&what, &release.provider, &file).await?;
        let url = answer.shown();
        let signed = fetch::json(&what, answer, SignedDocuments::read)?;
        let decoded = |name: &'static str, text: &str| {
            let bytes = STANDARD.decode(text);
            let bytes = bytes.map_err(|_| Error::contradiction(&what, &url, name, "base64", text));
            Ok::<_, Error>(release::Document::new(name, bytes?))
        };
        let checksums = decoded("SHA256SUMS", &signed.checksums)?;
        release.signatures = vec![decoded("SHA256SUMS.sig", &signed.signature)?];
        release.keys = vec![KeyRing {
            name: url.to_string(),
            bytes: signed.keys.into_bytes(),
            anchor: Anchor::Embedded,
        }];
        let subject = ReleaseId::of(release);
        // If it cannot be parsed, its verification says why.
        let lines = Checksums::parse(&checksums.bytes).ok();
        let names: BTreeMap<Platform, String> = lines
            .iter()
            .flat_map(Checksums::lines)
            .filter_map(|(name, _)| Some((subject.platform_of(name)?, name.to_owned())))
            .collect();
        for package in &mut release.packages {
            if let Some(name) = names.get(&package.platform) {
                package.file_name.clone_from(name);
            }
        }
        release.checksums = Some(checksums);
        Ok(())
    }

    fn metadata(
        &self,
        archive: Archive,
        platform: &Platform,
        (from, shown): (&Url, &Shown),
    ) -> Result<RemoteMetadata, Error> {
        let contradicts = |field, expected, received: &str| {
            Error::contradiction(&Document::Archives, shown, field, expected, received)
        };
        let url = from.join(&archive.url).ok();
        let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            let received = Shown::from(&*archive.url).to_string();
            return Err(contradicts("url", "an https URL", &received));
        };
        let mut hashes = Vec::new();
        for text in archive.hashes {
            let hash = PackageHash::claimed(&text);
            hashes.push(hash.map_err(|_| contradicts("hash", "SCHEME:VALUE", &text))?);
        }
        let digests: BTreeSet<_> = hashes.iter().filter_map(PackageHash::zip_digest).collect();
        Ok(RemoteMetadata {
            access: self.0.access.clone(),
            url,
            named: self.0.base.clone(),
            renewal: None,
            platform: platform.clone(),
            // With several `zh` hashes, clients accept a package that matches any of them.
            digest: digests.first().filter(|_| digests.len() == 1).copied(),
            size: None,
            hashes,
        })
    }
}

/// The host whose token authenticates a request to a URL, with the port unless it is 443.
fn host_of(url: &Url) -> Option<Hostname> {
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    Hostname::from_ascii(&format!("{host}:{port}")).ok()
}

impl NetworkMirror {
    pub(super) async fn available_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<AvailableVersions, Error> {
        let what = Document::Versions;
        let answer = match self.document(&what, provider, "index.json").await {
            Err(Error::Status {
                status: 404, url, ..
            }) => {
                let place = url.to_string();
                return Err(Error::NoProvider { place });
            }
            answer => answer?,
        };
        let listed = fetch::json(&what, answer, VersionIndex::read)?;
        // Like clients, skip invalid versions.
        let versions = listed.versions.keys();
        let versions = versions.filter_map(|text| text.parse().ok());
        let mut versions: Vec<AvailableVersion> = versions
            .map(|version| AvailableVersion {
                version,
                platforms: None,
            })
            .collect();
        versions.sort_by(|a, b| a.version.version().cmp(b.version.version()));
        versions.dedup_by(|a, b| a.version.version() == b.version.version());
        Ok(AvailableVersions {
            versions,
            ..AvailableVersions::default()
        })
    }

    pub(super) async fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Vec<Platform>, Error> {
        let (archives, ..) = self.archives(provider, version).await?;
        Ok(archives.into_keys().collect())
    }

    pub(super) async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: &Platforms,
        is_pinned: bool,
    ) -> Result<ReleaseAnswer, Error> {
        let (mut archives, is_signed, url, shown) = self.archives(provider, version).await?;
        archives.retain(|platform, _| platforms.has(platform));
        let mut all_metadata = Vec::new();
        for (platform, archive) in archives {
            let metadata = self.metadata(archive, &platform, (&url, &shown))?;
            // The version is refused without documents, so that nothing needs to be downloaded.
            if is_signed || !is_pinned || metadata.digest.is_some() {
                all_metadata.push((platform, metadata));
            }
        }
        // A package of unknown digest has to be downloaded before it can be verified.
        let unknown = all_metadata.iter().map(|(_, metadata)| metadata);
        let unknown = unknown
            .filter(|metadata| metadata.digest.is_none())
            .cloned();
        let mut downloaded = package::resolve(unknown.collect()).await?.into_iter();
        let packages = all_metadata.into_iter().filter_map(|(platform, metadata)| {
            let location = match metadata.digest {
                Some(digest) => SourcePackage::remote(metadata, Expected { digest, size: 0 }),
                None => downloaded.next()?,
            };
            Some(Package {
                file_name: canonical_file_name(provider, version.version(), &platform),
                platform,
                expected: location.expected,
                location,
            })
        });
        let mut release = Release::unproven(provider, version.version(), packages.collect());
        if is_signed && is_pinned {
            self.add_documents(&mut release).await?;
        }
        Ok(ReleaseAnswer::of(platforms.named(), release))
    }

    pub(super) fn name(&self) -> String {
        format!("network-mirror:{}", Shown::from(self.0.base.clone()))
    }
}
