//! Decompresses the content of an entry, whether its zip is a file or arrives.

use std::io::{self, BufRead, Read as _};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use sha2::{Digest as _, Sha256};

use super::entry::Compression;
use super::error::Error;

/// The size of the buffers, in bytes. Larger ones are not faster.
pub(super) const BUFFER: usize = 64 << 10;

/// A content that is being read, and what is known of the part that was read.
pub(super) struct Content {
    inflate: Option<Decompress>,
    /// The compressed bytes that are left; `None` if only the data tells where it ends.
    left: Option<u64>,
    has_ended: bool,
    /// The number of compressed bytes.
    pub(super) compressed: u64,
    /// The number of bytes.
    pub(super) size: u64,
    pub(super) crc: Crc,
    pub(super) sha256: Sha256,
}

impl Content {
    /// A content of so many compressed bytes; `None` if only the data tells.
    pub(super) fn new(method: Compression, compressed: Option<u64>) -> Self {
        Self {
            inflate: (method == Compression::Deflate).then(|| Decompress::new(false)),
            left: compressed,
            has_ended: false,
            compressed: 0,
            size: 0,
            crc: Crc::new(),
            sha256: Sha256::new(),
        }
    }

    /// Writes the next bytes of the entry with this name to `output`, and returns how many; 0 at the end. `reader` is at the first byte that was not
    /// read yet.
    ///
    /// # Errors
    /// The zip cannot be read, or its data is corrupt or does not end where it should.
    pub(super) fn chunk(
        &mut self,
        name: &str,
        reader: &mut impl BufRead,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        let corrupt = || Error::of_entry(name, "has corrupt compressed data");
        let mut filled = 0;
        while !self.has_ended && filled < output.len() {
            let mut input = lend(reader, self.left)?;
            let space = output.get_mut(filled..).unwrap_or_default();
            let (consumed, produced) = match &mut self.inflate {
                None => {
                    let count = input.read(space)?;
                    self.has_ended = count == 0;
                    (count, count)
                }
                Some(state) => {
                    let (consumed, produced) = (state.total_in(), state.total_out());
                    let status = state.decompress(input, space, FlushDecompress::None);
                    let consumed = (state.total_in() - consumed) as usize;
                    let produced = (state.total_out() - produced) as usize;
                    match status {
                        Ok(Status::StreamEnd) => self.has_ended = true,
                        Ok(_) if consumed > 0 || produced > 0 => {}
                        _ => return Err(corrupt()),
                    }
                    (consumed, produced)
                }
            };
            reader.consume(consumed);
            self.compressed += consumed as u64;
            self.left = self.left.map(|left| left.saturating_sub(consumed as u64));
            filled += produced;
        }
        if self.has_ended && self.left.unwrap_or(0) > 0 {
            return Err(corrupt());
        }
        let chunk = output.get(..filled).unwrap_or_default();
        self.size += filled as u64;
        self.crc.update(chunk);
        self.sha256.update(chunk);
        Ok(filled)
    }
}

/// The bytes that are there, at most `limit`; none only at the end.
pub(super) fn lend<R: BufRead>(reader: &mut R, limit: Option<u64>) -> io::Result<&[u8]> {
    if limit == Some(0) {
        return Ok(&[]);
    }
    // Nothing is read twice: what the first call has read is still there.
    while let Err(error) = reader.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let bytes = reader.fill_buf()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let count = limit.map_or(bytes.len(), |limit| limit.min(bytes.len()));
    Ok(bytes.get(..count).unwrap_or_default())
}
