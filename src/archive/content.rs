//! Decompresses the content of an entry, and verifies its size and CRC-32.

use std::io::{self, Read, Take};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use sha2::{Digest as _, Sha256};

use super::entry::{Compression, Record};
use super::error::{Error, Flaw};

/// The size of the buffers, in bytes. Larger ones are not faster.
const BUFFER: usize = 64 << 10;

/// An entry's content, in pieces of at most 64 KiB.
///
/// Size and CRC-32 are verified only when [`Content::chunk`] returns `None`. After an error, the caller must not use any earlier chunk.
pub struct Content<'a, R> {
    record: &'a Record,
    source: Source<'a, R>,
    output: Vec<u8>,
    passed: u64,
    crc: Crc,
    sha256: Sha256,
    done: bool,
}

enum Source<'a, R> {
    Stored(Take<&'a mut R>),
    Deflate(Inflater<'a, R>),
}

impl<'a, R: Read> Content<'a, R> {
    /// Reads an entry. `reader` must be positioned at its data.
    pub(super) fn new(reader: &'a mut R, record: &'a Record) -> Self {
        let data = reader.take(record.compressed);
        Self {
            record,
            source: match record.method {
                Compression::Stored => Source::Stored(data),
                Compression::Deflate => Source::Deflate(Inflater::new(data)),
            },
            output: vec![0; BUFFER],
            passed: 0,
            crc: Crc::new(),
            sha256: Sha256::new(),
            done: false,
        }
    }

    /// Returns the next bytes, or `None` at the end, after size and CRC-32 were verified.
    ///
    /// # Errors
    /// The zip cannot be read, its data is corrupt, or the content does not have the size and CRC-32 in the zip. At most one buffer
    /// more than the announced size is decompressed.
    pub fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.done {
            return Ok(None);
        }
        let count = match &mut self.source {
            Source::Stored(data) => fill(data, &mut self.output)?,
            Source::Deflate(inflater) => {
                let inflated = inflater.inflate(&mut self.output)?;
                let says = "has corrupt compressed data";
                inflated.ok_or_else(|| Flaw::of_entry(&self.record.name, says))?
            }
        };
        self.passed += count as u64;
        if count == 0 {
            self.finish()?;
            return Ok(None);
        }
        if self.passed > self.record.size {
            let says = "unpacks to more than it announces";
            return Err(self.flaw(says).received("more").into());
        }
        let chunk = self.output.get(..count).unwrap_or_default();
        self.crc.update(chunk);
        self.sha256.update(chunk);
        Ok(Some(chunk))
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.passed < self.record.size {
            let flaw = self.flaw("unpacks to less than it announces");
            return Err(flaw.received(self.passed).into());
        }
        if self.crc.sum() != self.record.crc {
            let says = "has content that does not match its CRC-32";
            return Err(Flaw::of_entry(&self.record.name, says)
                .expected(format_args!("{:08x}", self.record.crc))
                .received(format_args!("{:08x}", self.crc.sum()))
                .into());
        }
        self.done = true;
        Ok(())
    }

    /// A size other than the announced one.
    fn flaw(&self, says: &'static str) -> Flaw {
        let announced = format_args!("{} bytes", self.record.size);
        Flaw::of_entry(&self.record.name, says).expected(announced)
    }

    /// Reads the rest, and returns the SHA-256 of the whole content.
    pub(super) fn sha256(mut self) -> Result<[u8; 32], Error> {
        while self.chunk()?.is_some() {}
        Ok(self.sha256.finalize().into())
    }
}

struct Inflater<'a, R> {
    data: Take<&'a mut R>,
    state: Decompress,
    input: Vec<u8>,
    /// The range of `input` that is filled and not consumed yet.
    pending: std::ops::Range<usize>,
    ended: bool,
}

impl<'a, R: Read> Inflater<'a, R> {
    fn new(data: Take<&'a mut R>) -> Self {
        Self {
            data,
            state: Decompress::new(false),
            input: vec![0; BUFFER],
            pending: 0..0,
            ended: false,
        }
    }

    /// The number of decompressed bytes, 0 at the end of the stream; `None` if the stream does not end with its data.
    fn inflate(&mut self, output: &mut [u8]) -> io::Result<Option<usize>> {
        while !self.ended {
            if self.pending.is_empty() {
                self.pending = 0..fill(&mut self.data, &mut self.input)?;
            }
            let input = self.input.get(self.pending.clone()).unwrap_or_default();
            let (consumed, produced) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, output, FlushDecompress::None);
            let consumed = (self.state.total_in() - consumed) as usize;
            let produced = (self.state.total_out() - produced) as usize;
            self.pending.start += consumed;
            match status {
                Ok(Status::StreamEnd) => self.ended = true,
                Ok(_) if consumed > 0 || produced > 0 => {}
                _ => return Ok(None),
            }
            if produced > 0 {
                return Ok(Some(produced));
            }
        }
        let all_used = self.pending.is_empty() && self.data.limit() == 0;
        Ok(all_used.then_some(0))
    }
}

/// Reads some bytes; none only at the end.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
