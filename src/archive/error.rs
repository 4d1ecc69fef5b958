//! Why a zip is refused.

use std::fmt;
use std::io;

use super::fault::Fault;
use crate::error::{Category, printable};
use crate::hash;

/// A provider zip that is not accepted, and the entry at fault.
///
/// A file that no program can unpack is [`Category::Malformed`]: no zip, cut short, empty. A zip that clients may unpack and tfoci
/// refuses, because it does harm or because two readers could see two different packages in it, is [`Category::Untrusted`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The bytes cannot be read.
    #[error("the zip cannot be read")]
    Read(#[from] io::Error),
    /// Nothing in it looks like a zip.
    #[error(
        "not a zip archive\n  expected the bytes 50 4b 03 04 at its front\n  received {}",
        begins(.front)
    )]
    NotZip { front: Vec<u8> },
    /// It begins like a zip and its end is missing.
    #[error("the zip is cut short\n  expected {}\n  received {received} bytes", at_least(*.expected))]
    Truncated {
        expected: Option<u64>,
        received: u64,
    },
    /// It has no entry.
    #[error("the zip is empty\n  expected at least one entry\n  received none")]
    Empty,
    /// No entry can be the provider's executable ([clients: extraction](crate::clients#extraction)).
    #[error("the zip holds no executable\n  expected a file `{}` at its top level", printable(.expected))]
    NoExecutable { expected: String },
    /// The central directory is not a list of that many entries.
    #[error("the zip's central directory cannot be read\n  expected {expected} entries")]
    Directory { expected: u64 },
    /// An entry's extra fields are not a list of fields.
    #[error("the extra fields of the entry `{}` cannot be read", printable(.name))]
    Extra { name: String },

    /// Bytes follow the end of the zip.
    #[error("{extra} bytes follow the end of the zip")]
    TrailingData { extra: u64 },
    /// More than one end record: readers disagree on which one counts.
    #[error("the zip has more than one end record")]
    Ends,
    /// The 64-bit end records contradict the ordinary one, or are not where they must be.
    #[error("the zip's 64-bit end record contradicts its other records")]
    End64,
    /// The central directory does not end where the end record begins.
    #[error(
        "the zip's central directory is not where its end record says\n  expected its end at byte {expected}\n  received byte {received}"
    )]
    DirectoryRange { expected: u64, received: u64 },
    /// The zip is spread over several files.
    #[error("the zip is one part of several, which is not supported")]
    MultiPart,

    /// Too many entries.
    #[error("the zip has too many entries\n  expected at most {limit}\n  received {received}")]
    Entries { limit: u64, received: u64 },
    /// The central directory is too large.
    #[error(
        "the zip's central directory is too large\n  expected at most {limit} bytes\n  received {received}"
    )]
    DirectorySize { limit: u64, received: u64 },
    /// The contents are too large, in total or as a multiple of the zip's size.
    #[error("the zip unpacks to too much\n  expected at most {limit} bytes\n  received {received}")]
    Unpacked { limit: u64, received: u64 },

    /// A name that must not reach a disk.
    #[error("the entry `{}` {fault}", printable(.name))]
    Name { name: String, fault: Fault },
    /// Two entries have one name.
    #[error("the zip holds `{}` twice", printable(.name))]
    Duplicate { name: String },
    /// Two names are one where file systems ignore case.
    #[error("the entries `{}` and `{}` differ in case only", printable(.name), printable(.other))]
    Case { name: String, other: String },
    /// Two names are one where file systems ignore how accents are encoded.
    #[error("the entries `{}` and `{}` differ only in how their letters are encoded", printable(.name), printable(.other))]
    Encoding { name: String, other: String },
    /// A file that is also the directory of another entry.
    #[error("the entry `{}` is a file, and a directory of `{}`", printable(.name), printable(.other))]
    FileAndDirectory { name: String, other: String },
    /// A symbolic link.
    #[error("the entry `{}` is a symbolic link", printable(.name))]
    Symlink { name: String },
    /// A device, pipe or socket.
    #[error("the entry `{}` is a special file\n  received type {file_type:#o}", printable(.name))]
    Special { name: String, file_type: u32 },
    /// A directory by its attributes and a file by its name, or a directory with content.
    #[error("the entry `{}` is a file and a directory at once", printable(.name))]
    Kind { name: String },
    /// Encryption.
    #[error("the entry `{}` is encrypted", printable(.name))]
    Encrypted { name: String },
    /// Compressed patch data.
    #[error("the entry `{}` is a patch, which is not supported", printable(.name))]
    Patch { name: String },
    /// A compression method other than stored and deflate.
    #[error("the entry `{}` has an unsupported compression method\n  expected 0 (stored) or 8 (deflate)\n  received {method}", printable(.name))]
    Method { name: String, method: u16 },
    /// Stored as it is, with a size in the zip that is not its size.
    #[error("the entry `{}` is stored with another size than its own\n  expected {expected} bytes\n  received {received}", printable(.name))]
    StoredSize {
        name: String,
        expected: u64,
        received: u64,
    },
    /// 64-bit numbers that are missing or contradict the others.
    #[error("the 64-bit sizes of the entry `{}` contradict its other sizes", printable(.name))]
    Entry64 { name: String },

    /// The entry's local header is not where the central directory says.
    #[error("the local header of the entry `{}` is not at byte {offset}", printable(.name))]
    NoLocalHeader { name: String, offset: u64 },
    /// The local header, or a field that replaces the name, gives another name.
    #[error("the entry `{}` has a second name\n  received `{}`", printable(.name), printable(.received))]
    SecondName { name: String, received: String },
    /// The local header says something else than the central directory.
    #[error("the local header of the entry `{}` contradicts the central directory in its {field}\n  expected {expected}\n  received {received}", printable(.name))]
    LocalHeader {
        name: String,
        field: Field,
        expected: u64,
        received: u64,
    },
    /// The record behind the data contradicts the central directory.
    #[error("the data descriptor of the entry `{}` contradicts the central directory", printable(.name))]
    Descriptor { name: String },
    /// Two entries share bytes, or one reaches into the central directory.
    #[error("the entry `{}` overlaps what follows it", printable(.name))]
    Overlap { name: String },

    /// Bytes that belong to no entry hold the header of one.
    #[error(
        "the zip hides an entry that its central directory does not list\n  received a local header at byte {offset}"
    )]
    Hidden { offset: u64 },

    /// The data is not a deflate stream, or the stream is shorter or longer than the data.
    #[error("the compressed data of the entry `{}` is corrupt", printable(.name))]
    Corrupt { name: String },
    /// More content than announced. Reading stops as soon as this is detected.
    #[error("the entry `{}` unpacks to more than it announces\n  expected {expected} bytes", printable(.name))]
    Longer { name: String, expected: u64 },
    /// Less content than announced.
    #[error("the entry `{}` unpacks to less than it announces\n  expected {expected} bytes\n  received {received}", printable(.name))]
    Shorter {
        name: String,
        expected: u64,
        received: u64,
    },
    /// The content has another checksum.
    #[error("the content of the entry `{}` does not match its CRC-32\n  expected {expected:08x}\n  received {received:08x}", printable(.name))]
    Checksum {
        name: String,
        expected: u32,
        received: u32,
    },
    /// A name that `h1` is not defined for.
    #[error(transparent)]
    Hash(#[from] hash::NameError),
}

/// The first bytes of what is no zip: as text, if they are some.
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

fn at_least(expected: Option<u64>) -> String {
    expected.map_or_else(
        || "a central directory and an end record".to_owned(),
        |expected| format!("at least {expected} bytes"),
    )
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        match self {
            Self::Read(_) => Category::Local,
            Self::NotZip { .. }
            | Self::Truncated { .. }
            | Self::Empty
            | Self::NoExecutable { .. }
            | Self::Directory { .. }
            | Self::Extra { .. } => Category::Malformed,
            Self::MultiPart | Self::Encrypted { .. } | Self::Patch { .. } | Self::Method { .. } => {
                Category::Unsupported
            }
            _ => Category::Untrusted,
        }
    }
}

/// A field that stands both in the local header and in the central directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The general purpose flags, as far as they change how the entry is read.
    Flags,
    /// The compression method.
    Method,
    /// The CRC-32.
    Checksum,
    /// The size of the data as it lies in the zip.
    CompressedSize,
    /// The size of the content.
    Size,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flags => "flags",
            Self::Method => "compression method",
            Self::Checksum => "CRC-32",
            Self::CompressedSize => "compressed size",
            Self::Size => "size",
        })
    }
}
