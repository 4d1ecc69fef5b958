//! Size limits for checksum documents, signatures and keys.
//!
//! Sources stop a download at the same limit at which [`verify`](super::verify) refuses the document.

/// The most bytes of a checksum document: real ones have about 100 for each zip, and at most 20 zips.
pub const CHECKSUMS: u64 = 4 << 20;

/// The most bytes of a signature file: real ones have 600.
pub const SIGNATURE: u64 = 64 << 10;

/// The most bytes of one key ring: the largest real key file has 16 KiB, and certificates with many foreign signatures have more.
pub const KEYS: u64 = 4 << 20;
