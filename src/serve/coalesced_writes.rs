//! Joins many small writes into few large ones.
//!
//! Over HTTP/2, hyper writes and flushes each frame separately. A frame of a package is a header of 9 bytes and 16 KiB of the package: TLS would
//! turn it into two records, of 16 KiB and of 9 bytes, and each pair would take a system call. Four frames at a time need as few records and
//! system calls as HTTP/1.1.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The size of the buffer in bytes: as much as TLS accepts in one write.
const MOST: usize = 64 << 10;
/// Up to this size the buffer holds only acknowledgements of the client's frames, and is not allocated as a whole.
const SMALL: usize = 1 << 10;
/// How long the buffer is kept after the last write. A transfer has many short pauses, and would otherwise allocate it again after each.
const PAUSE: Duration = Duration::from_secs(1);

/// A stream that can coalesce its writes.
///
/// The first flush after a write does not write the buffer: the writer either goes on and fills it, or flushes again when it has nothing more.
/// The first flush wakes the writer, so that the second one follows.
pub(super) struct CoalescedWrites<S> {
    stream: S,
    is_coalescing: bool,
    buffer: Vec<u8>,
    /// The number of bytes of the buffer that the stream has taken.
    written: usize,
    /// Whether the buffer grew since the last flush.
    has_grown: bool,
    /// When the buffer was last flushed.
    used: Instant,
}

impl<S> CoalescedWrites<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            is_coalescing: false,
            buffer: Vec::new(),
            written: 0,
            has_grown: false,
            used: Instant::now(),
        }
    }

    /// Coalesces the writes from now on.
    pub(super) fn coalesce(&mut self) {
        self.is_coalescing = true;
    }

    /// Appends as many bytes as the buffer has room for, and returns their number.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let room = MOST.saturating_sub(self.buffer.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        let length = self.buffer.len() + taken.len();
        if length > SMALL && self.buffer.capacity() < length {
            self.buffer.reserve_exact(MOST - self.buffer.len());
        }
        self.buffer.extend_from_slice(taken);
        self.has_grown |= !taken.is_empty();
        taken.len()
    }
}

impl<S: AsyncWrite + Unpin> CoalescedWrites<S> {
    /// Writes the buffer to the stream.
    fn poll_write_buffer(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(rest) = self
            .buffer
            .get(self.written..)
            .filter(|rest| !rest.is_empty())
        {
            let taken = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if taken == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.written += taken;
        }
        self.buffer.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CoalescedWrites<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CoalescedWrites<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        if !self.is_coalescing {
            return Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        }
        if self.buffer.len() >= MOST {
            ready!(self.poll_write_buffer(context))?;
        }
        Poll::Ready(Ok(slices.iter().map(|slice| self.take(slice)).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if std::mem::take(&mut self.has_grown) && self.buffer.len() < MOST {
            context.waker().wake_by_ref();
            return Poll::Ready(Ok(()));
        }
        // hyper also flushes an idle connection each time that it polls it.
        if !self.buffer.is_empty() {
            self.used = Instant::now();
        } else if self.buffer.capacity() > 0 && self.used.elapsed() >= PAUSE {
            self.buffer = Vec::new();
        }
        ready!(self.poll_write_buffer(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_write_buffer(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use super::*;

    /// Records the lengths of writes.
    #[derive(Default)]
    struct Writes(Vec<usize>);

    impl AsyncWrite for Writes {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<Result<usize>> {
            self.0.push(bytes.len());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Writes and flushes this number of frames. Returns the stream, and how often the writer was woken to flush again.
    fn write(frames: usize, is_http2: bool) -> (CoalescedWrites<Writes>, usize) {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut context = Context::from_waker(&waker);
        let mut coalesced = CoalescedWrites::new(Writes::default());
        if is_http2 {
            coalesced.coalesce();
        }
        let frame = [7; 16 << 10];
        for _ in 0..frames {
            let written = Pin::new(&mut coalesced).poll_write(&mut context, &frame);
            assert!(matches!(written, Poll::Ready(Ok(length)) if length == frame.len()));
            assert!(Pin::new(&mut coalesced).poll_flush(&mut context).is_ready());
        }
        (coalesced, wakes.0.load(Ordering::SeqCst))
    }

    #[test]
    fn frames_are_joined_and_the_last_ones_are_written_soon() {
        const FRAME: usize = 16 << 10;
        for (frames, is_http2, written, wakes) in [
            (2, false, vec![FRAME, FRAME], 0),
            (1, true, vec![], 1),
            (4, true, vec![MOST], 3),
            (9, true, vec![MOST, MOST], 7),
        ] {
            let (mut coalesced, woken) = write(frames, is_http2);
            assert_eq!(
                (&coalesced.stream.0, woken),
                (&written, wakes),
                "{frames} {is_http2}"
            );
            let mut context = Context::from_waker(Waker::noop());
            for is_idle in [false, false, true] {
                if is_idle {
                    coalesced.used -= PAUSE;
                }
                assert!(Pin::new(&mut coalesced).poll_flush(&mut context).is_ready());
                assert_eq!(coalesced.stream.0.iter().sum::<usize>(), frames * FRAME);
                assert_eq!(coalesced.buffer.capacity() > 0, is_http2 && !is_idle);
            }
        }
    }
}
