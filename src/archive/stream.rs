//! Reads a zip from front to back, while it arrives.
//!
//! The last part of a zip, its central directory, decides what the zip contains. [`Stream`] reads the local headers instead and keeps
//! every byte that is not content. In the end [`Archive::open`] checks these bytes as it checks a file, so that the same zips are refused
//! with the same errors. Then the entries of the central directory must be those that were read: names, positions, methods, sizes and
//! CRC-32. Types and modes stand only in the central directory, so before its end nothing that was read may be used.
//!
//! What cannot be read in this way is [`Stop::Unsuited`], without a judgement: it must be read from a file.
//!
//! | unsuited | why |
//! | --- | --- |
//! | a stored entry with a data descriptor | nothing says where it ends |
//! | bytes between entries, or before the first | only the central directory says that they are no entry |
//! | any contradiction, and any limit that is exceeded | [`Archive`] finds it again, and says what is wrong |

use std::io::BufRead;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use sha2::{Digest as _, Sha256};

use super::entry::{Compression, DESCRIPTOR, ENCRYPTED, PATCH, Record};
use super::extra::Extra;
use super::local::{DescriptorNumbers, FIXED_SIZE, Header, LONGEST_DESCRIPTOR, descriptor};
use super::tree::Tree;
use super::{Archive, EntryType, Error, Hashes, Limits, Skeleton, ZipEntry, name};
use crate::hash::Contents;

/// The size of the buffer for decompressed bytes. Larger ones are not faster.
const BUFFER: usize = 64 << 10;

/// Why a zip is not read while it arrives.
#[derive(Debug)]
pub enum Stop {
    /// It has to be read from a file, which also tells whether anything is wrong with it.
    Unsuited,
    /// The file would be refused, too.
    Refused(Error),
}

/// A zip that was read and accepted.
#[derive(Debug)]
pub struct Arrived {
    /// Its entries.
    pub archive: Archive<Skeleton>,
    /// The hashes of the contents that were read.
    pub hashes: Hashes,
}

/// Reads a zip that arrives.
pub struct Stream<R> {
    reader: R,
    limits: Limits,
    length: u64,
    skeleton: Skeleton,
    /// Bytes that are kept already and not parsed yet.
    ahead: Vec<u8>,
    /// The number of bytes that the reader has lent and not taken back.
    lent: usize,
    output: Vec<u8>,
    /// The number of decompressed bytes that may still come.
    left: u64,
    current: Option<Current>,
    read: Vec<ZipEntry>,
    tree: Tree,
    zip: Contents,
    directory: Contents,
}

/// The entry that is being read.
struct Current {
    entry: ZipEntry,
    compressed: Compressed,
    /// The announced size, if it is known.
    announced: Option<u64>,
    inflate: Option<Decompress>,
    has_ended: bool,
    crc: Crc,
    sha256: Sha256,
}

/// The compressed bytes of an entry.
struct Compressed {
    passed: u64,
    /// How many are left; `None` if only the data tells.
    left: Option<u64>,
}

impl<R: BufRead> Stream<R> {
    /// Whether a zip that begins with these bytes may be read while it arrives. It may still turn out to be unsuited.
    pub fn suits(front: &[u8]) -> bool {
        Header::read(front).is_some_and(|header| method(&header).is_some())
    }

    /// Reads a zip of `length` bytes.
    pub fn new(reader: R, length: u64, limits: &Limits) -> Self {
        Self {
            reader,
            limits: *limits,
            length,
            skeleton: Skeleton::new(length),
            ahead: Vec::new(),
            lent: 0,
            output: vec![0; BUFFER],
            left: limits.most_unpacked(length),
            current: None,
            read: Vec::new(),
            tree: Tree::default(),
            zip: Contents::new(),
            directory: Contents::new(),
        }
    }

