//! Finds the platforms of a version whose list has none.

use super::Origin;

use super::super::error::{Document, Error};
use super::listing::listed;
use super::metadata::Metadata;
use crate::address::ProviderAddr;
use crate::json;
use crate::oci::MOST_PLATFORMS;
use crate::platform::Platform;
use crate::release;
use crate::trust::limits;
use crate::version::SpelledVersion;

/// The platforms to try if the list of versions has none, most frequent first.
pub(crate) const LIKELY: [&str; 4] = [
    "linux_amd64",
    "darwin_amd64",
    "windows_amd64",
    "linux_arm64",
];

impl Origin {
    /// Finds the platforms of a version whose list has none: in the metadata of one package, otherwise in the checksum document. Returns the
    /// metadata, the other platforms that have packages, and the checksum document if it was read.
    pub(super) async fn discover(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<(Vec<Metadata>, Vec<Platform>, Option<release::Document>), Error> {
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
                let document = self.document(what, url, &service, limits::CHECKSUMS);
                let document = document.await?;
                others = listed(provider, version, &document);
                if others.len() > MOST_PLATFORMS {
                    return Err(Error::Json {
                        what: Document::Checksums,
                        url: url.clone().into(),
                        source: json::Error::too_many("packages", MOST_PLATFORMS),
                    });
                }
                checksums = Some(document);
            }
            others.retain(|other| *other != platform);
            return Ok((vec![first], others, checksums));
        }
        Ok(Default::default())
    }
}
