//! Zips built byte by byte: valid ones, and malformed ones of every kind.
//!
//! Uses nothing but the standard library, so that unit tests and integration tests share it.

#![allow(dead_code)] // Each test executable uses its part.

/// The name of the executable in every zip made here.
pub const EXECUTABLE: &str = "terraform-provider-demo_v1.0.0";

/// One description of an entry: the central directory's or the local header's.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    pub compressed: u32,
    pub size: u32,
    pub extra: Vec<u8>,
}

/// One entry, with both of its descriptions and the data between them.
#[derive(Clone, Debug)]
pub struct File {
    pub local: Header,
    pub central: Header,
    pub data: Vec<u8>,
    /// The bytes after the data.
    pub descriptor: Vec<u8>,
    pub made_by: u16,
    pub attributes: u32,
    pub disk: u16,
    /// The offset of the local header in the central directory, if it is wrong.
    pub offset: Option<u32>,
}

const UNIX: u16 = 3 << 8 | 20;
const FULL: u32 = u32::MAX;

/// A stored file, made on Unix with mode 0644.
pub fn file(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> File {
    let content = content.as_ref();
    let header = Header {
        name: name.as_ref().to_vec(),
        flags: 0,
        method: 0,
        crc: crc32(content),
        compressed: content.len() as u32,
        size: content.len() as u32,
        extra: Vec::new(),
    };
    File {
        local: header.clone(),
        central: header,
        data: content.to_vec(),
        descriptor: Vec::new(),
        made_by: UNIX,
        attributes: 0o100644 << 16,
        disk: 0,
        offset: None,
    }
}

/// The executable, with mode 0755.
pub fn executable() -> File {
    file(EXECUTABLE, "hello\n").mode(0o100755)
}

/// A directory entry; its name ends in a slash.
pub fn directory(name: &str) -> File {
    file(name, "").mode(0o040755)
}

impl File {
    /// Sets type and permission bits.
    pub fn mode(mut self, mode: u32) -> Self {
        self.attributes = mode << 16;
        self
    }

    /// Made on a system without modes.
    pub fn without_mode(mut self) -> Self {
        self.made_by = 20;
        self.attributes = 0;
        self
    }

    /// Changes both descriptions.
    pub fn both(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    /// Changes the local header only.
    pub fn local(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.local);
        self
    }

    /// Deflates the content, in blocks without compression.
    pub fn deflated(mut self) -> Self {
        self.data = deflate(&self.data);
        let compressed = self.data.len() as u32;
        self.both(|header| {
            header.method = 8;
            header.compressed = compressed;
        })
    }

    /// Leaves the local sizes and checksum open and writes them behind the data, as Go's writer does.
    pub fn streamed(self) -> Self {
        let mut file = self.both(|header| header.flags |= 8).local(|header| {
            header.crc = 0;
            header.compressed = 0;
            header.size = 0;
        });
        let header = &file.central;
        file.descriptor = b"PK\x07\x08".to_vec();
        for number in [header.crc, header.compressed, header.size] {
            file.descriptor.extend(number.to_le_bytes());
        }
        file
    }

    /// Moves the sizes to 64-bit fields.
    pub fn wide(self) -> Self {
        self.both(|header| {
            let mut extra = vec![1, 0, 16, 0];
            for number in [header.size, header.compressed] {
                extra.extend(u64::from(number).to_le_bytes());
            }
            (header.size, header.compressed, header.extra) = (FULL, FULL, extra);
        })
    }
}

/// A zip, with every number that can be wrong.
#[derive(Clone, Debug, Default)]
pub struct Zip {
    pub files: Vec<File>,
    /// The bytes before the first local header.
    pub before: Vec<u8>,
    /// The bytes between the central directory and the end record.
    pub between: Vec<u8>,
    pub comment: Vec<u8>,
    /// The bytes after the comment.
    pub after: Vec<u8>,
    /// Writes the 64-bit end record and fills the ordinary one.
    pub wide: bool,
    /// Added to the end record's numbers.
    pub entries_lie: i64,
    pub offset_lie: i64,
    pub size_lie: i64,
    pub disk: u16,
}

/// A zip of these files.
pub fn zip(files: impl IntoIterator<Item = File>) -> Vec<u8> {
    with(files, |_| {})
}

/// A zip of these files, with something changed.
pub fn with(files: impl IntoIterator<Item = File>, change: impl FnOnce(&mut Zip)) -> Vec<u8> {
    let mut zip = Zip {
        files: files.into_iter().collect(),
        ..Zip::default()
    };
    change(&mut zip);
    zip.bytes()
}

impl Zip {
    /// Writes it.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.before.clone();
        let mut directory = Vec::new();
        for file in &self.files {
            let offset = file.offset.unwrap_or(out.len() as u32);
            out.extend(b"PK\x03\x04\x14\0");
            fixed(&mut out, &file.local);
            out.extend(&file.local.name);
            out.extend(&file.local.extra);
            out.extend(&file.data);
            out.extend(&file.descriptor);

            directory.extend(b"PK\x01\x02");
            directory.extend(file.made_by.to_le_bytes());
            directory.extend(b"\x14\0");
            fixed(&mut directory, &file.central);
            directory.extend(b"\0\0");
            directory.extend(file.disk.to_le_bytes());
            directory.extend(b"\0\0");
            directory.extend(file.attributes.to_le_bytes());
            directory.extend(offset.to_le_bytes());
            directory.extend(&file.central.name);
            directory.extend(&file.central.extra);
        }
        let offset = out.len() as i64 + self.offset_lie;
        let size = directory.len() as i64 + self.size_lie;
        out.extend(directory);
        out.extend(&self.between);
        self.end(&mut out, offset, size);
        out
    }

    fn end(&self, out: &mut Vec<u8>, offset: i64, size: i64) {
        let entries = self.files.len() as i64 + self.entries_lie;
        if self.wide {
            let at = out.len() as u64;
            out.extend(b"PK\x06\x06");
            out.extend(44u64.to_le_bytes());
            out.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [entries, entries, size, offset] {
                out.extend(number.to_le_bytes());
            }
            out.extend(b"PK\x06\x07\0\0\0\0");
            out.extend(at.to_le_bytes());
            out.extend(1u32.to_le_bytes());
        }
        out.extend(b"PK\x05\x06");
        out.extend(self.disk.to_le_bytes());
        out.extend(self.disk.to_le_bytes());
        let (entries, size, offset) = if self.wide {
            (u16::MAX, FULL, FULL)
        } else {
            (entries as u16, size as u32, offset as u32)
        };
        out.extend(entries.to_le_bytes());
        out.extend(entries.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(offset.to_le_bytes());
        out.extend((self.comment.len() as u16).to_le_bytes());
        out.extend(&self.comment);
        out.extend(&self.after);
    }
}

/// The fields from the flags to the lengths, which both descriptions share.
fn fixed(out: &mut Vec<u8>, header: &Header) {
    out.extend(header.flags.to_le_bytes());
    out.extend(header.method.to_le_bytes());
    out.extend(b"\0\0\x21\x58");
    out.extend(header.crc.to_le_bytes());
    out.extend(header.compressed.to_le_bytes());
    out.extend(header.size.to_le_bytes());
    out.extend((header.name.len() as u16).to_le_bytes());
    out.extend((header.extra.len() as u16).to_le_bytes());
}

/// The CRC-32 of zip.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// A deflate stream of blocks without compression.
pub fn deflate(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for block in content.chunks(0xffff) {
        let length = block.len() as u16;
        out.push(0);
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend([1, 0, 0, 0xff, 0xff]);
    out
}
