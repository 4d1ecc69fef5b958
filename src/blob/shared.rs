//! A blob that several destinations read and that is downloaded once.
//!
//! The reader that is furthest ahead reads from the source and writes into a temporary file. The others read the file. No reader waits for
//! a slower one, and memory does not grow. If a reader is dropped, another one continues the download.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::Mutex;

use super::{BlobInfo, BlobSource, Body, Error, Opened, ReadError};
use crate::disk::temp_file::{Permit, TempFileWriter};

/// A blob for several destinations. Clones share the download.
#[derive(Clone)]
pub struct Shared<B: BlobSource> {
    source: B,
    download: Arc<SharedDownload<B>>,
}

struct SharedDownload<B: BlobSource> {
    /// Created by the first reader.
    file: OnceLock<TempFileWriter>,
    /// The number of bytes in the file.
    written: AtomicU64,
    /// The number of bodies that are being read.
    readers: AtomicUsize,
    /// The source's body, positioned after the bytes in the file.
    body: Mutex<Option<Body<B::Failure>>>,
    /// Held as long as the file exists.
    _permit: Arc<Permit>,
}

impl<B: BlobSource> Shared<B> {
    /// A blob that several destinations read, with a permit for its file.
    pub fn new(source: B, permit: Arc<Permit>) -> Self {
        let download = Arc::new(SharedDownload {
            file: OnceLock::new(),
            written: AtomicU64::new(0),
            readers: AtomicUsize::new(0),
            body: Mutex::default(),
            _permit: permit,
        });
        Self { source, download }
    }
}

impl<B: BlobSource> fmt::Debug for Shared<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({:?})", self.source.info())
    }
}

impl<B: BlobSource> BlobSource for Shared<B> {
    type Failure = B::Failure;

    fn info(&self) -> BlobInfo<'_> {
        self.source.info()
    }

    async fn open(&self, from: u64) -> Opened<B::Failure> {
        let reader = Reader::new(self.source.clone(), Arc::clone(&self.download), from);
        // Open the source now: an error while opening is returned here, whereas an error in the stream would be retried.
        reader.prepare().await?;
        Ok(Body::new(futures_util::stream::unfold(
            Some(reader),
            |reader| async move {
                let mut reader = reader?;
                match reader.next().await {
                    Ok(Some(chunk)) => Some((Ok(chunk), Some(reader))),
                    Ok(None) => None,
                    Err(error) => Some((Err(error), None)),
                }
            },
        )))
    }
}

struct Reader<B: BlobSource> {
    source: B,
    download: Arc<SharedDownload<B>>,
    at: u64,
}

impl<B: BlobSource> Reader<B> {
    fn new(source: B, download: Arc<SharedDownload<B>>, at: u64) -> Self {
        download.readers.fetch_add(1, Ordering::SeqCst);
        Self {
            source,
            download,
            at,
        }
    }

    /// The number of bytes in the file that it has not read.
    fn ahead(&self) -> u64 {
        let written = self.download.written.load(Ordering::Acquire);
        written.saturating_sub(self.at)
    }

    /// Opens the source if the file does not have the next bytes.
    async fn prepare(&self) -> Result<(), ReadError<B::Failure>> {
        if self.ahead() > 0 {
            return Ok(());
        }
        let mut body = self.download.body.lock().await;
        if self.ahead() > 0 {
            return Ok(());
        }
        self.opened(&mut body).await.map(drop)
    }