    /// The name and type of the next entry, or `None` after the last one. What is left of the entry before is read first. The name is
    /// safe as a file name, but may be that of an earlier entry.
    ///
    /// # Errors
    /// [`Stop::Unsuited`].
    pub fn next_entry(&mut self) -> Result<Option<(&str, EntryType)>, Stop> {
        while self.chunk()?.is_some() {}
        if let Some(current) = self.current.take() {
            self.complete(current)?;
        }
        let header = self.position();
        let fixed = self.look(FIXED_SIZE)?;
        let Some(fixed) = Header::read(fixed) else {
            return Ok(None);
        };
        if self.read.len() as u64 >= self.limits.entries {
            return Err(Stop::Unsuited);
        }
        self.skip(FIXED_SIZE);
        let variable = fixed.variable();
        let bytes = self.look(variable)?;
        let (name, extra) = bytes
            .split_at_checked(usize::from(fixed.name))
            .filter(|(_, extra)| extra.len() == usize::from(fixed.extra))
            .ok_or(Stop::Unsuited)?;
        let name = name::check(name).map_err(unsuited)?.to_owned();
        let sizes = Extra::of_entry(&name, extra).map_err(unsuited)?;
        let sizes = sizes.widen(&name, [fixed.size, fixed.compressed]);
        let [size, compressed] = sizes.map_err(unsuited)?;
        self.skip(variable);
        let added = self.tree.add(&name, self.limits.entries);
        added.map_err(unsuited)?;
        let method = method(&fixed).ok_or(Stop::Unsuited)?;
        let has_descriptor = fixed.flags & DESCRIPTOR != 0;
        let inflate = || Decompress::new(false);
        let current = self.current.insert(Current {
            entry: ZipEntry {
                record: Record {
                    kind: match name.ends_with('/') {
                        true => EntryType::Directory,
                        false => EntryType::File,
                    },
                    name,
                    mode: None,
                    method,
                    flags: fixed.flags & DESCRIPTOR,
                    crc: 0,
                    compressed: 0,
                    size: 0,
                    header,
                },
                data: header + FIXED_SIZE + variable,
            },
            compressed: Compressed {
                passed: 0,
                left: (!has_descriptor).then_some(compressed),
            },
            announced: (!has_descriptor).then_some(size),
            inflate: (method == Compression::Deflate).then(inflate),
            has_ended: false,
            crc: Crc::new(),
            sha256: Sha256::new(),
        });
        Ok(Some((current.entry.name(), current.entry.kind())))
    }

    /// The next bytes of the entry's content, or `None` at its end.
    ///
    /// # Errors
    /// [`Stop::Unsuited`].
    pub fn chunk(&mut self) -> Result<Option<&[u8]>, Stop> {
        self.take_back();
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let chunk = match &mut current.inflate {
            None => {
                let input = lend(&mut self.reader, current.compressed.left)?;
                self.skeleton.pass(input).ok_or(Stop::Unsuited)?;
                self.lent = input.len();
                current.compressed.pass(input.len());
                input
            }
            Some(state) => {
                let mut filled = 0;
                while !current.has_ended && filled < self.output.len() {
                    let input = lend(&mut self.reader, current.compressed.left)?;
                    let output = self.output.get_mut(filled..).unwrap_or_default();
                    let (consumed, produced) = (state.total_in(), state.total_out());
                    let status = state.decompress(input, output, FlushDecompress::None);
                    let consumed = (state.total_in() - consumed) as usize;
                    let produced = (state.total_out() - produced) as usize;
                    let used = input.get(..consumed).unwrap_or_default();
                    self.skeleton.pass(used).ok_or(Stop::Unsuited)?;
                    self.reader.consume(consumed);
                    current.compressed.pass(consumed);
                    filled += produced;
                    match status {
                        Ok(Status::StreamEnd) => current.has_ended = true,
                        Ok(_) if consumed > 0 || produced > 0 => {}
                        _ => return Err(Stop::Unsuited),
                    }
                }
                self.output.get(..filled).unwrap_or_default()
            }
        };
        if chunk.is_empty() {
            return Ok(None);
        }
        let count = chunk.len() as u64;
        current.entry.record.size += count;
        self.left = self.left.checked_sub(count).ok_or(Stop::Unsuited)?;
        let is_longer = current
            .announced
            .is_some_and(|announced| current.entry.record.size > announced);
        if is_longer || current.entry.kind() == EntryType::Directory {
            return Err(Stop::Unsuited);
        }
        current.crc.update(chunk);
        current.sha256.update(chunk);
        Ok(Some(chunk))
    }

