use super::registries::House;
use super::{Mirrored, flip};
use crate::support::origin::Provider;
use crate::support::release::ReleaseFolder;
use crate::support::tamper::{document, file, tagged};

/// Only the bytes tell, so that they are found only if they are read.
#[test]
fn bytes_that_are_others_are_found_and_written_again() {
    let mirrored = Mirrored::new();
    let layout = mirrored.layout("store");
    let index = document(&layout, &tagged(&layout, "1.0.0"));
    let manifest = document(&layout, &index["manifests"][1]);
    flip(&file(&layout, &manifest["layers"][0]));
    mirrored.verify("").are_none();
    let found = mirrored.verify("--deep").are(&["bytes-differ"], 3);
    assert_eq!(found.findings[0]["platform"], "linux_amd64");
    mirrored.fix(&found.findings[0]);
    mirrored.verify("--deep").are_none();
}

/// Whatever the way: a zip that can be read while it arrives, and one that needs a file.
#[test]
fn zips_that_clients_cannot_use_are_found() {
    let name = "terraform-provider-demo_v1.0.0";
    let release =
        |files: &[(&str, &[u8])]| ReleaseFolder::new("demo", "1.0.0").package("linux_amd64", files);
    for (folder, code, exit) in [
        (release(&[(name, b"x"), ("docs/", b"")]), "two-h1", 0),
        (release(&[("README.md", b"x")]), "no-executable", 1),
        (release(&[(name, b"x"), ("../x", b"x")]), "zip-refused", 3),
    ] {
        let mirrored = Mirrored::of(Provider::new("acme/demo").release(folder), "@1.0.0");
        mirrored.verify("").are_none();
        let found = mirrored.verify("--deep").are(&[code], exit);
        assert_eq!(found.findings[0]["platform"], "linux_amd64");
    }
}

#[test]
fn packages_of_a_registry_are_read_too() {
    let house = House::new();
    house.verify("--deep").are_none();
    house.registry.repository("acme/demo", |repository| {
        let blobs = repository.blobs.values_mut();
        for bytes in blobs.filter(|bytes| bytes.starts_with(b"PK")) {
            let mut changed = bytes.to_vec();
            changed[40] ^= 1;
            *bytes = changed.into();
        }
    });
    house.verify("--deep").are(&["bytes-differ"], 3);
}
