//! Copies the packages of a verified release into the destinations that lack them.

use std::sync::Arc;

use futures_util::future;

use super::Journey;
use super::completed::Completed;
use super::target::Missing;
use crate::disk::temp_file::Permit;
use crate::event::Subject;
use crate::platform::Platform;
use crate::release::Release;
use crate::source::{self, PackageMetadata, SourcePackage};
use crate::trust::Verified;

impl Journey<'_> {
    /// Copies the missing packages into all destinations concurrently.
    pub(super) async fn copy<'t>(
        &self,
        mut release: Verified<Release<PackageMetadata>>,
        mut missing: Vec<Missing<'t>>,
    ) -> Vec<Completed<'t>> {
        let mut completed = Vec::new();
        // Acquire the permit for temporary files before any response is opened, so that no open response waits for it.
        let permit = match missing.len() > 1 {
            true => Some(Arc::new(
                self.shared_files.acquire(release.packages.len()).await,
            )),
            false => None,
        };
        while let Some(first) = source::too_many_unsized(&release) {
            let sent = self.copy_ahead(release, missing, &first, permit.as_ref(), &mut completed);
            let Some(left) = sent.await else {
                return completed;
            };
            (release, missing) = left;
        }
        let packages = self.packages(release, &missing, permit.as_ref(), &mut completed);
        let Some(release) = packages.await else {
            return completed;
        };
        let copying = missing.iter().map(async |one| {
            let published = one.publish(release.clone()).await;
            let unpublished = |error| self.unpublished(error, &release, one.target);
            Completed {
                target: one.target,
                result: published.map(Box::new).map_err(unpublished),
            }
        });
        completed.extend(future::join_all(copying).await);
        completed
    }

    /// Copies the first packages of unknown size before the version is published, as many as responses may be open. Their sizes are known
    /// then, and each package has taken one request. `None` if every destination has failed.
    async fn copy_ahead<'t>(
        &self,
        release: Verified<Release<PackageMetadata>>,
        missing: Vec<Missing<'t>>,
        first: &[Platform],
        permit: Option<&Arc<Permit>>,
        completed: &mut Vec<Completed<'t>>,
    ) -> Option<(Verified<Release<PackageMetadata>>, Vec<Missing<'t>>)> {
        let some = release.clone().only(|platform| first.contains(platform));
        let some = self.packages(some, &missing, permit, completed).await?;
        let release = source::with_sizes(release, &some);
        if self.options.dry_run {
            return Some((release, missing));
        }
        let copying =
            missing
                .into_iter()
                .map(async |mut one| match one.deliver(some.clone()).await {
                    Ok(()) => Ok(one),
                    Err(error) => Err(Completed {
                        target: one.target,
                        result: Err(self.unpublished(error, &some, one.target)),
                    }),
                });
        let mut missing = Vec::new();
        for delivered in future::join_all(copying).await {
            match delivered {
                Ok(one) => missing.push(one),
                Err(failed) => completed.push(failed),
            }
        }
        (!missing.is_empty()).then_some((release, missing))
    }

    /// Requests the packages of unknown size. Their responses stay open until the packages are copied. `None` after a failure, which is one of
    /// every destination.
    async fn packages<'t>(
        &self,
        release: Verified<Release<PackageMetadata>>,
        missing: &[Missing<'t>],
        permit: Option<&Arc<Permit>>,
        completed: &mut Vec<Completed<'t>>,
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
                completed.extend(failed);
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
