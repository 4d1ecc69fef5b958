use super::locks::{NAME, lock, versions, zh};
use super::origin_scene::OriginScene;
use super::{DARWIN, LINUX, demo};
use crate::support::origin::Provider;
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::tamper;

/// An origin of three versions, and a lock file for each of the first two, in `a` and `b`.
fn locked() -> OriginScene {
    let stage = OriginScene::of([versions()]);
    for (directory, version) in [("a", "1.0.0"), ("b", "1.1.0")] {
        // Clients lock every line of the checksum document, those of other files too.
        let manifest = ReleaseFolder::new("demo", version).build().manifest;
        let manifest = format!("zh:{}", sha256(&manifest.unwrap().bytes));
        let [darwin, linux] = [DARWIN, LINUX].map(|platform| zh(&stage.origin, version, platform));
        let path = format!("{directory}/{NAME}");
        let hashes = [darwin, linux, manifest];
        lock(&stage, &path, "[ORIGIN]/acme/demo", version, &hashes);
    }
    stage
}

/// The origin has nothing but 1.0.0 from now on.
fn withdraw(stage: &OriginScene) {
    stage.origin.publish(Provider::demo(&[DARWIN, LINUX]));
}

const WITHDRAWN: &str = "
error: [ORIGIN]/acme/demo 1.1.0 ([ORIGIN]): the locked version is not there
  has 1.0.0

hint: it may have been withdrawn: lock another version, or copy this one with `tfoci copy` from a store that has it
";

