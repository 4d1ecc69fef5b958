//! Plans: the changes to a repository that publish a version.
//!
//! | plan | index |
//! | --- | --- |
//! | [`verbatim`] | the index of another store, byte for byte, if the tag is free, already refers to it, or is replaced |
//! | [`merge`] | the release's packages, and the platforms that the repository already has |

use std::borrow::Cow;
use std::time::Duration;

use super::{
    BlobSource, Digest, Journey, LOOK_AGAIN, LOOK_AGAIN_IN_COMPANY, Platform, Problem, Publication,
    Snapshot, Tag,
};
use crate::http::Retry;
use crate::oci::reference::version_of;
use crate::oci::{Descriptor, TagNames};
use crate::store;

mod merge;
mod verbatim;

/// How often a missing part is looked up: the second time at once.
const LOOKS: u32 = 2;
/// How often, if others probably write the version: within four seconds. A writer notices after two that its part was deleted, and writes it again.
const LOOKS_WITH_OTHERS: u32 = 6;

impl<B: BlobSource> Journey<'_, B> {
    /// Compares the edition with the repository.
    ///
    /// Some registries delete what an index refers to as soon as another writer moves its tag. So a missing part is looked up again, for as long as
    /// its writer may take to write it once more.
    pub(super) async fn plan(&self) -> Result<Publication<B>, Problem> {
        let most = match self.has_company() {
            true => LOOKS_WITH_OTHERS,
            false => LOOKS,
        };
        let mut snapshot = self.edition.snapshot;
        let mut retry = Retry::new(most - 1);
        loop {
            let compared = self.compare(snapshot.take()).await;
            let is_missing = matches!(&compared, Err(Problem::Store(store::Error::Missing { .. })));
            if !is_missing || !retry.wait_quietly().await {
                return compared;
            }
        }
    }

    async fn compare(&self, snapshot: Option<Snapshot<'_>>) -> Result<Publication<B>, Problem> {
        let tags = match snapshot {
            Some(Snapshot { tags, .. }) => Cow::Borrowed(tags),
            None => Cow::Owned(self.to.tags().await?.into_iter().flatten().collect()),
        };
        if self.to.may_be_shared() && !self.replaces() {
            self.refuse_others(&tags).await?;
        }
        if let Some(index) = &self.edition.index
            && let Some(publication) = self.verbatim(index, &tags).await?
        {
            return Ok(publication);
        }
        let index = snapshot.and_then(|snapshot| snapshot.index);
        self.merge(&tags, index).await
    }

    /// Refuses a new version in a repository whose newest version is of another provider. Readers would not tell them apart.
    async fn refuse_others(&self, tags: &TagNames) -> Result<(), Problem> {
        let release = self.edition.release;
        if tags.has(&Tag::of_version(&release.version)?) {
            return Ok(());
        }
        let versions = tags.iter().filter_map(|name| version_of(name).ok());
        let Some(version) = versions.max() else {
            return Ok(());
        };
        let newest = match self.to.artifact(&Tag::of_version(&version)?).await {
            Ok(newest) => newest,
            // What cannot be read is no evidence of another provider.
            Err(error) if error.is_damage() => None,
            Err(error) => return Err(error.into()),
        };
        let other = newest.and_then(|newest| newest.index.other_provider(&release.provider));
        match other {
            Some(stored) => Err(Problem::OtherProvider {
                expected: Box::new(release.provider.clone()),
                stored: Box::new(stored),
                version: Some(version),
            }),
            None => Ok(()),
        }
    }

    /// The least time until moved tags are read again. Others may write the version if one of them has written a part of it, perhaps only its evidence,
    /// or if its checksum document lists packages that neither the release nor the `others` in its index are.
    fn look_again(
        &self,
        others: &[(Platform, &Descriptor)],
        was: Option<&Digest>,
        tags: &TagNames,
    ) -> Result<Option<Duration>, Problem> {
        let release = self.edition.release;
        let mut has_rest = release.listed_platforms().filter(|listed| {
            !release.has(listed) && !others.iter().any(|(platform, _)| platform == listed)
        });
        let has_evidence = tags.has(&Tag::of_evidence(&release.version)?);
        let may_meet_one = was.is_some() || has_evidence || has_rest.next().is_some();
        Ok(may_meet_one.then(|| match self.has_company() {
            true => LOOK_AGAIN_IN_COMPANY,
            false => LOOK_AGAIN,
        }))
    }
}
