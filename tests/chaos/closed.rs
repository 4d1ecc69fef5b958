use std::fs::{self, Permissions};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER, install, push};
use crate::support::judge::sha256;
use crate::support::programs::has;
use crate::support::scene::Run;

/// The id of the user `nobody` on Linux.
const NOBODY: &str = "65534";

/// A scene whose directories and files are read-only, except `open`.
struct Closed {
    scene: LayoutScene,
    is_root: bool,
}

impl Closed {
    /// `None` without `setpriv`, which runs a program as another user.
    fn new(scene: LayoutScene) -> Option<Self> {
        if !has("setpriv") {
            return None;
        }
        fs::create_dir(scene.path("open")).unwrap();
        let program = scene.path("program");
        if fs::hard_link(env!("CARGO_BIN_EXE_tfoci"), &program).is_err() {
            fs::copy(env!("CARGO_BIN_EXE_tfoci"), &program).unwrap();
        }
        let is_root = fs::metadata(scene.path("open")).unwrap().uid() == 0;
        let closed = Self { scene, is_root };
        closed.set(0o555, 0o444);
        fs::set_permissions(closed.path("open"), Permissions::from_mode(0o777)).unwrap();
        Some(closed)
    }

    fn set(&self, directories: u32, files: u32) {
        for (path, (content, mode)) in self.scene.tree(".") {
            let wanted = match content {
                None => directories,
                // The program is a hard link: a new mode would apply to the original too.
                Some(_) if path == Path::new("program") => mode,
                Some(_) => files,
            };
            fs::set_permissions(self.scene.path(path), Permissions::from_mode(wanted)).unwrap();
        }
    }

    /// Runs `tfoci` as a user to whom permissions apply.
    fn tfoci(&self, line: impl AsRef<str>) -> Run {
        let (words, program) = (line.as_ref().split_whitespace(), self.path("program"));
        if !self.is_root {
            return self.run(program, words);
        }
        let nobody = ["reuid", "regid"].map(|id| format!("--{id}={NOBODY}"));
        let [user, group] = nobody.each_ref().map(String::as_str);
        let program = program.to_str().unwrap();
        let before = [user, group, "--clear-groups", program];
        self.run("setpriv", before.into_iter().chain(words))
    }
}

impl Deref for Closed {
    type Target = LayoutScene;

    fn deref(&self) -> &LayoutScene {
        &self.scene
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        // A read-only directory could not be removed.
        self.set(0o755, 0o644);
    }
}

/// A scene with the release in `store`.
fn pushed() -> LayoutScene {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(push("store", ""));
    scene
}

#[test]
fn unwritable_directories_are_named_and_nothing_is_written() {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(push("store", "--platform linux_amd64"));
    scene.succeeds(install("mirror", ""));
    let Some(closed) = Closed::new(scene) else {
        return;
    };
    for (arguments, path) in [
        (push("store", ""), format!("store/{PROVIDER}/.tfoci.lock")),
        (push("new", ""), format!("new/{PROVIDER}")),
        (install("mirror", ""), "mirror/.tfoci.lock".to_owned()),
        (install("new", ""), "new".to_owned()),
    ] {
        let before = closed.tree(".");
        let run = closed.tfoci(arguments).exits(1).without_result();
        run.says(&format!("error {PROVIDER} 1.0.0 {path} 13"));
        assert!(closed.tree(".") == before, "something was written");
    }
}

#[test]
fn a_read_only_store_can_be_read() {
    let Some(closed) = Closed::new(pushed()) else {
        return;
    };
    for arguments in [
        "versions acme/demo --from oci-layout:store".to_owned(),
        "inspect acme/demo@1.0.0 --from oci-layout:store --key acme.asc".to_owned(),
        push("store", "--dry-run"),
        push("new", "--dry-run"),
        install("open/packed", ""),
        install("open/unpacked", "--unpacked"),
    ] {
        let before = closed.tree("store");
        closed.tfoci(&arguments).succeeds();
        assert!(closed.tree("store") == before);
    }
}

