//! Downloads of packages.

use futures_util::StreamExt as _;

use super::{Arc, At, Event, Package, Problem, Reporter, Subject, disk, store};
use crate::blob::{self, BlobSource, proven};
use crate::oci::Part;
use crate::publish::{BlobFailure, FailedPackage};

/// The download of a package.
pub(crate) struct Download<'a, B> {
    /// The package.
    pub(crate) package: &'a Package<B>,
    /// Its name in events.
    pub(crate) subject: &'a Subject,
    /// The side that gives it.
    pub(crate) at: &'a At,
    /// Receives the progress.
    pub(crate) reporter: &'a Arc<dyn Reporter>,
}

impl<B: BlobSource> Download<'_, B> {
    /// Streams the zip to `write`, and verifies its digest before it returns.
    ///
    /// # Errors
    /// `write` fails, the side fails, or the bytes are not the expected ones.
    pub(crate) async fn to(
        &self,
        mut write: impl FnMut(&[u8]) -> Result<(), disk::Error>,
    ) -> Result<(), Problem> {
        let Package {
            expected, location, ..
        } = self.package;
        self.reporter.report(Event::Started {
            subject: self.subject.clone(),
            size: expected.size,
        });
        let mut body = proven(location).await.map_err(|error| self.failed(error))?;
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| self.failed(error))?;
            write(&chunk)?;
            self.reporter.report(Event::Advanced {
                subject: self.subject.clone(),
                bytes: chunk.len() as u64,
            });
            // Local reads never yield, so without this the task could not be cancelled.
            tokio::task::consume_budget().await;
        }
        Ok(())
    }

    /// A store that gives other bytes is damaged; a source is not a store.
    fn failed(&self, source: blob::Error) -> Problem {
        let digest = self.package.expected.digest;
        if !matches!(self.at, At::Source(_)) {
            return store::Error::reading(Part::Package, digest, source).into();
        }
        let package = FailedPackage {
            platform: self.package.platform.clone(),
            file_name: self.package.file_name.clone(),
        };
        BlobFailure {
            what: Part::Package,
            package: Some(package),
            digest,
            source,
        }
        .into_problem()
    }
}
