//! OCI documents: indexes, manifests, evidence and the `index.json` of a layout.
//!
//! A document that is accepted and written again must be read with the same meaning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tfoci::oci::{Evidence, INDEX, Index, MANIFEST, PROVIDER, RawManifest, Tags, manifest};
use tfoci::platform::Platform;

fuzz_target!(|bytes: &[u8]| {
    let raw = |media_type| RawManifest::new(media_type, PROVIDER, bytes.to_vec());
    let _ = raw(INDEX).parts();
    let _ = raw(INDEX).children();
    let _ = Evidence::read(&raw(MANIFEST));
    let _ = manifest::read(&raw(MANIFEST), &Platform::new("linux", "amd64").unwrap());
    if let Ok(tags) = Tags::read(bytes.to_vec()) {
        let written = tags.write().expect("what was read can be written");
        let again = Tags::read(written).expect("what was written can be read");
        assert_eq!(tags.names(), again.names());
    }
    if let Ok(index) = Index::read(&raw(INDEX))
        && let Ok(written) = index.write()
    {
        let again = Index::read(&written).expect("what was written can be read");
        match (index.platforms(), again.platforms()) {
            (Ok(one), Ok(two)) => assert_eq!(one, two),
            (one, two) => assert_eq!(one.is_err(), two.is_err()),
        }
    }
});