/// Evidence that does not verify is refused (exit code 3). Evidence that cannot be read is a failure (exit code 1).
#[test]
fn unreadable_evidence_is_not_reported_as_forged() {
    let Some(closed) = Closed::new(pushed()) else {
        return;
    };
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    let digest = sha256(&closed.path(signature));
    let blob = format!("store/{PROVIDER}/blobs/sha256/{digest}");
    fs::set_permissions(closed.path(&blob), Permissions::from_mode(0o000)).unwrap();
    let facts = format!("error {PROVIDER} 1.0.0 oci-layout:store sha256:{digest} {blob} 13");
    for arguments in [
        "inspect acme/demo@1.0.0 --from oci-layout:store".to_owned(),
        install("open/mirror", "--quiet"),
    ] {
        closed.tfoci(arguments).exits(1).says(&facts);
    }
}

/// A store is not missing because this user may not see it.
#[test]
fn a_store_that_may_not_be_seen_is_not_missing() {
    let scene = LayoutScene::new(&PLATFORMS);
    fs::create_dir(scene.path("hidden")).unwrap();
    scene.succeeds(push("hidden/store", ""));
    let Some(closed) = Closed::new(scene) else {
        return;
    };
    let hidden = closed.path("hidden");
    fs::set_permissions(&hidden, Permissions::from_mode(0o700)).unwrap();
    let copy = "copy --to oci-layout:open/copy";
    for command in ["list", "versions acme/demo", copy] {
        let run = closed.tfoci(format!("{command} --from oci-layout:hidden/store"));
        run.exits(1).says("error hidden/store 13");
    }
    fs::set_permissions(&hidden, Permissions::from_mode(0o755)).unwrap();
}

/// A store is not damaged because this user may not read it.
#[test]
fn a_package_that_may_not_be_read_is_not_damaged() {
    let scene = pushed();
    let zip = "dist/terraform-provider-demo_1.0.0_linux_amd64.zip";
    let blob = format!("store/{PROVIDER}/blobs/sha256/{}", sha256(&scene.path(zip)));
    let Some(closed) = Closed::new(scene) else {
        return;
    };
    fs::set_permissions(closed.path(&blob), Permissions::from_mode(0o000)).unwrap();
    let copy = "copy acme/demo --from oci-layout:store --to oci-layout:open/copy".to_owned();
    let run = closed.tfoci(&copy).exits(1);
    run.says(&format!("error {PROVIDER} 1.0.0 {blob} 13"));
}

/// Without the error, `copy` would leave the provider out, and `site --delete` would delete what it published of it.
#[test]
fn a_provider_that_cannot_be_read_fails_every_command_that_lists_the_store() {
    let scene = pushed();
    let site = "site open/site --from oci-layout:store --delete".to_owned();
    let Some(closed) = Closed::new(scene) else {
        return;
    };
    closed.tfoci(&site).succeeds();
    let published = closed.tree("open");
    let provider = closed.path(format!("store/{PROVIDER}"));
    let above = provider.parent().unwrap().to_owned();
    for (directory, mode, unreadable) in [
        (&provider, 0o000, format!("store/{PROVIDER}/index.json")),
        // Its entries can be listed, but not looked at.
        (&above, 0o444, format!("store/{PROVIDER}")),
    ] {
        fs::set_permissions(directory, Permissions::from_mode(mode)).unwrap();
        for arguments in [
            "list --from oci-layout:store".to_owned(),
            "copy --from oci-layout:store --to oci-layout:open/copy".to_owned(),
            site.clone(),
        ] {
            let run = closed.tfoci(arguments).exits(1);
            run.tells(format!(
                "cannot read {unreadable}\n  Permission denied (os error 13)\n"
            ));
            assert!(closed.tree("open") == published);
        }
        fs::set_permissions(directory, Permissions::from_mode(0o555)).unwrap();
    }
}

/// Other providers fail for the same reason, which is explained once.
#[test]
fn a_disk_that_refuses_every_provider_is_explained_once() {
    let scene = pushed();
    let second = "push dist --provider second/demo --key acme.asc --to oci-layout:store";
    scene.succeeds(second);
    let Some(closed) = Closed::new(scene) else {
        return;
    };
    for arguments in [
        "copy --from oci-layout:store --to oci-layout:new",
        "install --from oci-layout:store --platform all --into mirror",
    ] {
        let run = closed.tfoci(arguments).exits(1);
        let all = &run.stderr;
        assert_eq!(all.matches("error: ").count(), 1, "{all}");
        assert_eq!(all.matches("failed in the same way\n").count(), 1, "{all}");
    }
}
