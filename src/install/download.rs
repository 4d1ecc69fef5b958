//! Downloads of packages.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use futures_util::StreamExt as _;
use tokio::sync::mpsc::{Receiver, channel};

use super::{
    Event, Failure, Hashes, Jobs, Package, Problem, Release, Reporter, Subject, Transfer, Verified,
    disk, jobs,
};
use crate::archive::{self, Archive, Limits, Members as _, Stream, executable};
use crate::blob::{Body, ReadError, proven};
use crate::disk::temp_file::TempFile;
use crate::place::Place;
use crate::publish::{BlobFailure, PackageBlob};

/// The number of chunks between the task that downloads and the thread that reads, apart from those that each of them holds. More are not
/// faster (measured: 1, 2 and 4), and a chunk from the network has up to 408 KiB.
const CHUNKS: usize = 1;

/// A zip that a thread reads while it arrives. It ends only when the zip was verified, with an empty chunk; reading fails if the download ends
/// before.
pub(crate) struct Reader {
    receiver: Receiver<Bytes>,
    chunk: Bytes,
    is_verified: bool,
}

impl BufRead for Reader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunk.is_empty() && !self.is_verified {
            let received = self.receiver.blocking_recv();
            self.chunk = received.ok_or(io::ErrorKind::UnexpectedEof)?;
            self.is_verified = self.chunk.is_empty();
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, count: usize) {
        self.chunk.advance(count.min(self.chunk.len()));
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// What a whole zip tells.
pub(crate) struct Inspected {
    pub(crate) hashes: Hashes,
    /// Whether it has the executable of the provider.
    pub(crate) executable: Result<(), archive::Error>,
}

/// Does the work of each package of a release, concurrently. Reports what is planned, and what is done.
///
/// # Errors
/// The first error of any package.
pub(crate) async fn each_package<B, T, F>(
    release: &Verified<Release<B>>,
    jobs: &Jobs,
    at: &Place,
    reporter: &Arc<dyn Reporter>,
    work: impl Fn(Download<B>) -> F,
) -> Result<Vec<T>, Failure>
where
    B: PackageBlob,
    T: Send + 'static,
    F: Future<Output = Result<(T, Transfer), Problem>> + Send + 'static,
{
    let version = Subject::version(&release.provider, &release.version);
    let sizes = release.packages.iter().map(|package| package.expected.size);
    reporter.report(Event::planned(version.clone(), sizes));
    let done = jobs.run(release.packages.clone(), |package| {
        let (subject, size) = (version.platform(&package.platform), package.expected.size);
        let (at, authentication) = (at.clone(), release.authentication().clone());
        let reporter = Arc::clone(reporter);
        let work = work(Download {
            package,
            subject: subject.clone(),
            reporter: Arc::clone(&reporter),
        });
        async move {
            let done = work.await;
            let (done, transfer) = done.map_err(|problem| problem.of(subject.clone(), Some(at)))?;
            reporter.report(Event::Finished {
                subject,
                size,
                transfer,
                authentication,
            });
            Ok(done)
        }
    });
    done.await
}

/// A package, and what its download reports to.
#[derive(Clone)]
pub(crate) struct Download<B> {
    pub(crate) package: Package<B>,
    /// Its name in events.
    pub(crate) subject: Subject,
    /// Receives the progress.
    pub(crate) reporter: Arc<dyn Reporter>,
}

impl<B: PackageBlob> Download<B> {
    /// Starts the download.
    ///
    /// # Errors
    /// The side fails.
    async fn start(&self) -> Result<Body<B::Failure>, Problem> {
        let Package {
            expected, location, ..
        } = &self.package;
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

    /// Reads the zip while it arrives, or from a temporary file, and checks all of it as an installation does. Nothing is kept.
    ///
    /// # Errors
    /// The side fails, the bytes are not the expected ones, or the zip is refused.
    pub(crate) async fn inspected(&self) -> Result<Inspected, Problem> {
        let (size, file) = (self.package.expected.size, self.package.file_name.clone());
        let unusable = move |source| Problem::Archive { file, source };
        let refused = unusable.clone();
        let type_name = self.subject.provider.type_name().to_owned();
        let of_arrived = type_name.clone();
        let mut spooled: Option<TempFile> = None;
        let arrived = self.arriving_or_to(
            |front| Ok(Stream::<&[u8]>::suits(front)),
            move |reader| match Stream::new(reader, size, &Limits::default()).finish() {
                Ok((entries, hashes)) => Ok(Some(Inspected {
                    executable: executable(&entries, &of_arrived).map(drop),
                    hashes,
                })),
                Err(archive::Error::Unsuited) => Ok(None),
                Err(error) => Err(refused(error)),
            },
            |chunk| {
                let file = spooled.take().map_or_else(TempFile::new, Ok)?;
                spooled.insert(file).write(chunk)
            },
        );
        if let Some(inspected) = arrived.await? {
            return Ok(inspected);
        }
        let zip = spooled.map_or_else(TempFile::new, Ok)?;
        let inspected = jobs::in_thread(move || {
            let mut archive = Archive::open(zip.reader(0), &Limits::default())?;
            Ok(Inspected {
                executable: archive.executable(&type_name).map(drop),
                hashes: archive.hashes()?,
            })
        });
        inspected.await.map_err(unusable)
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
            let read = self.arriving(next, &mut body, read).await?;
            if read.is_none() {
                self.to(write).await?;
            }
            return Ok(read);
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
        let (sender, receiver) = channel(CHUNKS);
        let reader = Reader {
            receiver,
            chunk: Bytes::new(),
            is_verified: false,
        };
        let reading = jobs::in_thread(move || read(reader));
        let passed_on = async {
            // Dropped at the end: the thread would wait for more.
            let (sender, mut next) = (sender, front);
            while let Some(chunk) = next {
                // An empty one would mean the verified end.
                if !chunk.is_empty() && sender.send(chunk).await.is_err() {
                    return Ok(false);
                }
                next = self.next(body).await?;
            }
            // If the thread has ended, its result says why.
            let _ = sender.send(Bytes::new()).await;
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
        B::problem(BlobFailure::of_package(&self.package, source))
    }
}
