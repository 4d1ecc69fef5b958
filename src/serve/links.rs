//! Signed links, which authorize the download of one file for a limited time.
//!
//! Clients send their token with JSON requests only ([clients: tokens](crate::clients#host-tokens)), so each link to a package,
//! checksum document or checksum signature carries its own signature: `/signed/EXPIRES.KEY.SIGNATURE/…`. The signature is in the path, because some
//! wrappers of clients escape the `?` of a query. It covers the class of the method, the provider's host if the path does not name it, the
//! path, and the expiry, so it is valid for nothing else.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;

use super::error::{FileError, MOST_KEYS, SHORTEST_KEY};
use super::path::respelt;
use super::watched_files::lines;
use crate::digest::Digest;

/// The fewest hex digits of a token as `tfoci help deployment` makes one, and of a SHA-256.
const SHORTEST_HEX: usize = 64;
/// How much the clocks of replicas may differ. With NTP they differ by less than a second; 30 seconds is also the shortest `--url-lifetime`.
const CLOCK_SKEW: Duration = Duration::from_secs(30);
/// The class of `GET` and `HEAD`.
const READ: &str = "read";

/// The signing keys of links. The first signs, and a link of any of them is valid.
pub struct Links {
    keys: Vec<(String, hmac::Key)>,
    lifetime: Duration,
}

impl Links {
    /// Reads a file of keys: one in base64 on each line. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// A line is not a key, or the number of keys is not allowed.
    pub(super) fn parse(text: &str, lifetime: Duration) -> Result<Self, FileError> {
        let keys = lines(text).map(|(line, text)| {
            // Hex is valid base64 too, but it is a token or its hash. A random key never has hex digits only.
            let is_hex = text.len() >= SHORTEST_HEX && text.chars().all(|c| c.is_ascii_hexdigit());
            let bytes = STANDARD.decode(text).or(URL_SAFE_NO_PAD.decode(text)).ok();
            let bytes = bytes.filter(|bytes| bytes.len() >= SHORTEST_KEY && !is_hex);
            let bytes = bytes.ok_or(FileError::keys(line))?;
            Ok(key(&bytes))
        });
        let keys: Vec<_> = keys.collect::<Result<_, FileError>>()?;
        match keys.len() {
            1..=MOST_KEYS => Ok(Self { keys, lifetime }),
            _ => Err(FileError::keys(1)),
        }
    }

    /// Makes a key that only this process knows; `None` if the operating system gives no random numbers.
    pub fn of_this_process(lifetime: Duration) -> Option<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        let keys = vec![("process".to_owned(), key)];
        Some(Self { keys, lifetime })
    }

    /// How long a link is valid.
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// The prefix that authorizes a path, such as `signed/1700000000.0a1b2c3d.…`.
    pub(super) fn prefix(&self, host: &str, path: &str, now: SystemTime) -> Option<String> {
        let (id, key) = self.keys.first()?;
        let expires = seconds(now + self.lifetime);
        let signature = hmac::sign(key, message(host, path, expires).as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        Some(format!("signed/{expires}.{id}.{signature}"))
    }

    /// The remaining lifetime of a signature; `None` if it is not valid for the path now. It is zero after the expiry, within [`CLOCK_SKEW`].
    pub(super) fn remaining(
        &self,
        signature: &str,
        host: &str,
        path: &str,
        now: SystemTime,
    ) -> Option<Duration> {
        let mut parts = signature.splitn(3, '.');
        let (expires, id, signature) = (parts.next()?, parts.next()?, parts.next()?);
        let expires = expires.parse::<u64>().ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let (_, key) = self.keys.iter().find(|(known, _)| known == id)?;
        hmac::verify(key, message(host, path, expires).as_bytes(), &signature).ok()?;
        let latest = expires.saturating_add(CLOCK_SKEW.as_secs());
        let left = Duration::from_secs(expires.saturating_sub(seconds(now)));
        (seconds(now) <= latest).then_some(left)
    }
}

/// A key with the id by which links name it. The id reveals nothing about the key.
fn key(bytes: &[u8]) -> (String, hmac::Key) {
    let digest = Digest::of(bytes);
    let id = digest.hex().get(..8).unwrap_or_default().to_owned();
    (id, hmac::Key::new(hmac::HMAC_SHA256, bytes))
}

fn message(host: &str, path: &str, expires: u64) -> String {
    let path = respelt(path);
    format!("{READ}\n{host}\n{path}\n{expires}")
}

/// Replaces every text of a path that could be the signature of a link. A client or proxy may misspell the path around it, and the signature is still
/// valid for the right path. Names have no capital letters, or are shorter.
pub(super) fn without_signatures(path: &str) -> String {
    const LENGTH: usize = 40;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let parts = path.split_inclusive(|c| !is_part(c)).map(|part| {
        let (text, end) = part.split_at(part.rfind(is_part).map_or(0, |last| last + 1));
        let is_signature = text.len() >= LENGTH && text.contains(|c: char| c.is_ascii_uppercase());
        let shown = if is_signature { "SIGNATURE" } else { text };
        format!("{shown}{end}")
    });
    parts.collect()
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

#[cfg(test)]
mod tests;