    /// Reads the rest of the zip, and checks that everything before it was read rightly.
    ///
    /// # Errors
    /// The zip is refused, or unsuited.
    pub fn finish(mut self) -> Result<Arrived, Stop> {
        while self.next_entry()?.is_some() {}
        loop {
            let rest = lend(&mut self.reader, None)?;
            if rest.is_empty() {
                break;
            }
            self.skeleton.keep(rest).ok_or(Stop::Unsuited)?;
            let count = rest.len();
            self.reader.consume(count);
        }
        if self.skeleton.arrived() != self.length {
            return Err(Stop::Unsuited);
        }
        let archive = Archive::open(self.skeleton, &self.limits).map_err(|error| match error {
            // It needs a byte of a content, so what was read as content was something else.
            Error::Read(_) => Stop::Unsuited,
            error => Stop::Refused(error),
        })?;
        let mut listed = archive.entries().to_vec();
        listed.sort_unstable_by_key(|entry| entry.record.header);
        for ZipEntry { record, .. } in &mut listed {
            record.mode = None;
            record.flags &= DESCRIPTOR;
        }
        if listed != self.read {
            return Err(Stop::Unsuited);
        }
        let h1 = |contents: Contents| contents.h1().map_err(|error| Stop::Refused(error.into()));
        Ok(Arrived {
            archive,
            hashes: Hashes {
                zip: h1(self.zip)?,
                directory: h1(self.directory)?,
            },
        })
    }

    /// Ends an entry, whose content was read.
    fn complete(&mut self, mut current: Current) -> Result<(), Stop> {
        let is_whole = current.compressed.left.unwrap_or(0) == 0
            && current
                .announced
                .is_none_or(|size| size == current.entry.record.size);
        if !is_whole {
            return Err(Stop::Unsuited);
        }
        current.entry.record.crc = current.crc.sum();
        current.entry.record.compressed = current.compressed.passed;
        let numbers = DescriptorNumbers {
            crc: current.entry.record.crc,
            compressed: current.entry.record.compressed,
            size: current.entry.record.size,
        };
        if current.entry.record.flags == DESCRIPTOR {
            let bytes = self.look(LONGEST_DESCRIPTOR)?;
            let length = descriptor(bytes, numbers).ok_or(Stop::Unsuited)?;
            self.skip(length);
        }
        let sha256 = current.sha256.finalize().into();
        self.zip.add(current.entry.name().as_bytes(), sha256);
        if current.entry.kind() == EntryType::File {
            self.directory.add(current.entry.name().as_bytes(), sha256);
        }
        self.read.push(current.entry);
        Ok(())
    }

    /// The position of the bytes that are parsed next.
    fn position(&self) -> u64 {
        self.skeleton.arrived() - self.ahead.len() as u64
    }

    /// The next bytes that are no content; fewer than `count` only at the end. They stay the next ones.
    fn look(&mut self, count: u64) -> Result<&[u8], Stop> {
        self.take_back();
        while let Some(missing) = count.checked_sub(self.ahead.len() as u64)
            && missing > 0
        {
            let bytes = lend(&mut self.reader, Some(missing))?;
            if bytes.is_empty() {
                break;
            }
            self.skeleton.keep(bytes).ok_or(Stop::Unsuited)?;
            self.ahead.extend_from_slice(bytes);
            let count = bytes.len();
            self.reader.consume(count);
        }
        Ok(&self.ahead)
    }

    /// Goes on behind bytes that [`Self::look`] returned.
    fn skip(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.ahead.drain(..count.min(self.ahead.len()));
    }

    fn take_back(&mut self) {
        self.reader.consume(std::mem::take(&mut self.lent));
    }
}

impl Compressed {
    fn pass(&mut self, count: usize) {
        self.passed += count as u64;
        self.left = self.left.map(|left| left.saturating_sub(count as u64));
    }
}

/// The method of an entry that can be read before its central directory; `None` for others.
fn method(header: &Header) -> Option<Compression> {
    let has_descriptor = header.flags & DESCRIPTOR != 0;
    match header.method {
        _ if header.flags & (ENCRYPTED | PATCH) != 0 => None,
        0 if !has_descriptor && header.compressed == header.size => Some(Compression::Stored),
        8 => Some(Compression::Deflate),
        _ => None,
    }
}

/// The bytes that have arrived, at most `limit`; none only at the end.
fn lend<R: BufRead>(reader: &mut R, limit: Option<u64>) -> Result<&[u8], Stop> {
    if limit == Some(0) {
        return Ok(&[]);
    }
    let bytes = reader.fill_buf().map_err(unsuited)?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let count = limit.map_or(bytes.len(), |limit| limit.min(bytes.len()));
    Ok(bytes.get(..count).unwrap_or_default())
}

fn unsuited<E>(_: E) -> Stop {
    Stop::Unsuited
}
