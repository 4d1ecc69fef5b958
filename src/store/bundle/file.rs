//! Writes the files of a bundle: `FILE.part` with fixed offsets, renamed at the end.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;

use super::{Contents, LARGEST_LIST, tar};
use crate::blob::{BlobSource, proven};
use crate::digest::Digest;
use crate::disk::{self, Blocks, temp_file};
use crate::event::Transfer;
use crate::oci::tags::{self, MOST_TAGS};
use crate::oci::{self, INDEX};
use crate::release::Expected;
use crate::store::{Error, PutError};

/// The number of parts that are looked for: six terabytes on compact discs.
const MOST_PARTS: usize = 10_000;

/// The first members of a file.
#[derive(Debug)]
pub struct Lists(Vec<u8>);

/// A blob, and where its member begins.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its digest and size.
    pub expected: Expected,
    at: u64,
}

/// A file that is being written.
#[derive(Debug)]
pub struct Writing {
    /// `FILE.part`, which is locked against other writers, or the standard output.
    file: File,
    part: PathBuf,
    /// The final name; `None` for the standard output, which gets the members in their order.
    path: Option<PathBuf>,
    /// The bytes that an interrupted run left.
    left: u64,
    size: u64,
}

impl Lists {
    /// The lists of these tags, from [`index_entry`](super::index_entry), and of this content; `None` if they are longer than readers accept.
    ///
    /// # Errors
    /// None for plain structures.
    pub fn new<'e>(
        entries: impl Iterator<Item = &'e str>,
        contents: &Contents,
    ) -> Result<Option<Self>, oci::Error> {
        let entries: Vec<&str> = entries.collect();
        let (count, entries) = (entries.len(), entries.join(","));
        let index =
            format!(r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{entries}]}}"#);
        let mut head = tar::member(tar::INDEX, index.as_bytes());
        let mut longest = index.len();
        drop((index, entries));
        let contents = serde_json::to_vec(contents)?;
        longest = longest.max(contents.len());
        head.extend(tar::member(tar::CONTENTS, &contents));
        head.extend(tar::member(tar::MARKER, tags::LAYOUT));
        let is_read = longest as u64 <= LARGEST_LIST && count <= MOST_TAGS;
        Ok(is_read.then_some(Self(head)))
    }

    /// Where these blobs are behind the lists, and the size of the file.
    pub fn members(&self, blobs: impl Iterator<Item = Expected>) -> (Vec<Member>, u64) {
        let mut at = self.0.len() as u64;
        let mut members = Vec::new();
        for expected in blobs {
            members.push(Member { expected, at });
            at += tar::length(expected.size);
        }
        (members, at + tar::END)
    }
}

impl Member {
    /// The bytes that a member of this size takes.
    pub fn length(size: u64) -> u64 {
        tar::length(size)
    }
}

impl Writing {
    /// Opens `FILE.part`, which an interrupted run may have left, and writes the first members.
    ///
    /// # Errors
    /// The file cannot be written, or another run writes it.
    pub fn begin(path: Option<&Path>, lists: &Lists, size: u64) -> Result<Self, Error> {
        let part = path.map_or_else(|| "stdout".into(), |path| beside(path, ".part"));
        let opened = match path {
            None => stdout().map(|file| (file, 0)),
            Some(_) => open(&part, size),
        };
        let (file, left) = opened.map_err(|source| disk::Error::at("write", &part, source))?;
        let path = path.map(Path::to_owned);
        let writing = Self {
            file,
            part,
            path,
            left,
            size,
        };
        writing.put(&lists.0, 0)?;
        Ok(writing)
    }

    /// Whether members have to come in their order.
    pub fn is_pipe(&self) -> bool {
        self.path.is_none()
    }

