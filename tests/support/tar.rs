//! Reads and writes tars, independently of the product.

use super::release::sha256;

/// The members of a tar, in their order.
#[derive(Clone)]
pub struct Tar(pub Vec<Entry>);

/// A member.
#[derive(Clone)]
pub struct Entry {
    pub name: String,
    pub kind: u8,
    pub bytes: Vec<u8>,
    /// What the header states, if it is not the number of bytes.
    pub size: Option<u64>,
}

impl Tar {
    /// Parses a tar of plain members.
    pub fn read(bytes: &[u8]) -> Self {
        let mut entries = Vec::new();
        let mut at = 0;
        while bytes[at] != 0 {
            let field = |from: usize, length: usize| {
                let field = &bytes[at + from..at + from + length];
                let end = field.iter().position(|byte| *byte == 0);
                std::str::from_utf8(&field[..end.unwrap_or(length)]).unwrap()
            };
            let size = usize::from_str_radix(field(124, 12), 8).unwrap();
            entries.push(Entry {
                name: field(0, 100).to_owned(),
                kind: bytes[at + 156],
                bytes: bytes[at + 512..at + 512 + size].to_vec(),
                size: None,
            });
            at += 512 + size.next_multiple_of(512);
        }
        assert!(bytes[at..].iter().all(|byte| *byte == 0) && bytes.len() == at + 1024);
        Self(entries)
    }

    /// The names of the members.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|entry| entry.name.as_str()).collect()
    }

    /// The content of a member, and whether it is there.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let mut entries = self.0.iter();
        Some(&entries.find(|entry| entry.name == name)?.bytes)
    }

    /// The content of a member that is JSON.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(self.get(name).unwrap()).unwrap()
    }

    /// Whether a blob is there.
    pub fn has(&self, hex: &str) -> bool {
        self.get(&format!("blobs/sha256/{hex}")).is_some()
    }

    /// Asserts that each blob has its digest, once, and that it is a layout with its lists at the beginning.
    #[track_caller]
    pub fn assert_sound(&self) {
        let names = self.names();
        let first = ["index.json", "tfoci-bundle.json", "oci-layout"];
        assert_eq!(names[..3], first);
        for entry in &self.0[3..] {
            assert_eq!(entry.name, format!("blobs/sha256/{}", sha256(&entry.bytes)));
            assert_eq!(names.iter().filter(|name| **name == entry.name).count(), 1);
        }
    }

    /// The tar.
    pub fn write(&self) -> Vec<u8> {
        let mut tar = Vec::new();
        for entry in &self.0 {
            let mut header = [0_u8; 512];
            let size = entry.size.unwrap_or(entry.bytes.len() as u64);
            let mut put = |at: usize, text: &str| {
                header[at..at + text.len()].copy_from_slice(text.as_bytes());
            };
            put(0, &entry.name);
            put(100, "0000644");
            put(108, "0000000");
            put(116, "0000000");
            put(124, &format!("{size:011o}"));
            put(136, "00000000000");
            put(148, "        ");
            put(257, "ustar");
            put(263, "00");
            header[156] = entry.kind;
            let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
            header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            tar.extend(header);
            tar.extend(&entry.bytes);
            tar.resize(tar.len().next_multiple_of(512), 0);
        }
        tar.resize(tar.len() + 1024, 0);
        tar
    }
}
