//! Copies the packages of a verified release into the destinations that lack them.

use std::sync::Arc;

use futures_util::future;

use super::Journey;
use super::planned::{Completed, PlannedCopy};
use super::target::Missing;
use crate::disk::temp_file::Permit;
use crate::event::Subject;
use crate::outcome::OnResult;
use crate::platform::Platform;
use crate::release::Release;
use crate::source::{self, PackageMetadata, SourcePackage};
use crate::trust::Verified;

impl Journey<'_> {
    /// Copies the missing packages into all destinations concurrently.
    pub(super) async fn copy(
        &self,
        PlannedCopy { release, missing }: PlannedCopy<'_>,
        on_result: &OnResult<'_>,
    ) {
        // Acquire the permit for temporary files before any response is opened, so that no open response waits for it.
        let permit = match missing.len() > 1 {
            true => Some(Arc::new(
                self.shared_files.acquire(release.packages.len()).await,
            )),
            false => None,
        };
        let (mut release, mut missing) = (release, missing);
        while let Some(first) = source::too_many_unsized(&release) {
            let copying = PlannedCopy { release, missing };
            let copied = self.copy_ahead(copying, &first, permit.as_ref(), on_result);
            let Some(left) = copied.await else {
                return;
            };
            (release, missing) = (left.release, left.missing);
        }
        let packages = self.packages(release, &missing, permit.as_ref(), on_result);
        let Some(release) = packages.await else {
            return;
        };
        let copying = missing.iter().map(async |one| {
            let published = one.publish(release.clone()).await;
            if let Ok(published) = &published {
                one.target.report_plan(published);
            }
            on_result(published.map_err(|error| self.unpublished(error, &release, one.target)));
        });
        future::join_all(copying).await;
    }

    /// Copies the first packages of unknown size before the version is published, as many as responses may be open. Their sizes are known
    /// then, and each package has taken one request. `None` if every destination has failed.
    async fn copy_ahead<'t>(
        &self,
        PlannedCopy { release, missing }: PlannedCopy<'t>,
        first: &[Platform],
        permit: Option<&Arc<Permit>>,
        on_result: &OnResult<'_>,
    ) -> Option<PlannedCopy<'t>> {
        let some = release.clone().only(|platform| first.contains(platform));
        let some = self.packages(some, &missing, permit, on_result).await?;
        let release = source::with_sizes(release, &some);
        if self.options.dry_run {
            return Some(PlannedCopy { release, missing });
        }
        let copying = missing.into_iter().map(async |mut one| {
            let delivered = one.deliver(some.clone()).await;
            let failed = delivered.map_err(|error| self.unpublished(error, &some, one.target));
            failed.map(|()| one)
        });
        let mut missing = Vec::new();
        for delivered in future::join_all(copying).await {
            match delivered {
                Ok(one) => missing.push(one),
                Err(failure) => on_result(Err(failure)),
            }
        }
        (!missing.is_empty()).then_some(PlannedCopy { release, missing })
    }

    /// Requests the packages of unknown size. Their responses stay open until the packages are copied. `None` after a failure, which is
    /// reported for every destination.
    async fn packages(
        &self,
        release: Verified<Release<PackageMetadata>>,
        missing: &[Missing<'_>],
        permit: Option<&Arc<Permit>>,
        on_result: &OnResult<'_>,
    ) -> Option<Verified<Release<SourcePackage>>> {
        let subject = Subject::version(&release.provider, &release.version);
        match source::complete(release).await {
            Ok(release) => Some(match permit {
                Some(permit) => shared(release, missing, permit),
                None => release,
            }),
            Err(error) => {
                let failure = self.at_source(error, subject);
                let failed = missing
                    .iter()
                    .map(|one| Completed::failed(one.target, &failure));
                failed.for_each(|completed| on_result(completed.result.map(|one| *one)));
                None
            }
        }
    }
}

/// Lets the destinations that lack the same package share its download.
fn shared(
    release: Verified<Release<SourcePackage>>,
    missing: &[Missing<'_>],
    permit: &Arc<Permit>,
) -> Verified<Release<SourcePackage>> {
    let packages = release.packages.iter().map(|package| {
        let readers = missing
            .iter()
            .filter(|one| one.platforms.has(&package.platform));
        let location = package.location.clone();
        let location = match readers.count() {
            0 | 1 => location,
            _ => location.shared(permit),
        };
        (location, package.expected.size)
    });
    let packages: Vec<_> = packages.collect();
    release.located(packages)
}
