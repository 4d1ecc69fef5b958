//! A blob in pieces, for chunked uploads.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream::Fuse;

use super::{BlobSource, Body, ReadError, proven};

/// A blob that the caller reads piece by piece. It is read once and verified as a whole: the last piece is returned only if the digest
/// matches.
pub struct Pieces<F> {
    body: Fuse<Body<F>>,
    /// Bytes that were read with the last piece and belong to the next.
    rest: Bytes,
}

impl<F> Pieces<F> {
    /// Opens a blob.
    ///
    /// # Errors
    /// The blob cannot be opened.
    pub async fn of<B: BlobSource<Failure = F>>(blob: &B) -> Result<Self, ReadError<F>> {
        Ok(Self {
            body: proven(blob).await?.fuse(),
            rest: Bytes::new(),
        })
    }

    /// Adds the next bytes to `start`, until it has `length` bytes or the blob ends.
    ///
    /// # Errors
    /// The blob cannot be read, or does not match its digest. After an error, nothing more can be read.
    pub async fn fill(&mut self, start: Bytes, length: usize) -> Result<Bytes, ReadError<F>> {
        if start.len() >= length {
            return Ok(start);
        }
        let mut piece = BytesMut::from(start);
        loop {
            let wanted = length - piece.len();
            piece.extend_from_slice(&self.rest.split_to(wanted.min(self.rest.len())));
            if piece.len() == length {
                return Ok(piece.freeze());
            }
            match self.body.next().await {
                Some(chunk) => self.rest = chunk?,
                None => return Ok(piece.freeze()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::super::Memory;
    use super::*;

    fn read(bytes: &'static str, lengths: &[usize]) -> Vec<Bytes> {
        let pieces = async {
            let mut pieces = Pieces::of(&Memory::new(bytes)).await.unwrap();
            let mut all = Vec::new();
            for length in lengths {
                all.push(pieces.fill(Bytes::new(), *length).await.unwrap());
            }
            all
        };
        pieces.now_or_never().expect("never waits")
    }

    #[test]
    fn pieces_are_as_long_as_asked_and_the_last_one_is_what_is_left() {
        assert_eq!(read("abcdefg", &[3, 3, 3, 3]), ["abc", "def", "g", ""]);
        assert_eq!(read("abcdef", &[3, 3, 3]), ["abc", "def", ""]);
        assert_eq!(read("", &[3]), [""]);
    }

    #[test]
    fn what_is_held_is_filled_up() {
        let filled = async {
            let mut pieces = Pieces::of(&Memory::new("cdef")).await.unwrap();
            let first = pieces.fill("ab".into(), 4).await.unwrap();
            let second = pieces.fill(first.slice(1..), 3).await.unwrap();
            let third = pieces.fill(second.slice(2..), 4).await.unwrap();
            [first, second, third]
        };
        let filled = filled.now_or_never().expect("never waits");
        assert_eq!(filled, ["abcd", "bcd", "def"]);
    }
}
