//! A package that is unpacked while it arrives: one task downloads and verifies the zip, and a thread unpacks it.

use std::io::{self, BufRead, Read};

use bytes::{Buf as _, Bytes};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The number of chunks between the task and the thread, apart from those that each of them holds. More are not faster (measured: 1, 2 and
/// 4), and a chunk from the network has up to 408 KiB.
const CHUNKS: usize = 1;

/// A chunk, or the message that all of them together were verified.
enum Message {
    Chunk(Bytes),
    Verified,
}

/// The end that receives chunks from the network.
pub(super) struct Writer(Sender<Message>);

/// The end that a thread reads. It ends only when the zip was verified; it fails if the writer is dropped before.
pub(crate) struct Reader {
    receiver: Receiver<Message>,
    chunk: Bytes,
    is_verified: bool,
}

/// Connects a task to a thread.
pub(super) fn pipe() -> (Writer, Reader) {
    let (sender, receiver) = channel(CHUNKS);
    let reader = Reader {
        receiver,
        chunk: Bytes::new(),
        is_verified: false,
    };
    (Writer(sender), reader)
}

impl Writer {
    /// Passes a chunk on; `false` if the reading thread has ended.
    pub(super) async fn write(&self, chunk: Bytes) -> bool {
        self.0.send(Message::Chunk(chunk)).await.is_ok()
    }

    /// Ends the zip, which was verified.
    pub(super) async fn verified(self) {
        // If the reading thread has ended, its result says why.
        let _ = self.0.send(Message::Verified).await;
    }
}

impl BufRead for Reader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.chunk.is_empty() && !self.is_verified {
            match self.receiver.blocking_recv() {
                Some(Message::Chunk(chunk)) => self.chunk = chunk,
                Some(Message::Verified) => self.is_verified = true,
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
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