#[test]
fn a_withdrawn_version_fails_alone() {
    let stage = locked();
    withdraw(&stage);
    stage.mirror("--from-lock b").says(1, WITHDRAWN);
    stage.mirror("--from-lock a --from-lock b --jobs 1").says(1, &format!("
    Copied [ORIGIN]/acme/demo 1.0.0   2 packages, 813 B   signed [ACME ID] (lock){WITHDRAWN}  Mirrored 1 version, 2 packages (813 B copied) in [TIME]
    Failed 1 of 2: [ORIGIN]/acme/demo 1.1.0
"));
    assert_eq!(
        stage.installs(),
        [
            "acme/demo 1.0.0 darwin_arm64",
            "acme/demo 1.0.0 linux_amd64"
        ]
    );
}

#[test]
fn every_wish_that_nothing_fulfils_fails_by_itself() {
    let stage = OriginScene::of([demo()]);
    let entries = ["2.0.0", ">= 1.0", ">= 3.0", ">= 3.0"].map(|constraints| {
        stage.named(&format!(
            "[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\nconstraints = \"{constraints}\"\n"
        ))
    });
    stage.scene.write("mirror.toml", entries.concat());
    stage.mirror("--file mirror.toml").says(
        1,
        "
    Copied [ORIGIN]/acme/demo 1.0.0   1 package, 406 B   signed [ACME ID] (origin)
error: [ORIGIN]/acme/demo ([ORIGIN]): no version matches `2.0.0`
  has 1.0.0

hint: these are all that there are: choose among them by other constraints
error: [ORIGIN]/acme/demo ([ORIGIN]): no version matches `>= 3.0.0`
  has 1.0.0

hint: these are all that there are: choose among them by other constraints
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
    Failed 2: [ORIGIN]/acme/demo, [ORIGIN]/acme/demo
",
    );
    assert_eq!(stage.installs(), ["acme/demo 1.0.0 linux_amd64"]);
}

#[test]
fn a_withdrawn_version_that_is_stored_is_present() {
    let stage = locked();
    let both = "--from-lock a --from-lock b";
    stage.mirror(&format!("{both} -q")).says(0, "");
    withdraw(&stage);
    let before = stage.tree();
    stage.origin.forget();
    for platforms in ["", "--platform linux_amd64"] {
        stage
            .mirror(&format!("{both} {platforms}"))
            .says(
                0,
                "
   Warning [ORIGIN]/acme/demo 1.1.0: it is not published any more in [ORIGIN]
  Mirrored nothing: 4 packages already present, in [TIME]
",
            )
            .gives(&[
                "oci-layout:store/[ORIGIN]/acme/demo:1.0.0",
                "oci-layout:store/[ORIGIN]/acme/demo:1.1.0",
            ]);
    }
    assert_eq!(stage.origin.counters(), "2 discovery, 2 versions");
    stage.mirror(&format!("{both} --dry-run")).says(
        0,
        "
   Present [ORIGIN]/acme/demo 1.0.0
   Present [ORIGIN]/acme/demo 1.1.0
   Warning [ORIGIN]/acme/demo 1.1.0: it is not published any more in [ORIGIN]
Would mirror nothing: 4 packages already present, in [TIME]
",
    );
    assert_eq!(stage.tree(), before);
}

#[test]
fn a_withdrawn_version_that_is_stored_in_part_fails() {
    let stage = locked();
    let linux = "--from-lock b --platform linux_amd64";
    stage.mirror(&format!("{linux} -q")).says(0, "");
    withdraw(&stage);
    let has = "  has 1.0.0\n";
    let partly = WITHDRAWN.replace(has, &format!("{has}  stored only for linux_amd64\n"));
    stage.mirror("--from-lock b").says(1, &partly);
    stage
        .mirror("--from-lock b --platform darwin_arm64")
        .says(1, &partly);
    stage.mirror(linux).says(
        0,
        "
   Warning [ORIGIN]/acme/demo 1.1.0: it is not published any more in [ORIGIN]
  Mirrored nothing: 1 package already present, in [TIME]
",
    );
    // Nothing can be compared with what is gone.
    stage
        .mirror(&format!("{linux} --recheck"))
        .says(1, WITHDRAWN);
}

#[test]
fn a_withdrawn_version_that_is_stored_must_match_the_lock() {
    let stage = locked();
    stage.mirror("--from-lock b -q").says(0, "");
    let [other, stored] = ["1.0.0", "1.1.0"].map(|version| zh(&stage.origin, version, DARWIN));
    withdraw(&stage);
    let path = format!("b/{NAME}");
    lock(
        &stage,
        &path,
        "[ORIGIN]/acme/demo",
        "1.1.0",
        std::slice::from_ref(&other),
    );
    stage.mirror("--from-lock b").says(3, &format!("
error: [ORIGIN]/acme/demo 1.1.0 (oci-layout:store/[ORIGIN]/acme/demo): the package for darwin_arm64 is not in the lock file
  expected one of {other}
  received {stored}
  locked by b/{NAME}

hint: nothing of this version was written. If the lock file was made for other platforms only, `tfoci lock` adds this one; else this is not the package that was locked
"));
}

/// Clients lock lines of the checksum document that are about no package, so the store need not have those. Only a document that its
/// signature proves says which they are.
#[test]
fn a_forged_document_does_not_excuse_a_package_that_is_missing() {
    let stage = locked();
    stage
        .mirror("--from-lock b --platform linux_amd64 -q")
        .says(0, "");
    let origin = stage.named("[ORIGIN]").replace(':', "_");
    let layout = stage.scene.path(format!("store/{origin}/acme/demo"));
    let [darwin, linux] =
        [DARWIN, LINUX].map(|platform| zh(&stage.origin, "1.1.0", platform).replace("zh:", ""));
    withdraw(&stage);
    let forged =
        format!("{darwin}  README.md\n{linux}  terraform-provider-demo_1.1.0_linux_amd64.zip\n");
    let layer = tamper::put(&layout, "text/plain", forged.as_bytes());
    tamper::alter(&layout, "evidence-1.1.0", |evidence| {
        evidence["layers"][0] = layer;
    });
    let told = stage.mirror("--from-lock b").ends(3);
    let said = ": the stored version does not verify\n";
    assert!(told.contains(said), "{told}");
}
