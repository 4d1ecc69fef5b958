//! Verification of a stream: the last chunk passes only if all bytes match the digest.

use bytes::Bytes;

use super::Error;
use crate::archive::Skeleton;
use crate::digest::Hasher;
use crate::release::Expected;

/// Verifies chunks and holds the latest one back.
pub(super) struct HoldBack {
    pub(super) expected: Expected,
    hasher: Hasher,
    /// The number of bytes so far.
    pub(super) passed: u64,
    held: Option<Bytes>,
    frame: Option<Skeleton>,
}

impl HoldBack {
    pub(super) fn new(expected: Expected, frame: Option<Skeleton>) -> Self {
        Self {
            expected,
            hasher: Hasher::new(),
            passed: 0,
            held: None,
            frame,
        }
    }

    /// Takes a chunk, and releases the one before it.
    pub(super) fn push(&mut self, chunk: Bytes) -> Result<Option<Bytes>, Error> {
        if chunk.is_empty() {
            return Ok(None);
        }
        self.hasher.update(&chunk);
        self.passed += chunk.len() as u64;
        if self.passed > self.expected.size {
            return Err(Error::Longer {
                expected: self.expected.size,
            });
        }
        if let Some(frame) = &mut self.frame {
            frame.pass_by(&chunk);
        }
        Ok(self.held.replace(chunk))
    }

    /// Releases the last chunk, if all bytes together are the expected ones.
    pub(super) fn finish(self) -> Result<Option<Bytes>, Error> {
        if self.passed != self.expected.size {
            return Err(Error::Shorter {
                expected: self.expected.size,
                received: self.passed,
            });
        }
        let received = self.hasher.finish();
        if received != self.expected.digest {
            return Err(Error::Digest {
                expected: self.expected.digest,
                received,
            });
        }
        // Only after the digest matched: otherwise the digest error is the better message.
        if let Some(frame) = self.frame {
            frame.check_end()?;
        }
        Ok(self.held)
    }
}

#[cfg(test)]
mod tests;
