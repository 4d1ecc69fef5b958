use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER};
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
    fn new(scene: LayoutScene) -> Self {
        fs::create_dir(scene.path("open")).unwrap();
        let program = scene.path("program");
        if fs::hard_link(env!("CARGO_BIN_EXE_tfoci"), &program).is_err() {
            fs::copy(env!("CARGO_BIN_EXE_tfoci"), &program).unwrap();
        }
        let is_root = fs::metadata(scene.path("open")).unwrap().uid() == 0;
        let closed = Self { scene, is_root };
        closed.set(0o555, 0o444);
        fs::set_permissions(closed.scene.path("open"), Permissions::from_mode(0o777)).unwrap();
        closed
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
    fn tfoci(&self, arguments: &[String]) -> Run {
        let program = self.scene.path("program");
        if !self.is_root {
            return self.scene.scene.run(program, arguments);
        }
        let nobody = ["reuid", "regid"].map(|id| format!("--{id}={NOBODY}"));
        let mut all: Vec<PathBuf> = nobody.map(PathBuf::from).into();
        all.extend(["--clear-groups".into(), program]);
        all.extend(arguments.iter().map(PathBuf::from));
        self.scene.scene.run("setpriv", all)
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        // A read-only directory could not be removed.
        self.set(0o755, 0o644);
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn unwritable_directories_are_named_and_nothing_is_written() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &["--platform", "linux_amd64"]));
    scene.succeeds(&LayoutScene::install("mirror", &[]));
    let closed = Closed::new(scene);
    for (arguments, path) in [
        (
            LayoutScene::push("store", &[]),
            format!("store/{PROVIDER}/.tfoci.lock"),
        ),
        (LayoutScene::push("new", &[]), format!("new/{PROVIDER}")),
        (
            LayoutScene::install("mirror", &[]),
            "mirror/.tfoci.lock".to_owned(),
        ),
        (LayoutScene::install("new", &[]), "new".to_owned()),
    ] {
        let before = closed.scene.tree(".");
        let run = closed.tfoci(&arguments).exits(1).without_result();
        run.says(&format!(
            "error registry.opentofu.org/acme/demo 1.0.0 {path} 13"
        ));
        assert!(closed.scene.tree(".") == before, "something was written");
    }
}

#[test]
fn a_read_only_store_can_be_read() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let closed = Closed::new(scene);
    for arguments in [
        words("versions acme/demo --from oci-layout:store"),
        words("inspect acme/demo@1.0.0 --from oci-layout:store --key acme.asc"),
        LayoutScene::push("store", &["--dry-run"]),
        LayoutScene::push("new", &["--dry-run"]),
        LayoutScene::install("open/packed", &[]),
        LayoutScene::install("open/unpacked", &["--unpacked"]),
    ] {
        let before = closed.scene.tree("store");
        closed.tfoci(&arguments).succeeds();
        assert!(closed.scene.tree("store") == before);
    }
}

/// Evidence that does not verify is refused (exit code 3). Evidence that cannot be read is a failure (exit code 1).
#[test]
fn unreadable_evidence_is_not_reported_as_forged() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let closed = Closed::new(scene);
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    let digest = sha256(&closed.scene.path(signature));
    let blob = format!("store/{PROVIDER}/blobs/sha256/{digest}");
    fs::set_permissions(closed.scene.path(&blob), Permissions::from_mode(0o000)).unwrap();
    let facts = format!("error {PROVIDER} 1.0.0 oci-layout:store sha256:{digest} {blob} 13");
    for arguments in [
        words("inspect acme/demo@1.0.0 --from oci-layout:store"),
        LayoutScene::install("open/mirror", &["--quiet"]),
    ] {
        closed.tfoci(&arguments).exits(1).says(&facts);
    }
}

/// A store is not missing because this user may not see it.
#[test]
fn a_store_that_may_not_be_seen_is_not_missing() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    fs::create_dir(scene.path("hidden")).unwrap();
    scene.succeeds(&LayoutScene::push("hidden/store", &[]));
    let closed = Closed::new(scene);
    let hidden = closed.scene.path("hidden");
    fs::set_permissions(&hidden, Permissions::from_mode(0o700)).unwrap();
    for command in [
        "list",
        "versions acme/demo",
        "copy --to oci-layout:open/copy",
    ] {
        let arguments = words(&format!("{command} --from oci-layout:hidden/store"));
        let run = closed.tfoci(&arguments).exits(1);
        run.says("error hidden/store 13");
    }
    fs::set_permissions(&hidden, Permissions::from_mode(0o755)).unwrap();
}

/// A store is not damaged because this user may not read it.
#[test]
fn a_package_that_may_not_be_read_is_not_damaged() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let zip = "dist/terraform-provider-demo_1.0.0_linux_amd64.zip";
    let blob = format!("store/{PROVIDER}/blobs/sha256/{}", sha256(&scene.path(zip)));
    let closed = Closed::new(scene);
    fs::set_permissions(closed.scene.path(&blob), Permissions::from_mode(0o000)).unwrap();
    let copy = words("copy acme/demo --from oci-layout:store --to oci-layout:open/copy");
    let run = closed.tfoci(&copy).exits(1);
    run.says(&format!("error {PROVIDER} 1.0.0 {blob} 13"));
}

/// Without the error, `copy` would leave the provider out, and `site --delete` would delete what it published of it.
#[test]
fn a_provider_that_cannot_be_read_fails_every_command_that_lists_the_store() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let site = words("site open/site --from oci-layout:store --delete");
    let closed = Closed::new(scene);
    closed.tfoci(&site).succeeds();
    let published = closed.scene.tree("open");
    let provider = closed.scene.path(format!("store/{PROVIDER}"));
    let above = provider.parent().unwrap().to_owned();
    for (directory, mode, unreadable) in [
        (&provider, 0o000, format!("store/{PROVIDER}/index.json")),
        // Its entries can be listed, but not looked at.
        (&above, 0o444, format!("store/{PROVIDER}")),
    ] {
        fs::set_permissions(directory, Permissions::from_mode(mode)).unwrap();
        for arguments in [
            words("list --from oci-layout:store"),
            words("copy --from oci-layout:store --to oci-layout:open/copy"),
            site.clone(),
        ] {
            let run = closed.tfoci(&arguments).exits(1);
            let expected = format!("cannot read {unreadable}\n  Permission denied (os error 13)\n");
            assert!(run.stderr.contains(&expected), "{}", run.stderr);
            assert!(closed.scene.tree("open") == published);
        }
        fs::set_permissions(directory, Permissions::from_mode(0o555)).unwrap();
    }
}

/// Other providers fail for the same reason, which is explained once.
#[test]
fn a_disk_that_refuses_every_provider_is_explained_once() {
    if !has("setpriv") {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let second = "push dist --provider second/demo --key acme.asc --to oci-layout:store";
    scene.succeeds(&words(second));
    let closed = Closed::new(scene);
    for arguments in [
        "copy --from oci-layout:store --to oci-layout:new",
        "install --from oci-layout:store --platform all --into mirror",
    ] {
        let run = closed.tfoci(&words(arguments)).exits(1);
        let all = &run.stderr;
        assert_eq!(all.matches("error: ").count(), 1, "{all}");
        let (_, others) = all.split_once("\n… and 1 more ").expect(all);
        assert!(others.contains(" registry.opentofu.org/"), "{all}");
        assert!(others.contains("/demo"), "{all}");
    }
}
