//! Errors of zips.

use std::fmt;
use std::io;

use super::fault::Fault;
use crate::error::{Category, Hint, MANY, listed, printable};
use crate::hash;

/// A provider zip that is refused.
///
/// A file that no program can unpack is [`Category::Malformed`]: it is no zip, truncated or empty. A zip that clients may unpack and tfoci
/// refuses, because it is harmful or two readers could see different packages in it, is [`Category::Untrusted`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    #[error("the zip cannot be read")]
    Read(#[from] io::Error),
    /// The file contains no part of a zip.
    #[error(
        "not a zip archive\n  expected the bytes 50 4b 03 04 at its front\n  received {}",
        begins(.front)
    )]
    NotZip { front: Vec<u8> },
    /// The file begins like a zip, but has no end record.
    #[error("the zip is cut short\n  expected {}\n  received {received} bytes", at_least(*.expected))]
    Truncated {
        expected: Option<u64>,
        received: u64,
    },
    /// The zip has no entries.
    #[error("the zip is empty\n  expected at least one entry\n  received none")]
    Empty,
    /// No entry is the provider's executable ([clients: extraction](crate::clients#extraction)).
    #[error("the zip holds no executable\n  expected a file `{}` at its top level{}", printable(.expected), has(.files))]
    NoExecutable {
        /// The name, which may go on with `_` or `.` and more.
        expected: String,
        /// The files in the zip.
        files: Vec<String>,
    },
    /// The central directory does not consist of the announced number of entries.
    #[error(
        "the zip's central directory cannot be read\n  expected {expected} entries\n  received {received} that can be read"
    )]
    Directory { expected: u64, received: u64 },
    /// Bytes follow the announced entries in the central directory.
    #[error("the zip's central directory has {extra} bytes after its last entry")]
    DirectoryRest { extra: usize },
    /// The extra fields of an entry do not parse.
    #[error("the extra fields of the entry `{}` cannot be read", printable(.name))]
    Extra { name: String },

    #[error("{extra} bytes follow the end of the zip")]
    TrailingData { extra: u64 },
    /// More than one end record. Readers differ in which one they use.
    #[error("the zip has more than one end record")]
    Ends,
    /// The 64-bit end records contradict the ordinary one, or are in the wrong place.
    #[error("the zip's 64-bit end record contradicts its other records\n{0}")]
    End64(End64Fault),
    /// The central directory does not end where the end record begins.
    #[error(
        "the zip's central directory is not where its end record says\n  expected its end at byte {expected}\n  received byte {received}"
    )]
    DirectoryRange { expected: u64, received: u64 },
    /// The zip is split into several files.
    #[error("the zip is one part of several, which is not supported")]
    MultiPart,

    #[error("the zip has too many entries\n  expected at most {limit}\n  received {received}")]
    Entries { limit: u64, received: u64 },
    /// The names of the entries imply too many directories.
    #[error(
        "the zip makes too many files and directories\n  expected at most {limit}\n  received more"
    )]
    Tree { limit: u64 },
    /// Reading the list of entries would take too much memory.
    #[error(
        "the zip's central directory is too large\n  expected at most {limit} bytes\n  received {received}"
    )]
    DirectorySize { limit: u64, received: u64 },
    /// The contents are too large, in total or in proportion to the zip.
    #[error("the zip unpacks to too much\n  expected at most {limit} bytes\n  received {received}")]
    Unpacked { limit: u64, received: u64 },

    /// A name that is unsafe as a file name.
    #[error("the entry `{}` {fault}", printable(.name))]
    Name { name: String, fault: Fault },
    /// A name with more levels of directories than any real one.
    #[error("the entry `{}` is too many directories deep\n  expected at most {limit} levels\n  received {received}", printable(.name))]
    Depth {
        name: String,
        limit: usize,
        received: usize,
    },
    /// Two entries have the same name.
    #[error("the zip holds `{}` twice", printable(.name))]
    Duplicate { name: String },
    /// Two names differ only in case, so case-insensitive file systems treat them as equal.
    #[error("the entries `{}` and `{}` differ in case only", printable(.name), printable(.other))]
    Case { name: String, other: String },
    /// Two names differ only in Unicode normalisation, so some file systems treat them as equal.
    #[error("the entries `{}` and `{}` differ only in how their letters are encoded", printable(.name), printable(.other))]
    Encoding { name: String, other: String },
    /// A file that is also the parent directory of another entry.
    #[error("the entry `{}` is a file, and a directory of `{}`", printable(.name), printable(.other))]
    FileAndDirectory { name: String, other: String },
    /// Clients write its target into a file.
    #[error("the entry `{}` is a symbolic link", printable(.name))]
    Symlink { name: String },
    /// A device, pipe or socket.
    #[error("the entry `{}` is a special file\n  received type {file_type:#o}", printable(.name))]
    Special { name: String, file_type: u32 },
    /// The attributes contradict the name about whether it is a directory, or a directory has content.
    #[error("the entry `{}` is a file and a directory at once\n  received {received}", printable(.name))]
    Kind {
        name: String,
        received: KindContradiction,
    },
    #[error("the entry `{}` is encrypted", printable(.name))]
    Encrypted { name: String },
    /// An entry with compressed patch data.
    #[error("the entry `{}` is a patch, which is not supported", printable(.name))]
    Patch { name: String },
    /// A compression method other than stored and deflate.
    #[error("the entry `{}` has an unsupported compression method\n  expected 0 (stored) or 8 (deflate)\n  received {method}", printable(.name))]
    Method { name: String, method: u16 },
    /// A stored entry whose compressed size differs from its size.
    #[error("the entry `{}` is stored with another size than its own\n  expected {expected} bytes\n  received {received}", printable(.name))]
    StoredSize {
        name: String,
        expected: u64,
        received: u64,
    },
    /// The 64-bit sizes are missing or contradict the others.
    #[error("the 64-bit sizes of the entry `{}` contradict its other sizes\n  expected numbers for {}\n  received {}", printable(.name), numbers(.short), long_field(.long.as_deref()))]
    Entry64 {
        name: String,
        /// The 32-bit sizes, and the position if it is in the central directory. Those of 4,294,967,295 stand in the 64-bit field.
        short: Vec<u32>,
        /// The numbers in the 64-bit field; `None` if the entry has no such field.
        long: Option<Vec<u64>>,
    },

    /// There is no local header at the position in the central directory.
    #[error("the local header of the entry `{}` is not at byte {offset}", printable(.name))]
    NoLocalHeader { name: String, offset: u64 },
    /// The local header or an extra field contains another name.
    #[error("the entry `{}` has a second name\n  received `{}`", printable(.name), printable(.received))]
    SecondName { name: String, received: String },
    /// Readers differ in which of the two they use.
    #[error("the local header of the entry `{}` contradicts the central directory in its {field}\n  expected {expected}\n  received {received}", printable(.name))]
    LocalHeader {
        name: String,
        field: Field,
        expected: u64,
        received: u64,
    },
    #[error("the data descriptor of the entry `{}` contradicts the central directory\n  expected {expected}\n  received {}", printable(.name), .received.map_or_else(|| "the end of the zip".to_owned(), |received| received.to_string()))]
    Descriptor {
        name: String,
        expected: DescriptorNumbers,
        /// What it says with 32-bit sizes; `None` if it is cut short.
        received: Option<DescriptorNumbers>,
    },
    /// Two entries overlap, or an entry overlaps the central directory.
    #[error("the entry `{}` overlaps what follows it", printable(.name))]
    Overlap { name: String },

    /// Bytes that belong to no entry contain an entry's header.
    #[error(
        "the zip hides an entry that its central directory does not list\n  received a local header at byte {offset}"
    )]
    Hidden { offset: u64 },

    /// The data is not a deflate stream, or the stream is shorter or longer than the data.
    #[error("the compressed data of the entry `{}` is corrupt", printable(.name))]
    Corrupt { name: String },
    /// The content is larger than announced. Reading stops as soon as this is detected.
    #[error("the entry `{}` unpacks to more than it announces\n  expected {expected} bytes\n  received more", printable(.name))]
    Longer { name: String, expected: u64 },
    /// The content is smaller than announced.
    #[error("the entry `{}` unpacks to less than it announces\n  expected {expected} bytes\n  received {received}", printable(.name))]
    Shorter {
        name: String,
        expected: u64,
        received: u64,
    },
    /// The content has a different CRC-32.
    #[error("the content of the entry `{}` does not match its CRC-32\n  expected {expected:08x}\n  received {received:08x}", printable(.name))]
    Crc32 {
        name: String,
        expected: u32,
        received: u32,
    },
    /// The hash `h1` is not defined for a name.
    #[error(transparent)]
    Hash(#[from] hash::NameError),
}

