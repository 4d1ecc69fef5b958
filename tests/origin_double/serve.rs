//! The double as a separate program, for benches/origin_process.bash.

use std::fs;
use std::io::{Write as _, stdin, stdout};
use std::path::PathBuf;
use std::time::Duration;

use crate::support::origin::{Origin, Provider};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;
use crate::support::tls::Authority;

/// The length after which the noise repeats.
const NOISE: usize = 256 << 10;

fn number(name: &str) -> u64 {
    std::env::var(name).unwrap().parse().unwrap()
}

/// Bytes that do not compress: they repeat, but at a distance beyond the window of a zip.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let words = std::iter::repeat_with(|| {
        // Xorshift: each bit depends on all of those before.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let block: Vec<u8> = words.take(NOISE / 8).flatten().collect();
    let mut bytes = block.repeat(length.div_ceil(NOISE));
    bytes.truncate(length);
    bytes
}

/// `acme/pN` with versions 1.0.0, 1.1.0, …, whose executables have so many bytes.
fn provider(number: u64, versions: u64, size: usize, platforms: &[&str]) -> Provider {
    let name = format!("p{number}");
    let release = |minor: u64| {
        let version = format!("1.{minor}.0");
        (1..).zip(platforms).fold(
            ReleaseFolder::new(&name, &version),
            |folder, (place, platform)| {
                let suffix = if platform.starts_with("windows") {
                    ".exe"
                } else {
                    ""
                };
                let executable = format!("terraform-provider-{name}_v{version}{suffix}");
                let seed = (number * versions + minor) * 64 + place;
                folder.package(platform, &[(&executable, &noise(seed, size))])
            },
        )
    };
    let provider = Provider::new(&format!("acme/{name}"));
    (0..versions).fold(provider, |provider, minor| provider.release(release(minor)))
}

/// Serves `ORIGIN_PROVIDERS` providers of `ORIGIN_VERSIONS` versions with packages of `ORIGIN_SIZE` bytes for each of `ORIGIN_PLATFORMS`,
/// which are separated by spaces, until stdin ends. A line there sets how many milliseconds every request waits, and forgets the requests so
/// far; an empty one has their number printed. The directory `ORIGIN_DIR` gets the authority's certificate, `origin.pem`, the author's public
/// key, `origin.asc`, and the host, `origin.host`.
#[test]
#[ignore = "serves until stdin ends"]
fn serve() {
    let size = usize::try_from(number("ORIGIN_SIZE")).unwrap();
    let platforms = std::env::var("ORIGIN_PLATFORMS").unwrap();
    let platforms: Vec<_> = platforms.split_whitespace().collect();
    let providers: Vec<_> = (0..number("ORIGIN_PROVIDERS"))
        .map(|one| provider(one, number("ORIGIN_VERSIONS"), size, &platforms))
        .collect();
    for release in providers.iter().flat_map(|provider| &provider.releases) {
        // Built now, so that no request waits for them.
        assert_eq!(release.packages().len(), platforms.len());
    }
    let origin = Origin::of(providers);
    let directory = PathBuf::from(std::env::var_os("ORIGIN_DIR").unwrap());
    fs::write(directory.join("origin.pem"), &Authority::shared().pem).unwrap();
    let key = Signer::acme().public_armored();
    fs::write(directory.join("origin.asc"), key).unwrap();
    let mut latency = 0;
    fs::write(directory.join("origin.host"), origin.host()).unwrap();
    for line in stdin().lines() {
        let line = line.unwrap();
        match line.parse::<u64>() {
            Ok(wanted) => {
                origin.forget();
                // Delays add up, and none is taken back.
                let more = wanted.checked_sub(latency).expect("latency only grows");
                origin.latency(|_| true, Duration::from_millis(more));
                latency = wanted;
            }
            // The caller reads the address from stdout.
            Err(_) => writeln!(stdout(), "\nrequests {}", origin.seen().len()).unwrap(),
        }
    }
}
