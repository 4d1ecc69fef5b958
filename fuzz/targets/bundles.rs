//! Bundles: what is read has its digest, and nothing is read twice.
#![no_main]

use std::io::Write as _;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tfoci::digest::Digest;
use tfoci::oci::{Repository, Tag};
use tfoci::store::{Bundle, Repo, Store};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().unwrap());

fn now<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}

/// Makes the checksums of headers right, so that the fuzzer reaches what is behind them.
fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut tar = data.to_vec();
    for block in tar
        .chunks_exact_mut(512)
        .filter(|block| &block[257..262] == b"ustar")
    {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    tar
}

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&with_checksums(data)).unwrap();
    let Ok(bundle) = Bundle::open(file.path(), "bundle:fuzz") else {
        return;
    };
    let repository = Repository::of_directory("registry.opentofu.org/acme/demo").unwrap();
    let repo = Repo::new(Store::Bundle(bundle), repository);
    for name in now(repo.tags()).unwrap().unwrap_or_default() {
        let tag = Tag::parse(&name).unwrap();
        let _evidence = now(repo.evidence(&tag));
        let Ok(Some(artifact)) = now(repo.artifact(&tag)) else {
            continue;
        };
        assert_eq!(
            Digest::of(&artifact.raw.bytes),
            artifact.raw.expected.digest
        );
        let Ok(entries) = artifact.index.platforms() else {
            continue;
        };
        for (platform, entry) in entries {
            if let Ok(package) = now(repo.package(&platform, entry)) {
                let size = now(repo.blob_size(&package.layer.expected));
                assert!(size.ok().flatten().is_none_or(|size| size < 1 << 33));
            }
        }
    }
});
