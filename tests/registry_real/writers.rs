use std::thread;

use tfoci::platform::Platform;

use super::{PROGRAMS, Site, release, start};

/// Writers of one version take turns of some milliseconds: without a check after the last of them, every fifth round loses a platform.
const ROUNDS: usize = 4;

/// As the jobs of a matrix do, each of which pushes the package of its platform. docker-registry ignores `If-Match`.
#[test]
fn jobs_that_push_one_version_at_once_lose_no_platform() {
    for program in PROGRAMS {
        let Some(registry) = start(program, None, false) else {
            continue;
        };
        let site = Site::plain(&registry);
        let race = |round: usize| {
            let version = format!("1.0.{round}");
            let folder = format!("dist-{round}");
            release(&version).write(&site.scene.path(&folder));
            let push = |platform: &str| {
                let to = "--to [HOST]/mirror/{hostname}/{namespace}/{type}";
                let what = format!("push {folder} --provider example.com/acme/demo --key acme.asc");
                site.tfoci(&format!("{what} --platform {platform} {to}"))
            };
            let (first, second) = (Platform::current().to_string(), "plan9_mips");
            thread::scope(|scope| {
                let other = scope.spawn(|| push(&first));
                push(second).succeeds();
                other.join().unwrap().succeeds();
            });
            let from = "--from [HOST]/mirror/{hostname}/{namespace}/{type}";
            let inspect = format!("inspect example.com/acme/demo@{version} --key acme.asc {from}");
            let inspected = site.tfoci(&inspect).succeeds().stdout;
            let lines = inspected.lines();
            let packages = lines.filter(|line| line.starts_with("package "));
            assert_eq!(packages.count(), 2, "{program:?}, {version}: {inspected}");
        };
        // Several at the same time, since each mostly waits.
        thread::scope(|scope| {
            for round in 0..ROUNDS {
                scope.spawn(move || race(round));
            }
        });
    }
}
