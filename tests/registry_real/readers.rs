use oci_client::Reference;
use tfoci::platform::Platform;

use super::{DEMO, INSTALL, NAME, PROGRAMS, PUSH, Site, release, secret, start};
use crate::clients::run;
use crate::support::docker_registry::{Foreign, Options, PASSWORD, Program};
use crate::support::judge;
use crate::support::layout::digest;
use crate::support::layout_of_registry::download;
use crate::support::programs::has;
use crate::support::scene::Run;
use crate::support::tamper;
use crate::support::tls::Authority;

/// For each installed registry, a site that pushed to it with TLS and a password.
fn pushed() -> impl Iterator<Item = (Foreign, Site)> {
    PROGRAMS.into_iter().filter_map(|program| {
        let authority = Authority::new("tests");
        let registry = start(program, Some(&authority), true)?;
        let site = Site::trusting(&registry, &authority).for_tools();
        site.keep(PASSWORD);
        site.tfoci(PUSH).succeeds();
        Some((registry, site))
    })
}

impl Site {
    /// Runs a tool with the words of a line, and asserts success.
    fn tool(&self, line: &str) -> Run {
        let line = line.replace("[HOST]", &self.host);
        let (program, arguments) = line.split_once(' ').unwrap();
        let directory = self.scene.path("");
        run(&self.scene, &directory, program, arguments.split(' ')).succeeds()
    }

    fn digest(&self) -> String {
        let pushed = self.tfoci(PUSH).succeeds().stdout;
        let (_, digest) = pushed.trim().split_once('@').unwrap();
        digest.to_owned()
    }
}

#[tokio::test]
async fn an_independent_client_reads_every_byte_and_an_independent_reader_installs() {
    for (_registry, site) in pushed() {
        let next = release("1.1.0-rc.1+build.5");
        next.write(&site.scene.path("next"));
        site.tfoci(&PUSH.replace(" dist ", " next ")).succeeds();
        let at: Reference = format!("{}/{NAME}", site.host).parse().unwrap();
        let layout = site.scene.path("read");
        download(&site.client(), &at, &secret(), &layout).await;
        let mut released = Vec::new();
        for (folder, version) in [("dist", "1.0.0"), ("next", "1.1.0-rc.1+build.5")] {
            for platform in [Platform::current().to_string(), "plan9_mips".to_owned()] {
                let zip = format!("{folder}/terraform-provider-demo_{version}_{platform}.zip");
                let zh = judge::sha256(&site.scene.path(zip));
                released.push(format!(" {version} {platform} zh:{zh}"));
            }
        }
        assert_eq!(judge::installs(&layout), released);
        tamper::tags(&layout, |tags| assert_eq!(tags.len(), 4));
    }
}

#[test]
fn registries_and_layouts_hold_the_same_bytes() {
    for (_registry, site) in pushed() {
        let (push, _) = PUSH.split_once(" --to ").unwrap();
        let pushed = site.tfoci(&format!("{push} --to oci-layout:store"));
        let pushed = pushed.succeeds().stdout;
        assert!(pushed.contains(&site.digest()), "{pushed}");
    }
}

#[tokio::test]
async fn a_copy_in_another_registry_is_the_same_to_the_byte() {
    for (_registry, site) in pushed() {
        let Some(other) = Program::DockerRegistry.start(&Options::default()) else {
            return;
        };
        let second = Site::plain(&other);
        let template = "mirror/{hostname}/{namespace}/{type}";
        let host = &second.host;
        let to = format!("--to {host}/{template} --plain-http {host}");
        let copy = format!("copy {DEMO} --from [HOST]/{template} {to}");
        site.tfoci(&copy).succeeds();
        let layouts = [&site, &second].map(|site| site.scene.path("read"));
        for (site, layout) in [&site, &second].into_iter().zip(&layouts) {
            let at: Reference = format!("{}/{NAME}", site.host).parse().unwrap();
            download(&site.client(), &at, &secret(), layout).await;
        }
        assert_eq!(judge::tree(&layouts[0]), judge::tree(&layouts[1]));
    }
}

#[test]
fn skopeo_reads_the_same_bytes_of_index_and_evidence() {
    if !has("skopeo") {
        return;
    }
    for (_registry, site) in pushed() {
        let inspect = "skopeo inspect --raw docker://[HOST]/mirror/example.com/acme/demo:";
        let raw = site.tool(&format!("{inspect}1.0.0")).stdout;
        assert_eq!(digest(raw.as_bytes()), site.digest());
        let evidence = site.tool(&format!("{inspect}evidence-1.0.0")).json();
        let artifact_type = &evidence["artifactType"];
        assert_eq!(artifact_type, "application/vnd.tfoci.evidence.v1");
    }
}

#[test]
fn skopeo_copies_one_platform_with_its_zip_and_the_evidence() {
    if !has("skopeo") {
        return;
    }
    for (_registry, site) in pushed() {
        let from = format!("--insecure-policy docker://[HOST]/{NAME}");
        let of = "--override-os plan9 --override-arch mips";
        site.tool(&format!("skopeo {of} copy {from}:1.0.0 dir:zip"));
        let released = "dist/terraform-provider-demo_1.0.0_plan9_mips.zip";
        let hex = judge::sha256(&site.scene.path(released));
        assert_eq!(judge::sha256(&site.scene.path("zip").join(&hex)), hex);

        site.tool(&format!("skopeo copy {from}:evidence-1.0.0 dir:evidence"));
        let name = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";
        for document in [name.to_owned(), format!("{name}.sig")] {
            let hex = judge::sha256(&site.scene.path(document));
            assert!(site.scene.path("evidence").join(hex).exists());
        }
    }
}

#[test]
fn oras_reads_the_same_bytes_and_pulls_the_zips() {
    if !has("oras") {
        return;
    }
    for (_registry, site) in pushed() {
        let fetch = format!("oras manifest fetch --ca-file ca.pem [HOST]/{NAME}:1.0.0");
        let raw = site.tool(&fetch).stdout;
        assert_eq!(digest(raw.as_bytes()), site.digest());
        for platform in [Platform::current().to_string(), "plan9_mips".to_owned()] {
            let of = platform.replace('_', "/");
            let pull = format!("oras pull --ca-file ca.pem --platform {of} --output pulled");
            site.tool(&format!("{pull} [HOST]/{NAME}:1.0.0"));
            let zip = format!("terraform-provider-demo_1.0.0_{platform}.zip");
            let [pulled, released] =
                ["pulled", "dist"].map(|folder| site.scene.path(folder).join(&zip));
            assert_eq!(judge::sha256(&pulled), judge::sha256(&released));
        }
    }
}

#[test]
fn tfoci_installs_from_a_repository_that_oras_copied() {
    if !has("oras") {
        return;
    }
    for (_registry, site) in pushed() {
        for tag in ["1.0.0", "evidence-1.0.0"] {
            let cp = "oras cp --from-ca-file ca.pem --to-ca-file ca.pem";
            site.tool(&format!(
                "{cp} [HOST]/{NAME}:{tag} [HOST]/copies/demo:{tag}"
            ));
        }
        // The copy installs as the original does, evidence included.
        let (template, copies) = ("mirror/{hostname}/{namespace}/{type}", "copies/demo");
        let install = INSTALL.replace(template, copies) + " --exact-repository";
        let installed = site.tfoci(&install).succeeds();
        installed.tells("\n Installed 1 version, 2 packages (");
    }
}
