use std::fs;

use super::{INSTALL, NAME, PROGRAMS, PUSH, Site, VERSIONS, start};
use crate::support::docker_registry::{Options, PASSWORD, Program};
use crate::support::judge::sha256;
use crate::support::release::ReleaseFolder;
use crate::support::tls::Authority;

/// Pushes twice, lists, installs, and compares the result with the release.
pub(super) fn round_trip(site: &Site) {
    let pushed = site.tfoci(PUSH).succeeds();
    let reference = format!("[HOST]/{NAME}:1.0.0@sha256:");
    assert!(pushed.stdout.starts_with(&reference), "{}", pushed.stdout);
    let again = site.tfoci(PUSH).succeeds();
    assert_eq!(again.stdout, pushed.stdout);
    again.says("Pushed nothing 2 [TIME]");
    assert_eq!(site.tfoci(VERSIONS).succeeds().stdout, "1.0.0\n");
    site.tfoci(INSTALL).succeeds();
    let mirror = site.scene.path("providers/example.com/acme/demo");
    let installed = fs::read_dir(mirror).unwrap();
    let zips = installed.map(|entry| entry.unwrap().path());
    let zips = zips.filter(|path| path.extension().is_some_and(|end| end == "zip"));
    let zips: Vec<_> = zips.collect();
    assert_eq!(zips.len(), 2);
    for zip in zips {
        let released = site.scene.path("dist").join(zip.file_name().unwrap());
        assert_eq!(sha256(&released), sha256(&zip), "{}", zip.display());
    }
}

#[test]
fn registries_without_tls_and_passwords_work() {
    for program in PROGRAMS {
        if let Some(registry) = start(program, None, false) {
            round_trip(&Site::plain(&registry));
        }
    }
}

#[test]
fn an_authority_is_given_by_option_file_or_directory() {
    for program in PROGRAMS {
        let authority = Authority::new("tests");
        let Some(registry) = start(program, Some(&authority), false) else {
            continue;
        };
        round_trip(&Site::trusting(&registry, &authority));

        for (variable, name) in [("SSL_CERT_FILE", "ca.pem"), ("SSL_CERT_DIR", "authorities")] {
            let mut site = Site::trusting(&registry, &authority);
            site.network.clear();
            site.scene.write("authorities/tests.pem", &authority.pem);
            let path = site.scene.path(name).display().to_string();
            site.scene = site.scene.env(variable, &path);
            round_trip(&site);
        }
    }
}

#[test]
fn a_registry_with_an_unknown_authority_is_refused() {
    let authority = Authority::new("tests");
    let Some(registry) = start(Program::DockerRegistry, Some(&authority), true) else {
        return;
    };
    let stranger = Authority::new("another authority");
    let refused = Site::trusting(&registry, &stranger).tfoci(VERSIONS);
    refused.exits(1).says("error authority");
    let unheard = Site::plain(&registry).tfoci(VERSIONS).exits(1);
    unheard.tells("Client sent an HTTP request to an HTTPS server");
}

#[test]
fn login_stores_a_password_and_logout_removes_it() {
    for program in PROGRAMS {
        let authority = Authority::new("tests");
        let Some(registry) = start(program, Some(&authority), true) else {
            continue;
        };
        let site = Site::trusting(&registry, &authority);
        let refused = site.tfoci(VERSIONS).exits(1);
        refused.says("error tried no credentials");
        site.login("wrong").exits(1).tells("answered 401");
        site.keep("wrong");
        let refused = site.tfoci(VERSIONS).exits(1);
        refused.says("error tried [TMP]/.docker/config.json [HOST]");
        fs::remove_dir_all(site.scene.path(".docker")).unwrap();
        assert!(!site.scene.path(".docker").exists());
        site.login(PASSWORD).succeeds();
        round_trip(&site);
        site.tfoci("logout [HOST]").succeeds();
        site.tfoci(VERSIONS).exits(1);
    }
}

/// zot answers anonymous requests for the list with the public part.
#[test]
fn the_private_part_of_a_registry_is_listed_and_copied() {
    let options = Options {
        password: true,
        open: Some("mirror/example.com/open/**"),
        ..Options::default()
    };
    let Some(registry) = Program::Zot.start(&options) else {
        return;
    };
    let site = Site::plain(&registry);
    site.login("wrong").exits(1);
    let login = site.login(PASSWORD).succeeds();
    assert!(
        login.stderr.starts_with("     Login succeeded\n"),
        "{login:?}"
    );
    for namespace in ["open", "acme"] {
        let push = PUSH.replace("com/acme/", &format!("com/{namespace}/"));
        site.tfoci(&push).succeeds();
    }
    let from = "--from [HOST]/mirror/{hostname}/{namespace}/{type}";
    let list = || site.tfoci(&format!("list {from}"));
    let open = "example.com/open/demo\n";
    let both = format!("example.com/acme/demo\n{open}");
    assert_eq!(list().succeeds().stdout, both);
    let copy = site.tfoci(&format!("copy {from} --to oci-layout:copied"));
    assert_eq!(copy.succeeds().stdout.lines().count(), 2);
    site.keep("wrong");
    list().exits(1);
    fs::remove_dir_all(site.scene.path(".docker")).unwrap();
    assert_eq!(list().succeeds().stdout, open);
}

#[test]
fn a_push_stays_within_its_budget_of_requests() {
    let Some(registry) = start(Program::DockerRegistry, None, false) else {
        return;
    };
    let site = Site::plain(&registry);
    let platforms = "darwin_arm64 linux_386 linux_amd64 linux_arm64 windows_amd64";
    let platforms: Vec<&str> = platforms.split(' ').collect();
    let release = |version: &str| {
        let folder = ReleaseFolder::new("demo", version).each(&platforms);
        folder.write(&site.scene.path(version));
    };
    let push = |version: &str| {
        let before = registry.requests().len();
        let push = PUSH.replace(" dist ", &format!(" {version} "));
        site.tfoci(&push).succeeds();
        registry.requests().split_off(before)
    };
    release("1.0.0");
    let first = push("1.0.0");
    assert!(first.len() <= 3 * platforms.len() + 14, "{first:#?}");
    release("1.1.0");
    let second = push("1.1.0");
    assert!(second.len() <= 4 * platforms.len() + 14, "{second:#?}");
    let nothing = push("1.1.0");
    let is_by_digest = |line: &String| line.contains("/manifests/sha256:");
    let (manifests, others): (Vec<_>, Vec<_>) = nothing.into_iter().partition(is_by_digest);
    let expected = [
        "GET tags/list",
        "GET manifests/1.1.0",
        "HEAD manifests/evidence-1.1.0",
    ];
    let expected = expected.map(|what| what.replace(' ', &format!(" {NAME}/")) + " 200");
    assert_eq!(others, expected);
    assert_eq!(manifests.len(), platforms.len(), "{manifests:#?}");
}
