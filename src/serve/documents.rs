//! The JSON documents of both protocols, in the form that both clients accept
//! ([clients: network mirrors](crate::clients#network-mirror-answers),
//! [clients: provider registry protocol](crate::clients#provider-registry-protocol)).

use serde::Serialize;

use super::answer::Document;
use super::listing::ProviderListing;
use super::served::{ServedPackage, ServedVersion, SignedFiles};
use crate::address::ProviderAddr;
use crate::protocol::network_mirror::{Archive, Archives, VersionIndex};
use crate::protocol::provider_registry::{
    DownloadMetadata, ListedPackage, ListedVersion, SigningKey, VersionList,
};
use crate::version::Version;

/// The network mirror's `index.json`.
pub(super) fn index(listing: &ProviderListing) -> Document {
    json(&VersionIndex::of(listing.installable()))
}

/// The network mirror's `VERSION.json`. `link` turns the name of a file into its URL.
pub(super) fn archives(served: &ServedVersion, link: impl Fn(&str) -> String) -> Document {
    let archive = |package: &ServedPackage| {
        let archive = Archive {
            url: link(&package.canonical_name),
            hashes: vec![package.zh.to_string()],
        };
        (package.platform.to_string(), Some(archive))
    };
    json(&Archives {
        archives: served.packages.iter().map(archive).collect(),
    })
}

/// The provider registry's list of versions: only those that its clients accept, with a signature over every package, and those that the
/// origin offers.
pub(super) fn versions(listing: &ProviderListing) -> Document {
    let signed = listing.versions.iter();
    let signed = signed.filter(|(_, served)| served.is_signed());
    let listed = signed.map(|(version, served)| ListedVersion {
        version: version.to_string(),
        protocols: served.protocols.clone(),
        platforms: served
            .packages
            .iter()
            .map(|package| package.platform.clone())
            .collect(),
        odd: None,
    });
    let offered = listing.offered.iter().map(|version| ListedVersion {
        version: version.to_string(),
        protocols: Vec::new(),
        platforms: Vec::new(),
        odd: None,
    });
    json(&VersionList {
        versions: listed.chain(offered).collect(),
        ..VersionList::default()
    })
}

/// The provider registry's metadata of a package. `link` turns the name of a file into its URL.
pub(super) fn download(
    served: &ServedVersion,
    documents: &SignedFiles,
    package: &ServedPackage,
    [checksums, signature]: &[String; 2],
    link: impl Fn(&str) -> String,
) -> Document {
    let listed = |package: &ServedPackage| {
        let listed = ListedPackage {
            hashes: vec![package.zh.to_string()],
            package_size: package.expected.size,
        };
        (package.platform.to_string(), listed)
    };
    json(&DownloadMetadata {
        protocols: served.protocols.clone(),
        os: package.platform.os().to_owned(),
        arch: package.platform.arch().to_owned(),
        filename: package.file_name.clone(),
        download_url: link(&package.file_name),
        shasum: package.expected.digest.hex(),
        shasums_url: link(checksums),
        shasums_signature_url: link(signature),
        keys: vec![SigningKey::new(
            documents.fingerprint.key_id().to_owned(),
            String::from_utf8_lossy(&documents.certificate).into_owned(),
        )],
        packages: served.packages.iter().map(listed).collect(),
    })
}

/// The service discovery document: the path or URL of the provider registry.
pub(super) fn discovery(base: &str) -> Document {
    #[derive(Serialize)]
    struct Discovery<'a> {
        #[serde(rename = "providers.v1")]
        providers: &'a str,
    }
    json(&Discovery {
        providers: &format!("{base}/v1/providers/"),
    })
}

/// The file names of the checksum document and of its signature.
pub(super) fn names(provider: &ProviderAddr, version: &Version) -> [String; 2] {
    let type_name = provider.type_name();
    let checksums = format!("terraform-provider-{type_name}_{version}_SHA256SUMS");
    let signature = format!("{checksums}.sig");
    [checksums, signature]
}

/// These documents contain text and numbers only, so writing them cannot fail.
fn json(document: &impl Serialize) -> Document {
    Document::new(serde_json::to_vec(document).unwrap_or_default())
}
