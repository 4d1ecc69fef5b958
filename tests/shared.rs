//! Directories that other users can write to: tfoci follows none of their links, does not wait for their pipes, and does not trust files
//! that they can change later.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::author::Author;
use crate::support::scene::Run;

const PACKED: &str =
    "out/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
const INSTALL: &str =
    "install acme/demo@1.0.0 --platform linux_amd64 --from oci-layout:store --into out";
const UNPACKED: &str = "out/registry.opentofu.org/acme/demo/1.0.0/linux_amd64";
/// Longer than tfoci waits for a pipe.
const SOON: Duration = Duration::from_secs(20);

fn pushed() -> Author {
    let author = Author::new();
    author.with_pushed();
    author
}

fn install(author: &Author, more: &str) -> Run {
    author.line(format!("{INSTALL} -q {more}"))
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn links_below_the_directory_of_a_mirror_are_refused() {
    for form in ["--packed", "--unpacked"] {
        let last = if form == "--packed" { PACKED } else { UNPACKED };
        let mut place = Path::new(last);
        while place != Path::new("out") {
            let author = pushed();
            let elsewhere = author.scene.path("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            let link = author.scene.path(place);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&elsewhere, &link).unwrap();
            for more in ["", "--dry-run"] {
                let place = place.display();
                let run = install(&author, &format!("{form} {more}")).exits(1);
                run.says(&format!("error {place} link"));
                let count = fs::read_dir(&elsewhere).unwrap().count();
                assert_eq!(count, 0, "{form} {place}");
            }
            place = place.parent().unwrap();
        }
        // The directory itself may be a link, since the user named it.
        let author = pushed();
        fs::create_dir(author.scene.path("real")).unwrap();
        symlink("real", author.scene.path("out")).unwrap();
        install(&author, form).succeeds();
    }
}

#[test]
fn a_link_to_the_same_package_is_refused() {
    for form in ["--packed", "--unpacked"] {
        let author = pushed();
        install(&author, form).succeeds();
        let place = author
            .scene
            .path(if form == "--packed" { PACKED } else { UNPACKED });
        fs::rename(&place, author.scene.path("theirs")).unwrap();
        symlink(author.scene.path("theirs"), &place).unwrap();
        install(&author, form).exits(1).says("error link");
    }
}

#[test]
fn a_package_that_others_can_change_is_refused() {
    let name = "terraform-provider-demo_v1.0.0";
    let executable = format!("{UNPACKED}/{name}");
    for (form, path, mode, received) in [
        ("--packed", PACKED, 0o646, "writable"),
        ("--packed", PACKED, 0o4755, "setuid"),
        ("--unpacked", &executable, 0o757, "writable"),
        ("--unpacked", &executable, 0o4755, "setuid"),
        ("--unpacked", &executable, 0o2755, "setgid"),
        ("--unpacked", UNPACKED, 0o777, "writable"),
    ] {
        let author = pushed();
        install(&author, form).succeeds();
        install(&author, form).succeeds();
        set_mode(&author.scene.path(path), mode);
        for more in ["", "--dry-run"] {
            let run = install(&author, &format!("{form} {more}")).exits(3);
            run.says(&format!("error received same {path} {received}"));
        }
    }
}

#[test]
fn a_link_inside_an_unpacked_package_is_refused() {
    let author = pushed();
    install(&author, "--unpacked").succeeds();
    let file = author.scene.path(UNPACKED).join("LICENSE");
    fs::rename(&file, author.scene.path("theirs")).unwrap();
    symlink(author.scene.path("theirs"), &file).unwrap();
    let run = install(&author, "--unpacked").exits(3);
    run.says(&format!(
        "error {UNPACKED} received {UNPACKED}/LICENSE link"
    ));
}

#[test]
fn a_dry_run_compares_an_installed_package_before_it_reports_it_present() {
    let author = pushed();
    install(&author, "--unpacked").succeeds();
    let run = || author.line(format!("{INSTALL} --unpacked --dry-run"));
    let about = "registry.opentofu.org/acme/demo 1.0.0";
    run().succeeds().says(&format!("Present {about} 1"));
    fs::write(author.scene.path(UNPACKED).join("LICENSE"), "another").unwrap();
    let run = author.untouched(run).exits(3);
    run.says(&format!("error {about} linux_amd64"));
}

#[test]
fn installed_files_are_writable_by_their_owner_only() {
    let author = pushed();
    let script = format!("umask 0; exec \"$0\" {INSTALL} -q");
    let words = ["-c", &script, env!("CARGO_BIN_EXE_tfoci")];
    author.scene.run("sh", words).succeeds();
    let mode = fs::metadata(author.scene.path(PACKED)).unwrap().mode();
    assert_eq!(mode & 0o7777, 0o644);
}

#[test]
fn links_and_pipes_are_refused_as_lock_files() {
    for (lock, run) in [
        (
            "store/registry.opentofu.org/acme/demo/.tfoci.lock",
            (|author| author.push("-q")) as fn(&Author) -> Run,
        ),
        ("out/.tfoci.lock", |author| install(author, "")),
    ] {
        let author = pushed();
        let path = author.scene.path(lock);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _nothing = fs::remove_file(&path);
        symlink(author.scene.path("elsewhere"), &path).unwrap();
        run(&author).exits(1).says(&format!("error {lock} links"));
        assert!(!author.scene.path("elsewhere").exists());
        fs::remove_file(&path).unwrap();
        make_pipe(&path);
        let facts = format!("error {lock}");
        run(&author).exits(1).says(&facts);
        let mut both = fs::File::options();
        let _reader = both.read(true).write(true).open(&path).unwrap();
        run(&author).exits(1);
    }
}

#[test]
fn pipes_without_a_writer_are_errors() {
    let author = Author::with_release();
    make_pipe(&author.scene.path("pipe"));
    let begun = Instant::now();
    for arguments in [
        "--key pipe",
        "--trust pipe",
        "--key acme.asc --ca-file pipe",
    ] {
        let run = author.push_unsigned(arguments).exits(1);
        run.says("error pipe 5");
    }
    assert!(begun.elapsed() < 3 * SOON);
    for name in [
        "terraform-provider-demo_1.0.0_linux_amd64.zip",
        "terraform-provider-demo_1.0.0_SHA256SUMS",
        "terraform-provider-demo_1.0.0_SHA256SUMS.sig",
        "terraform-provider-demo_1.0.0_manifest.json",
    ] {
        let author = Author::with_release();
        let path = author.scene.path("dist").join(name);
        fs::remove_file(&path).unwrap();
        make_pipe(&path);
        let facts = format!("error dist/{name} regular file");
        author.push("").exits(1).says(&facts);
    }
}

#[test]
fn a_key_can_be_read_from_a_pipe_of_a_program() {
    let author = Author::with_release();
    let script = "exec \"$0\" push dist --provider acme/demo --to oci-layout:store --key <(sleep 0.2; cat acme.asc)";
    let words = ["-c", script, env!("CARGO_BIN_EXE_tfoci")];
    author.scene.run("bash", words).succeeds();
}

#[test]
fn files_are_linked_only_if_no_other_user_can_write_to_them() {
    let name = "dist/terraform-provider-demo_1.0.0_linux_amd64.zip";
    let links = |change: &dyn Fn(&Path)| {
        let author = pushed();
        let zip = author.blob(&crate::support::judge::sha256(&author.scene.path(name)));
        change(&zip);
        let copy = "copy acme/demo --from oci-layout:store --to oci-layout:other -q";
        author.line(copy).succeeds();
        let other = "other/registry.opentofu.org/acme/demo/blobs/sha256";
        let other = author.scene.path(other).join(zip.file_name().unwrap());
        assert_eq!(fs::read(&other).unwrap(), fs::read(&zip).unwrap());
        // The copy has two links as well, since no other user can write to it.
        assert_eq!(fs::metadata(&other).unwrap().mode() & 0o022, 0);
        fs::metadata(&zip).unwrap().nlink()
    };
    assert_eq!(links(&|zip| set_mode(zip, 0o644)), 2);
    assert_eq!(links(&|zip| set_mode(zip, 0o600)), 2);
    assert_eq!(links(&|zip| set_mode(zip, 0o664)), 1);
    assert_eq!(links(&|zip| set_mode(zip, 0o646)), 1);
    // Only an administrator can give a file away.
    let can_give = |zip: &Path| chown(zip, Some(12_345), None).is_ok();
    let given = std::cell::Cell::new(false);
    let count = links(&|zip| given.set(can_give(zip)));
    assert_eq!(count, if given.get() { 1 } else { 2 });
}
