use std::fs;
use std::io::{Cursor, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{ALLOW, LINUX, demo, mirror_of};
use crate::mirror::origin_scene::OriginScene;
use crate::support::dice::Dice;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::release::ReleaseFolder;
use crate::support::signal::Target;

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "linux_arm64"];
const ALL: &str = "example.com/acme/p0@>=1 example.com/acme/p1@>=1 example.com/acme/p2@>=1";

/// The largest number of temporary files that a process has open at a request for a package.
#[derive(Clone, Default)]
struct Watch(Arc<Mutex<(Option<u32>, usize)>>);

impl Watch {
    fn over(scene: &OriginScene, directory: PathBuf) -> Self {
        let watch = Self::default();
        let looking = watch.clone();
        let look = Fault::after(move || looking.look(&directory));
        scene.origin.always(asks("package"), look);
        watch
    }

    fn look(&self, directory: &Path) {
        let mut state = self.0.lock().unwrap();
        let open = fs::read_dir(format!("/proc/{}/fd", state.0.unwrap())).unwrap();
        let files = open.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
        let there = files.filter(|file| file.starts_with(directory)).count();
        state.1 = state.1.max(there);
    }

    /// Runs a command to its end. Returns the largest number of files at once.
    fn run(&self, mut command: Command) -> usize {
        // Requests wait until the process id is known.
        let mut state = self.0.lock().unwrap();
        let child = command.spawn().unwrap();
        state.0 = Some(child.id());
        drop(state);
        let ended = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{stderr}");
        self.0.lock().unwrap().1
    }
}

/// A user with a directory for temporary files.
fn with_temporary_directory(providers: Vec<Provider>) -> (OriginScene, PathBuf) {
    let mut scene = mirror_of(providers);
    let directory = scene.path("tmp");
    fs::create_dir(&directory).unwrap();
    let directory = directory.canonicalize().unwrap();
    scene.scene = scene.scene.env("TMPDIR", directory.to_str().unwrap());
    (scene, directory)
}

fn command(scene: &OriginScene, arguments: &str) -> Command {
    let url = scene.origin.mirror_url();
    let to = "--ca-file ca.pem --to oci-layout:store";
    scene.piped(format!(
        "mirror {to} --from network-mirror:{url} {ALLOW} {arguments}"
    ))
}

/// Nine versions of three packages each, of three providers at once.
#[test]
fn temporary_files_are_few() {
    let (scene, directory) = with_temporary_directory(Provider::many(3, 3, &PLATFORMS));
    let watch = Watch::over(&scene, directory.clone());
    let most = watch.run(command(&scene, ALL));
    assert!((1..=4).contains(&most), "{most}");
    assert_eq!(scene.installs().len(), 27);
    // Once for its hash, and again for the upload.
    assert_eq!(scene.origin.count(asks("package")), 27 * 2);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

/// Sends a signal to a run that waits for the rest of a package. Returns its exit status and the number of files that are left.
fn stopped(signal: &'static str) -> (ExitStatus, usize) {
    let (scene, directory) = with_temporary_directory(vec![demo()]);
    let target = Target::default();
    let send = Fault::stall_body_after(target.hit(signal));
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    scene.origin.fault(2, asks("package"), send);
    scene.origin.always(asks("package"), Fault::Stall);
    let mut child = target.start(&mut command(&scene, "example.com/acme/demo"));
    let status = child.wait().unwrap();
    (status, fs::read_dir(&directory).unwrap().count())
}

#[test]
fn no_temporary_file_is_left_behind() {
    let (status, left) = stopped("KILL");
    assert_eq!((status.signal(), left), (Some(9), 0));
    let (status, left) = stopped("INT");
    assert_eq!((status.code(), left), (Some(130), 0));
}

#[test]
fn a_full_disk_is_named() {
    let noise = Dice::new(1).noise(1 << 20);
    let files = [("terraform-provider-demo_v1.0.0", &noise[..])];
    let folder = ReleaseFolder::new("demo", "1.0.0").package(LINUX, &files);
    let (scene, _) = with_temporary_directory(vec![Provider::new("acme/demo").release(folder)]);
    // No file of this process may have more than 512 or 1024 bytes.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let tfoci = command(&scene, "example.com/acme/demo");
    let mut shell = scene.command("sh");
    shell.args(["-c", limited, "sh"]).arg(tfoci.get_program());
    let output = shell.args(tfoci.get_args()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/tmp\n  File too large"), "{said}");
    assert!(scene.installs().is_empty());
}

/// A package that takes long to inflate.
fn large() -> Provider {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o755);
    zip.start_file("terraform-provider-demo_v1.0.0", options)
        .unwrap();
    // Keeps the rest below the limits of a zip.
    zip.write_all(&Dice::new(1).noise(3 << 20)).unwrap();
    let nothing = vec![0; 64 << 20];
    for name in ["1", "2", "3", "4", "5", "6"] {
        zip.start_file(name, options).unwrap();
        zip.write_all(&nothing).unwrap();
    }
    let zip = zip.finish().unwrap().into_inner();
    Provider::new("acme/demo").release(ReleaseFolder::new("demo", "1.0.0").zip(LINUX, &zip))
}

#[test]
fn an_inflating_package_does_not_block_the_others() {
    let other = Provider::new("acme/other").version("1.0.0", &[LINUX]);
    let (scene, _) = with_temporary_directory(vec![large(), other]);
    // Built before it is requested.
    scene.origin.zip("acme/demo", "1.0.0", LINUX);
    let others = asks("package acme/other");
    scene.origin.latency(others, Duration::from_millis(30));
    let run = command(&scene, "-v example.com/acme/demo example.com/acme/other").output();
    let stderr = String::from_utf8(run.unwrap().stderr).unwrap();
    let place = |text: &str| stderr.find(text).unwrap_or_else(|| panic!("{stderr}"));
    let copied = place("Copied example.com/acme/other 1.0.0");
    let accepted = place("Accepted example.com/acme/demo 1.0.0");
    assert!(copied < accepted, "{stderr}");
}
