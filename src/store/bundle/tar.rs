//! The members of a bundle, as `ustar` writes them: regular files without an owner and a time.
//!
//! A header follows from the name and the size of its member alone. A reader therefore makes the header that it expects and compares all bytes,
//! so that no link, sparse file, long name or extension of another tar is ever interpreted.

use crate::digest::{Digest, from_hex};

/// The unit of a tar in bytes.
pub(super) const BLOCK: u64 = 512;
/// The blocks of zeros at the end.
pub(super) const END: u64 = 2 * BLOCK;
/// The first member: the tags and their manifests.
pub(super) const INDEX: &str = "index.json";
/// The second member: the contents list.
pub(super) const CONTENTS: &str = "tfoci-bundle.json";
/// The third member, which makes it a layout.
pub(super) const MARKER: &str = "oci-layout";

/// The directory of the blobs.
const BLOBS: &str = "blobs/sha256/";

/// The name of a blob's member.
pub(super) fn blob_name(digest: &Digest) -> String {
    format!("{BLOBS}{}", digest.hex())
}

/// The digest of the blob that a member is.
pub(super) fn digest_of(name: &str) -> Option<Digest> {
    // Another spelling would be another name.
    from_hex(name.strip_prefix(BLOBS)?).map(Digest::from_sha256)
}

/// The bytes that a member of this size takes, with its header and what fills its last block.
pub(super) fn length(size: u64) -> u64 {
    BLOCK + size.next_multiple_of(BLOCK)
}

/// A header, of ASCII names only.
pub(super) fn header(name: &str, size: u64) -> Vec<u8> {
    let with = |sum: &str| {
        let (owner, none) = ("0000000", "");
        format!(
            "{name:\0<100}0000644\0{owner}\0{owner}\0{size:011o}\0{:011}\0{sum}0{none:\0<100}ustar\x0000{none:\0<247}",
            0
        )
    };
    let sum: u32 = with("        ").bytes().map(u32::from).sum();
    with(&format!("{sum:06o}\0 ")).into_bytes()
}

/// The name and size that a header states; `None` unless it is exactly the header of such a member.
pub(super) fn read(bytes: &[u8]) -> Option<(String, u64)> {
    let name = bytes.get(..100)?.split(|byte| *byte == 0).next()?;
    let name = std::str::from_utf8(name).ok()?;
    let size = std::str::from_utf8(bytes.get(124..135)?).ok()?;
    let size = u64::from_str_radix(size, 8).ok()?;
    (header(name, size) == bytes).then(|| (name.to_owned(), size))
}

/// A member as a whole.
pub(super) fn member(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut member = header(name, bytes.len() as u64);
    member.extend_from_slice(bytes);
    member.resize(member.len().next_multiple_of(BLOCK as usize), 0);
    member
}
