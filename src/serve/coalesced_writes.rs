//! Few large writes instead of many small ones.
//!
//! Over HTTP/2, the library writes and flushes each frame by itself. A frame of a package has 9 bytes of header and 16 KiB of the package:
//! TLS would make two records of them, of 16 KiB and of 9 bytes, and the system would send each pair by itself. Four frames at a time make
//! as few records and calls of the system as HTTP/1.1.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The bytes that are coalesced: as many as TLS takes at once.
const MOST: usize = 64 << 10;
/// So many bytes are answers to frames of the client, which need no room for more.
const FEW: usize = 1 << 10;
/// How long nothing is written before the memory is freed. A transfer has many short pauses, after each of which it would be allocated again.
const PAUSE: Duration = Duration::from_secs(1);

/// A stream that gathers what is written, once it was told to.
///
/// A flush that follows a write waits for the next one: either the writer goes on and fills the buffer, or it flushes again at the end of
/// what it has. If it does not, it is woken for that.
pub(super) struct CoalescedWrites<S> {
    stream: S,
    is_coalescing: bool,
    /// What was written, and not yet passed on.
    bytes: Vec<u8>,
    /// So many of these bytes were passed on.
    passed: usize,
    /// Whether something was written since the last flush.
    is_new: bool,
    /// When something was last passed on.
    used: Instant,
}

impl<S> CoalescedWrites<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            is_coalescing: false,
            bytes: Vec::new(),
            passed: 0,
            is_new: false,
            used: Instant::now(),
        }
    }

    /// Gathers what is written from now on.
    pub(super) fn coalesce(&mut self) {
        self.is_coalescing = true;
    }

    /// Takes as many bytes as there is room for.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let room = MOST.saturating_sub(self.bytes.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        let length = self.bytes.len() + taken.len();
        if length > FEW && self.bytes.capacity() < length {
            self.bytes.reserve_exact(MOST - self.bytes.len());
        }
        self.bytes.extend_from_slice(taken);
        self.is_new |= !taken.is_empty();
        taken.len()
    }
}

impl<S: AsyncWrite + Unpin> CoalescedWrites<S> {
    /// Passes on what was coalesced.
    fn poll_pass(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(rest) = self
            .bytes
            .get(self.passed..)
            .filter(|rest| !rest.is_empty())
        {
            let passed = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if passed == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.passed += passed;
        }
        self.bytes.clear();
        self.passed = 0;
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
        if self.bytes.len() >= MOST {
            ready!(self.poll_pass(context))?;
        }
        Poll::Ready(Ok(slices.iter().map(|slice| self.take(slice)).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if std::mem::take(&mut self.is_new) && self.bytes.len() < MOST {
            context.waker().wake_by_ref();
            return Poll::Ready(Ok(()));
        }
        // An idle connection is flushed too, whenever it is looked at.
        if !self.bytes.is_empty() {
            self.used = Instant::now();
        } else if self.bytes.capacity() > 0 && self.used.elapsed() >= PAUSE {
            self.bytes = Vec::new();
        }
        ready!(self.poll_pass(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_pass(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use super::*;

    /// Keeps the lengths of what is written.
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

    /// What is written of so many frames, each of which is flushed, and how often the writer is woken to flush again.
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
    fn frames_are_written_together_and_the_last_ones_soon() {
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
                assert_eq!(coalesced.bytes.capacity() > 0, is_http2 && !is_idle);
            }
        }
    }
}
