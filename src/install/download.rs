//! Downloads of packages.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::arriving::{self, Reader};
use super::{Event, Package, Problem, Reporter, Subject, disk, jobs};
use crate::blob::{Body, ReadError, proven};
use crate::oci::Part;
use crate::publish::{BlobFailure, FailedPackage, PackageBlob};

/// A package, and what its download reports to.
pub(crate) struct Download<'a, B> {
    pub(crate) package: &'a Package<B>,
    /// Its name in events.
    pub(crate) subject: &'a Subject,
    /// Receives the progress.
    pub(crate) reporter: &'a Arc<dyn Reporter>,
}

impl<B: PackageBlob> Download<'_, B> {
    /// Starts the download.
    ///
    /// # Errors
    /// The side fails.
    async fn start(&self) -> Result<Body<B::Failure>, Problem> {
        let Package {
            expected, location, ..
        } = self.package;
        self.reporter.report(Event::Started {
            subject: self.subject.clone(),
            size: expected.size,
        });
        proven(location).await.map_err(|error| self.failed(error))
    }

    /// The next bytes, or `None` after the last ones. The last ones come only if all together have the expected digest.
    ///
    /// # Errors
    /// The side fails, or the bytes are not the expected ones.
    async fn next(&self, body: &mut Body<B::Failure>) -> Result<Option<Bytes>, Problem> {
        let Some(chunk) = body.next().await else {
            return Ok(None);
        };
        let chunk = chunk.map_err(|error| self.failed(error))?;
        self.reporter.report(Event::Advanced {
            subject: self.subject.clone(),
            bytes: chunk.len() as u64,
        });
        Ok(Some(chunk))
    }

    /// Streams the zip to `write`, and verifies its digest before it returns.
    ///
    /// # Errors
    /// `write` fails, the side fails, or the bytes are not the expected ones.
    pub(crate) async fn to(
        &self,
        mut write: impl FnMut(&[u8]) -> Result<(), disk::Error>,
    ) -> Result<(), Problem> {
        let mut body = self.start().await?;
        while let Some(chunk) = self.next(&mut body).await? {
            write(&chunk)?;
        }
        Ok(())
    }

    /// Passes the zip on to `read`, which reads it in a thread while it arrives, if `suits` accepts its first bytes. A zip that only a file can be
    /// read from goes to `write`, as [`Download::to`] passes it on; if `read` finds that out, it returns `None`, and the zip is downloaded again.
    ///
    /// # Errors
    /// One of the functions or the side fails, or the bytes are not the expected ones.
    pub(crate) async fn arriving_or_to<T: Send + 'static>(
        &self,
        suits: impl FnOnce(&[u8]) -> Result<bool, Problem>,
        read: impl FnOnce(Reader) -> Result<Option<T>, Problem> + Send + 'static,
        mut write: impl FnMut(&[u8]) -> Result<(), disk::Error>,
    ) -> Result<Option<T>, Problem> {
        let mut body = self.start().await?;
        let mut next = self.next(&mut body).await?;
        if let Some(front) = &next
            && suits(front)?
        {
            if let Some(read) = self.arriving(next, &mut body, read).await? {
                return Ok(Some(read));
            }
            body = self.start().await?;
            next = self.next(&mut body).await?;
        }
        while let Some(chunk) = next {
            write(&chunk)?;
            next = self.next(&mut body).await?;
        }
        Ok(None)
    }

    /// Passes a download that has begun with `front` on to `read`, which reads it in a thread while it arrives. `read` sees the end of
    /// the zip only if the zip is the expected one.
    ///
    /// # Errors
    /// `read` or the side fails, or the bytes are not the expected ones.
    async fn arriving<T: Send + 'static>(
        &self,
        front: Option<Bytes>,
        body: &mut Body<B::Failure>,
        read: impl FnOnce(Reader) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (writer, reader) = arriving::pipe();
        let reading = jobs::in_thread(move || read(reader));
        let passed_on = async {
            let mut next = front;
            while let Some(chunk) = next {
                if !writer.write(chunk).await {
                    return Ok(false);
                }
                next = self.next(body).await?;
            }
            writer.verified().await;
            Ok::<_, Problem>(true)
        };
        let passed_on = passed_on.await;
        // Waits for the thread in any case, because it removes what it has written.
        let read = reading.await;
        if passed_on? {
            return read;
        }
        let read = read?;
        // A structural error is reported only after the digest matched.
        while self.next(body).await?.is_some() {}
        Ok(read)
    }

    fn failed(&self, source: ReadError<B::Failure>) -> Problem {
        let package = FailedPackage {
            platform: self.package.platform.clone(),
            file_name: self.package.file_name.clone(),
        };
        B::problem(BlobFailure {
            what: Part::Package,
            package: Some(package),
            digest: self.package.expected.digest,
            source,
        })
    }
}