/// What of an entry is that of a file, and what that of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KindContradiction {
    /// The attributes are those of a directory.
    #[error("the attributes of a directory, and a name without a slash at its end")]
    FileName,
    /// A directory cannot have this many bytes of content.
    #[error("a name with a slash at its end, and {0} bytes of content")]
    Content(u64),
}

/// What is wrong with the 64-bit end record of a zip, or with the locator that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum End64Fault {
    /// The locator does not lead to the record before it. Readers differ in which one they follow.
    #[error("  expected it at byte {expected}\n  received byte {received}")]
    Place { expected: u64, received: u64 },
    /// The zip consists of another number of files than one.
    #[error("  expected a zip of one file\n  received one of {received} files")]
    Files { received: u32 },
    /// The record is not in the first file of the zip.
    #[error("  expected the record in file 0 of the zip\n  received file {received}")]
    OtherFile { received: u32 },
    /// The record has data that only some readers know.
    #[error("  expected a record of 56 bytes\n  received {received}")]
    Length { received: u64 },
    /// There is no record before the locator.
    #[error("  expected a record of 56 bytes\n  received a locator without one")]
    Missing,
    /// A number differs from that of the ordinary record.
    #[error("  expected {expected} as {field}\n  received {received}")]
    Number {
        field: &'static str,
        expected: u64,
        received: u64,
    },
}

