//! Reads a zip from front to back, while it arrives.
//!
//! The last part of a zip, its central directory, decides what the zip contains. [`Stream`] reads the local headers instead and keeps
//! every byte that is not content. In the end [`Archive::open`] checks these bytes as it checks a file, so that the same zips are refused
//! with the same errors. Then the entries of the central directory must be those that were read: names, positions, methods, sizes and
//! CRC-32. Types and modes stand only in the central directory, so before its end nothing that was read may be used.
//!
//! What cannot be read in this way is [`Error::Unsuited`], without a judgement: it must be read from a file.
//!
//! | unsuited | why |
//! | --- | --- |
//! | a stored entry with a data descriptor | nothing says where it ends |
//! | any contradiction, and any limit that is exceeded | [`Archive`] finds it again, and says what is wrong |

use std::io::{self, BufRead, Read};

use super::content::{BUFFER, Content, lend};
use super::entry::{Compression, DESCRIPTOR, ENCRYPTED, PATCH, Record};
use super::extra::Extra;
use super::local::{DescriptorNumbers, FIXED_SIZE, Header, LONGEST_DESCRIPTOR, descriptor};
use super::members::Hashing;
use super::tree::Tree;
use super::{Archive, EntryType, Error, Hashes, Limits, Members, Skeleton, ZipEntry, name};

/// Reads a zip that arrives. Apart from what the whole zip is refused for, its methods fail with [`Error::Unsuited`].
pub struct Stream<R> {
    kept: Kept<R>,
    limits: Limits,
    length: u64,
    /// Bytes that are kept already and not parsed yet.
    ahead: Vec<u8>,
    output: Vec<u8>,
    /// The number of decompressed bytes that may still come.
    left: u64,
    current: Option<Current>,
    read: Vec<ZipEntry>,
    tree: Tree,
    hashing: Hashing,
}

/// The entry that is being read.
struct Current {
    entry: ZipEntry,
    /// The announced size, if it is known.
    announced: Option<u64>,
    content: Content,
}

/// Reads a zip, and passes every byte on to its skeleton.
struct Kept<R> {
    reader: R,
    skeleton: Skeleton,
    /// Whether more bytes came than the skeleton takes.
    is_over: bool,
}

impl<R: BufRead> Stream<R> {
    /// Whether a zip that begins with these bytes may be read while it arrives. It may still turn out to be unsuited.
    pub fn suits(front: &[u8]) -> bool {
        Header::read(front).is_some_and(|header| method(&header).is_some())
    }

    /// Reads a zip of `length` bytes.
    pub fn new(reader: R, length: u64, limits: &Limits) -> Self {
        Self {
            kept: Kept {
                reader,
                skeleton: Skeleton::new(length),
                is_over: false,
            },
            limits: *limits,
            length,
            ahead: Vec::new(),
            output: vec![0; BUFFER],
            left: limits.most_unpacked(length),
            current: None,
            read: Vec::new(),
            tree: Tree::default(),
            hashing: Hashing::default(),
        }
    }

    /// Reads the local header of the next entry; `None` if none follows.
    fn begin(&mut self) -> Result<Option<&Current>, Error> {
        let header = self.position();
        let fixed = self.look(FIXED_SIZE)?;
        let Some(fixed) = Header::read(fixed) else {
            return Ok(None);
        };
        if self.read.len() as u64 >= self.limits.entries {
            return Err(Error::Unsuited);
        }
        self.skip(FIXED_SIZE);
        let variable = fixed.variable();
        let bytes = self.look(variable)?;
        let (name, extra) = bytes
            .split_at_checked(usize::from(fixed.name))
            .filter(|(_, extra)| extra.len() == usize::from(fixed.extra))
            .ok_or(Error::Unsuited)?;
        let name = name::check(name)?.to_owned();
        let sizes = Extra::of_entry(&name, extra)?;
        let [size, compressed] = sizes.widen(&name, [fixed.size, fixed.compressed])?;
        self.skip(variable);
        self.tree.add(&name, self.limits.entries)?;
        let method = method(&fixed).ok_or(Error::Unsuited)?;
        let has_descriptor = fixed.flags & DESCRIPTOR != 0;
        let record = Record {
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
        };
        let data = header + FIXED_SIZE + variable;
        Ok(Some(self.current.insert(Current {
            entry: ZipEntry { record, data },
            announced: (!has_descriptor).then_some(size),
            content: Content::new(method, (!has_descriptor).then_some(compressed)),
        })))
    }