    /// Writes a member, unless an interrupted run has written it. In a file, its header comes last.
    ///
    /// # Errors
    /// The file cannot be written, or the source fails or gives wrong bytes.
    pub async fn place<B: BlobSource>(
        &self,
        member: Member,
        blob: &B,
    ) -> Result<Transfer, PutError<B::Failure>> {
        let Member { expected, at } = member;
        let Expected { digest, size } = expected;
        let header = tar::header(&tar::blob_name(&digest), size);
        let filler = tar::length(size) - tar::BLOCK - size;
        let filler = vec![0; usize::try_from(filler).unwrap_or_default()];
        let mut end = at + tar::BLOCK;
        if self.has(member, &header).await? {
            self.put(&filler, end + size)?;
            return Ok(Transfer::Present);
        }
        if self.is_pipe() {
            self.put(&header, at)?;
        }
        let mut body = proven(blob).await.map_err(PutError::Source)?;
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(PutError::Source)?;
            self.put(&chunk, end)?;
            end += chunk.len() as u64;
        }
        self.put(&filler, end)?;
        if !self.is_pipe() {
            self.put(&header, at)?;
        }
        Ok(Transfer::Copied)
    }

    /// Whether an interrupted run has written a member.
    async fn has(&self, member: Member, header: &[u8]) -> Result<bool, Error> {
        let Member { expected, at } = member;
        let Expected { digest, size } = expected;
        let mut found = vec![0; header.len()];
        if at + tar::length(size) > self.left
            || temp_file::read_exact_at(&self.file, &mut found, at).is_err()
            || found != header
        {
            return Ok(false);
        }
        let blocks = Blocks::open_unlinked(&self.part, at + tar::BLOCK)?.up_to(size);
        Ok(blocks.digest_in_task().await? == digest)
    }

    /// Ends the file. Returns its digest; `None` for the standard output.
    ///
    /// # Errors
    /// The file cannot be written or read.
    pub async fn finish(&self) -> Result<Option<Digest>, Error> {
        self.put(&[0; tar::END as usize], self.size - tar::END)?;
        if self.is_pipe() {
            return Ok(None);
        }
        let synced = self.file.sync_data();
        synced.map_err(|source| disk::Error::at("sync", &self.part, source))?;
        let blocks = Blocks::open_unlinked(&self.part, 0)?;
        Ok(Some(blocks.digest_in_task().await?))
    }

    /// Renames the file, and writes `FILE.sha256`. All parts of a set are complete by then, so that an interrupted run shows none of them.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn show(&self, digest: &Digest) -> Result<(), Error> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let line = format!("{}  {name}\n", digest.hex());
        disk::staged::replace(&beside(path, ".sha256"), line.as_bytes())?;
        let renamed = std::fs::rename(&self.part, path);
        renamed.map_err(|source| disk::Error::at("create", path, source))?;
        Ok(disk::sync_directory(disk::directory_of(path))?)
    }

    fn put(&self, bytes: &[u8], at: u64) -> Result<(), Error> {
        let written = match self.path {
            Some(_) => temp_file::write_at(&self.file, bytes, at),
            None => (&self.file).write_all(bytes),
        };
        Ok(written.map_err(|source| disk::Error::at("write", &self.part, source))?)
    }
}

/// The standard output without a buffer.
fn stdout() -> std::io::Result<File> {
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&std::io::stdout()).try_clone_to_owned();
    handle.map(File::from)
}

/// Opens a file of this size, and returns the bytes that it had.
fn open(part: &Path, size: u64) -> std::io::Result<(File, u64)> {
    let file = disk::staged::open_own(part)?;
    file.try_lock()?;
    let left = file.metadata()?.len();
    file.set_len(size)?;
    Ok((file, left))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// `FILE.001` for the first part.
pub fn part_path(path: &Path, number: usize) -> PathBuf {
    beside(path, &format!(".{number:03}"))
}

/// The parts of a file that are there, in their order.
pub fn parts_beside(path: &Path) -> Vec<PathBuf> {
    let parts = (1..MOST_PARTS).map(|number| part_path(path, number));
    parts.filter(|part| part.is_file()).collect()
}
