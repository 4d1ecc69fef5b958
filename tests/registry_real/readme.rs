use std::fs;
use std::path::Path;
use std::process::Command;

use super::{PROGRAMS, Site, start};
use crate::readme::{block, commands};
use crate::support::docker_registry::{PASSWORD, Program, USER};
use crate::support::programs::has;
use crate::support::tls::Authority;
use crate::support::{copy, testdata};

/// The registry and the user name in the guides.
const HOST: &str = "ghcr.io";
const LOGIN: &str = "acme-bot";

/// A text of the guides, for the site's registry and its user.
fn for_site(site: &Site, text: &str) -> String {
    assert!(text.contains(HOST), "{text}");
    text.replace(HOST, &site.host).replace(LOGIN, USER)
}

/// A shell in the scene, which finds `tfoci`.
fn shell(site: &Site) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_tfoci")).parent().unwrap();
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(programs);
    let mut shell = site.scene.command("sh");
    shell.env("PATH", path);
    shell
}

/// The site of a reader of the guides, with a registry that requires a password.
fn reader(program: Program) -> Option<(impl Drop, Site)> {
    let authority = Authority::new("tests");
    let registry = start(program, Some(&authority), true)?;
    let site = Site::trusting(&registry, &authority).for_tools();
    fs::remove_dir_all(site.scene.path("dist")).unwrap();
    copy(&testdata("release"), &site.scene.path("dist"));
    copy(&testdata("release"), &site.scene.path(""));
    site.scene.write("token.txt", PASSWORD);
    Some((registry, site))
}

#[test]
fn commands_of_the_guide_push_to_a_registry_and_its_block_installs_from_it() {
    for program in PROGRAMS {
        let Some((_registry, site)) = reader(program) else {
            continue;
        };
        let commands = commands("--password-stdin < token.txt").join("\n");
        let commands = for_site(&site, &commands);
        let output = shell(&site).args(["-euc", &commands]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}{said}");
        let pushed = String::from_utf8_lossy(&output.stdout);
        assert!(
            pushed.contains("/example.com/acme/demo:1.0.0@sha256:"),
            "{pushed}{said}"
        );
        assert_eq!(pushed.lines().count(), 1, "{pushed}{said}");
        let released = "darwin_arm64 linux_amd64 linux_arm64 windows_amd64";
        let here = tfoci::platform::Platform::current().to_string();
        if !has("tofu") || !released.split(' ').any(|one| one == here) {
            continue;
        }
        let installation = for_site(&site, &block("hcl", "include             = "));
        site.scene.write("client.tfrc", installation);
        site.needs_demo();
        site.init().succeeds();
    }
}