    /// The source's body from the current position on; `None` at the end.
    async fn opened<'b>(
        &self,
        body: &'b mut Option<Body<B::Failure>>,
    ) -> Result<Option<&'b mut Body<B::Failure>>, ReadError<B::Failure>> {
        if body.is_none() && self.at < self.source.expected().size.max(1) {
            *body = Some(self.source.open(self.at).await?);
        }
        Ok(body.as_mut())
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ReadError<B::Failure>> {
        if self.ahead() > 0 {
            return self.read();
        }
        let download = Arc::clone(&self.download);
        let mut body = download.body.lock().await;
        if self.ahead() > 0 {
            // Another reader has written the bytes meanwhile.
            return self.read();
        }
        let Some(opened) = self.opened(&mut body).await? else {
            return Ok(None);
        };
        match opened.next().await {
            Some(Ok(chunk)) => {
                let file = match download.file.get() {
                    Some(file) => file,
                    None => {
                        let new = TempFileWriter::new()?;
                        download.file.get_or_init(|| new)
                    }
                };
                file.write_at(&chunk, self.at)?;
                self.at += chunk.len() as u64;
                download.written.store(self.at, Ordering::Release);
                Ok(Some(chunk))
            }
            Some(Err(error)) => {
                *body = None;
                Err(error)
            }
            None => {
                let is_whole = opened.is_whole;
                *body = None;
                match self.source.expected().size {
                    // The stream of a reader does not tell that nothing more will come.
                    expected if is_whole && self.at < expected => {
                        let received = self.at;
                        Err(Error::Shorter { expected, received }.into())
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// Reads the next bytes from the file.
    fn read(&mut self) -> Result<Option<Bytes>, ReadError<B::Failure>> {
        let Some(file) = self.download.file.get() else {
            return Ok(None);
        };
        let mut block = file.reader(self.at).next_block()?;
        if let Some(block) = &mut block {
            // Leave out bytes that another reader is still writing.
            block.truncate(usize::try_from(self.ahead()).unwrap_or(usize::MAX));
            self.at += block.len() as u64;
        }
        Ok(block)
    }
}

impl<B: BlobSource> Drop for Reader<B> {
    fn drop(&mut self) {
        let was_last = self.download.readers.fetch_sub(1, Ordering::SeqCst) == 1;
        // Drop the body after the last reader, because it holds a download permit of its host.
        if was_last && let Ok(mut body) = self.download.body.try_lock() {
            *body = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex as StdMutex;

    use futures_util::FutureExt as _;

    use super::super::proven;
    use super::*;
    use crate::archive::zipfile::{executable, zip};
    use crate::disk::temp_file::TempFileBudget;
    use crate::release::Expected;

    /// A remote package that arrives in pieces of fifty bytes and records the offsets at which it was opened.
    #[derive(Clone)]
    struct Remote(Bytes, Arc<StdMutex<Vec<u64>>>);

    impl BlobSource for Remote {
        type Failure = Infallible;

        fn info(&self) -> BlobInfo<'_> {
            BlobInfo {
                may_end_early: true,
                is_unopened: true,
                ..BlobInfo::of(Expected::of(&self.0))
            }
        }

        async fn open(&self, from: u64) -> Opened<Infallible> {
            self.1.lock().unwrap().push(from);
            let rest = self.0.slice(from as usize..);
            let pieces: Vec<_> = rest.chunks(50).map(Bytes::copy_from_slice).collect();
            Ok(Body::new(futures_util::stream::iter(
                pieces.into_iter().map(Ok),
            )))
        }
    }

    fn shared() -> (Bytes, Shared<Remote>, Arc<StdMutex<Vec<u64>>>) {
        let bytes = Bytes::from(zip([executable()]));
        let opened = Arc::default();
        let remote = Remote(bytes.clone(), Arc::clone(&opened));
        let permit = TempFileBudget::new(1).acquire(1).now_or_never().unwrap();
        (bytes, Shared::new(remote, Arc::new(permit)), opened)
    }

    async fn read(body: Body<Infallible>) -> Vec<u8> {
        body.collect(u64::MAX).await.unwrap()
    }

    #[test]
    fn readers_at_different_paces_open_the_source_once() {
        let (bytes, shared, opened) = shared();
        let reading = async {
            let mut first = proven(&shared).await.unwrap();
            let mut second = proven(&shared).await.unwrap();
            let mut seen = [Vec::new(), Vec::new()];
            for turn in 0.. {
                let (body, seen) = match turn % 3 {
                    0 => (&mut second, &mut seen[1]),
                    _ => (&mut first, &mut seen[0]),
                };
                match body.next().await {
                    Some(chunk) => seen.extend_from_slice(&chunk.unwrap()),
                    None => break,
                }
            }
            seen[1].extend(read(second).await);
            let third = read(proven(&shared).await.unwrap()).await;
            assert_eq!([&seen[0][..], &seen[1], &third], [&bytes[..]; 3]);
        };
        reading.now_or_never().expect("never waits");
        assert_eq!(*opened.lock().unwrap(), [0]);
    }

    #[test]
    fn a_reader_goes_on_where_another_gave_up() {
        let (bytes, shared, opened) = shared();
        let reading = async {
            let mut first = shared.open(0).await.unwrap();
            first.next().await.unwrap().unwrap();
            first.next().await.unwrap().unwrap();
            drop(first);
            assert_eq!(read(proven(&shared).await.unwrap()).await, bytes);
        };
        reading.now_or_never().expect("never waits");
        assert_eq!(*opened.lock().unwrap(), [0, 100]);
    }
}