    /// Ends an entry, whose content was read.
    fn complete(&mut self, current: Current) -> Result<(), Error> {
        let Current {
            mut entry,
            announced,
            content,
        } = current;
        if announced.is_some_and(|size| size != content.size) {
            return Err(Error::Unsuited);
        }
        let record = &mut entry.record;
        let numbers = DescriptorNumbers {
            crc: content.crc.sum(),
            compressed: content.compressed,
            size: content.size,
        };
        (record.crc, record.compressed, record.size) =
            (numbers.crc, numbers.compressed, numbers.size);
        if record.flags == DESCRIPTOR {
            let bytes = self.look(LONGEST_DESCRIPTOR)?;
            let length = descriptor(bytes, numbers).ok_or(Error::Unsuited)?;
            self.skip(length);
        }
        self.hashing.add(&entry, content);
        self.read.push(entry);
        Ok(())
    }

    /// The position of the bytes that are parsed next.
    fn position(&self) -> u64 {
        self.kept.skeleton.arrived() - self.ahead.len() as u64
    }

    /// The next bytes that are no content; fewer than `count` only at the end. They stay the next ones.
    fn look(&mut self, count: u64) -> Result<&[u8], Error> {
        while let Some(missing) = count.checked_sub(self.ahead.len() as u64)
            && missing > 0
        {
            let kept = self.kept.keep(Some(missing))?;
            if kept.is_empty() {
                break;
            }
            self.ahead.extend(kept);
        }
        Ok(&self.ahead)
    }

    /// Goes on behind bytes that [`Self::look`] returned.
    fn skip(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.ahead.drain(..count.min(self.ahead.len()));
    }
}

impl<R: BufRead> Members for Stream<R> {
    fn next_entry(&mut self) -> Result<Option<(&str, EntryType)>, Error> {
        while self.chunk()?.is_some() {}
        if let Some(current) = self.current.take() {
            self.complete(current)?;
        }
        let begun = self.begin().map_err(unsuited)?;
        Ok(begun.map(|current| (current.entry.name(), current.entry.kind())))
    }

    fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let content = &mut current.content;
        let read = content.chunk(current.entry.name(), &mut self.kept, &mut self.output);
        let count = read.map_err(unsuited)?;
        self.left = self.left.checked_sub(count as u64).ok_or(Error::Unsuited)?;
        let is_longer = current.announced.is_some_and(|size| content.size > size);
        if is_longer || count > 0 && current.entry.kind() == EntryType::Directory {
            return Err(Error::Unsuited);
        }
        Ok(self.output.get(..count).filter(|chunk| !chunk.is_empty()))
    }

    /// Reads the rest of the zip, and checks that everything before it was read rightly.
    fn finish(mut self) -> Result<(Vec<ZipEntry>, Hashes), Error> {
        while self.next_entry()?.is_some() {}
        while !self.kept.keep(None)?.is_empty() {}
        let Kept {
            skeleton, is_over, ..
        } = self.kept;
        if is_over || skeleton.arrived() != self.length {
            return Err(Error::Unsuited);
        }
        let archive = Archive::open(skeleton, &self.limits).map_err(|error| match error {
            // It needs a byte of a content, so what was read as content was something else.
            Error::Read(_) => Error::Unsuited,
            error => error,
        })?;
        let mut listed = archive.entries.clone();
        listed.sort_unstable_by_key(|entry| entry.record.header);
        for ZipEntry { record, .. } in &mut listed {
            record.mode = None;
            record.flags &= DESCRIPTOR;
        }
        if listed != self.read {
            return Err(Error::Unsuited);
        }
        Ok((archive.entries, self.hashing.finish()?))
    }
}

impl<R: BufRead> Kept<R> {
    /// Reads the next bytes, which are no content; none only at the end.
    fn keep(&mut self, limit: Option<u64>) -> Result<Vec<u8>, Error> {
        let bytes = lend(&mut self.reader, limit).map_err(|_| Error::Unsuited)?;
        self.skeleton.keep(bytes).ok_or(Error::Unsuited)?;
        let kept = bytes.to_vec();
        self.reader.consume(kept.len());
        Ok(kept)
    }
}

impl<R: BufRead> BufRead for Kept<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Some(used) = self
            .reader
            .fill_buf()
            .ok()
            .and_then(|bytes| bytes.get(..count))
        {
            self.is_over |= self.skeleton.pass(used).is_none();
        }
        self.reader.consume(count);
    }
}

impl<R: BufRead> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
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

fn unsuited(_: Error) -> Error {
    Error::Unsuited
}