/// The numbers after the data of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DescriptorNumbers {
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
}

impl fmt::Display for DescriptorNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            crc,
            compressed,
            size,
        } = self;
        write!(
            f,
            "{crc:08x} as CRC-32, and the sizes {compressed} and {size}"
        )
    }
}

fn numbers<T: ToString>(numbers: &[T]) -> String {
    let numbers: Vec<_> = numbers.iter().map(T::to_string).collect();
    numbers.join(", ")
}

fn long_field(found: Option<&[u64]>) -> String {
    match found {
        None => "no 64-bit sizes".to_owned(),
        Some([]) => "an empty field".to_owned(),
        Some(found) => numbers(found),
    }
}

/// Describes the first bytes of a file that is not a zip; as text, if they are text.
fn begins(front: &[u8]) -> String {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if front.is_empty() {
        "no bytes".to_owned()
    } else if front.iter().all(is_text) {
        let text = String::from_utf8_lossy(front);
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("`{}`", words.join(" "))
    } else {
        let bytes = front.iter().take(4).map(|byte| format!(" {byte:02x}"));
        format!("the bytes{}", bytes.collect::<String>())
    }
}

/// The files of a zip, if there are any.
fn has(files: &[String]) -> String {
    match files {
        [] => String::new(),
        files => format!(
            "\n  has {}",
            listed(files.iter().map(|file| printable(file)), MANY)
        ),
    }
}

fn at_least(expected: Option<u64>) -> String {
    expected.map_or_else(
        || "a central directory and an end record".to_owned(),
        |expected| format!("at least {expected} bytes"),
    )
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Read(_) => Category::Local,
            Self::NotZip { .. }
            | Self::Truncated { .. }
            | Self::Empty
            | Self::NoExecutable { .. }
            | Self::Directory { .. }
            | Self::DirectoryRest { .. }
            | Self::Extra { .. } => Category::Malformed,
            Self::MultiPart | Self::Encrypted { .. } | Self::Patch { .. } | Self::Method { .. } => {
                Category::Unsupported
            }
            _ => Category::Untrusted,
        }
    }
}

/// A field that both the local header and the central directory contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The general purpose flags that change how the entry is read.
    Flags,
    /// The compression method.
    Method,
    /// The checksum of the content.
    Crc32,
    /// The size of the compressed data.
    CompressedSize,
    /// The size of the content.
    Size,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flags => "flags",
            Self::Method => "compression method",
            Self::Crc32 => "CRC-32",
            Self::CompressedSize => "compressed size",
            Self::Size => "size",
        })
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoExecutable { expected, .. } => Some(format!(
                "put a file `{expected}`, or `{expected}_v1.0.0`, at the top level of the zip"
            )),
            _ => None,
        }
    }
}
