//! Reads blobs of a layout and checks them against their descriptors, as the client does over HTTP with a server that states true lengths.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256, Sha384, Sha512};

use super::refusal::Refusal;
use super::shapes::Descriptor;

const MIB: i64 = 1024 * 1024;

/// A manifest's bytes: within the limit, of the declared size, of the declared digest.
pub fn manifest(layout: &Path, descriptor: &Descriptor) -> Result<Vec<u8>, Refusal> {
    if descriptor.size / MIB > 4 {
        return Err(Refusal::ManifestTooLarge);
    }
    let (algorithm, expected) = descriptor
        .digest
        .split_once(':')
        .ok_or_else(|| Refusal::Crash("no ':' separator in digest".to_owned()))?;
    let hash: fn(&[u8]) -> String = match algorithm {
        "sha256" => |bytes| hex(&Sha256::digest(bytes)),
        "sha384" => |bytes| hex(&Sha384::digest(bytes)),
        "sha512" => |bytes| hex(&Sha512::digest(bytes)),
        other => return Err(Refusal::Crash(format!("{other} not available"))),
    };
    let mut bytes = Vec::new();
    let (_, mut file) = open(layout, descriptor)?;
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    if hash(&bytes) == expected {
        Ok(bytes)
    } else {
        Err(Refusal::ManifestDigest)
    }
}

/// A package, hashed as it is read. Its digest must be a SHA-256 digest in the only legal spelling.
pub fn package(layout: &Path, layer: &Descriptor) -> Result<(PathBuf, String), Refusal> {
    let expected = match layer.digest.split_once(':') {
        Some(("sha256", value)) if is_hex(value, 64) => value,
        Some(("sha384", value)) if is_hex(value, 96) => return Err(Refusal::LayerDigestAlgorithm),
        Some(("sha512", value)) if is_hex(value, 128) => return Err(Refusal::LayerDigestAlgorithm),
        _ => return Err(Refusal::LayerDigest),
    };
    let (path, mut file) = open(layout, layer)?;
    let mut state = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match file.read(&mut chunk).map_err(unreadable)? {
            0 => break,
            read => state.update(&chunk[..read]),
        }
    }
    if hex(&state.finalize()) == expected {
        Ok((path, expected.to_owned()))
    } else {
        Err(Refusal::PackageDigest)
    }
}

fn open(layout: &Path, descriptor: &Descriptor) -> Result<(PathBuf, File), Refusal> {
    let (algorithm, value) = descriptor
        .digest
        .split_once(':')
        .filter(|(_, value)| is_hex(value, value.len()))
        .ok_or(Refusal::BlobMissing)?;
    let path = layout.join("blobs").join(algorithm).join(value);
    let file = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Refusal::BlobMissing,
        _ => unreadable(error),
    })?;
    let length = file.metadata().map_err(unreadable)?.len();
    if i64::try_from(length) == Ok(descriptor.size) {
        Ok((path, file))
    } else {
        Err(Refusal::ContentLength)
    }
}

fn unreadable(error: io::Error) -> Refusal {
    Refusal::NoLayout(error.to_string())
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
