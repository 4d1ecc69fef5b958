use std::fs;
use std::path::Path;

use tfoci::platform::Platform;

use super::{DEMO, PROGRAMS, PUSH, Site, release};
use crate::clients::run;
use crate::install::Facts;
use crate::support::docker_registry::{Foreign, Options, PASSWORD, Program, USER};
use crate::support::programs::has;
use crate::support::scene::Run;
use crate::support::tls::{Authority, Identity};
use crate::support::token_server::TokenServer;

/// How the registry authenticates requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Open,
    Password,
    Tokens,
}

/// A running registry with its authentication.
struct House {
    registry: Foreign,
    _tokens: Option<TokenServer>,
    authority: Authority,
}

impl House {
    fn build(program: Program, door: Door) -> Option<Self> {
        let authority = Authority::new("tests");
        let identity: Identity = authority.server();
        let tokens = (door == Door::Tokens).then(|| TokenServer::start(Some(&identity)));
        let options = Options {
            tls: Some(&identity),
            password: door == Door::Password,
            open: None,
            tokens: tokens.as_ref(),
        };
        let registry = program.start(&options)?;
        Some(Self {
            registry,
            _tokens: tokens,
            authority,
        })
    }

    /// Every program with every authentication that it supports.
    fn all() -> impl Iterator<Item = (Self, Door)> {
        let doors = [
            (Program::DockerRegistry, Door::Open),
            (Program::DockerRegistry, Door::Password),
            (Program::DockerRegistry, Door::Tokens),
            (Program::Zot, Door::Open),
            (Program::Zot, Door::Password),
        ];
        let built = |(program, door)| Some((Self::build(program, door)?, door));
        doors.into_iter().filter_map(built)
    }

    /// A machine whose client mirrors from this registry, and nothing else.
    fn site(&self, door: Door) -> Site {
        let mut site = Site::trusting(&self.registry, &self.authority);
        let path = site.scene.path("ca.pem").display().to_string();
        site.scene = site.scene.env("SSL_CERT_FILE", &path);
        if door != Door::Open {
            site.login(PASSWORD).succeeds();
        }
        let template = format!(
            "{}/mirror/${{hostname}}/${{namespace}}/${{type}}",
            site.host
        );
        let print = site.scene.line(format!("cli-config --from {template}"));
        site.scene.write("client.tfrc", print.succeeds().stdout);
        let needs = format!(
            "terraform {{\n  required_providers {{\n    demo = {{\n      source = \"{DEMO}\"\n    }}\n  }}\n}}\n"
        );
        site.scene.write("project/main.tf", needs);
        site
    }
}

impl Site {
    fn init(&self) -> Run {
        let arguments = ["init", "-input=false", "-no-color"];
        run(&self.scene, &self.scene.path("project"), "tofu", arguments)
    }
}

fn here() -> String {
    Platform::current().to_string()
}

#[test]
fn tofu_installs_what_tfoci_pushed_and_locks_the_same_hashes() {
    if !has("tofu") {
        return;
    }
    for (house, door) in House::all() {
        let site = house.site(door);
        site.tfoci(PUSH).succeeds();
        site.init().succeeds();
        let installed = format!("project/.terraform/providers/{DEMO}/1.0.0/{}", here());
        let executable = Path::new(&installed).join("terraform-provider-demo_v1.0.0");
        assert!(site.scene.path(executable).is_file(), "{door:?}");
        let lock = fs::read_to_string(site.scene.path("project/.terraform.lock.hcl")).unwrap();
        let zip = format!("dist/terraform-provider-demo_1.0.0_{}.zip", here());
        let facts = Facts::of(&site.scene.path(zip));
        for hash in [facts.zh, facts.h1] {
            assert!(lock.contains(&format!("\"{hash}\"")), "{door:?}: {lock}");
        }
    }
}

#[test]
fn tofu_finds_the_newest_of_many_versions() {
    if !has("tofu") {
        return;
    }
    for program in PROGRAMS {
        let Some(house) = House::build(program, Door::Open) else {
            continue;
        };
        let site = house.site(Door::Open);
        for version in ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1+build.5"] {
            release(version).write(&site.scene.path(version));
            site.tfoci(&PUSH.replace(" dist ", &format!(" {version} ")))
                .succeeds();
        }
        site.init().succeeds();
        let lock = fs::read_to_string(site.scene.path("project/.terraform.lock.hcl")).unwrap();
        assert!(lock.contains("version = \"1.10.0\""), "{lock}");
    }
}

#[test]
fn one_configuration_works_for_tofu_and_tfoci() {
    if !has("tofu") {
        return;
    }
    for program in PROGRAMS {
        let Some(house) = House::build(program, Door::Password) else {
            continue;
        };
        let site = house.site(Door::Open);
        let mut block = fs::read_to_string(site.scene.path("client.tfrc")).unwrap();
        block += &format!(
            "oci_credentials \"{}/mirror\" {{\n  username = \"{USER}\"\n  password = \"{PASSWORD}\"\n}}\n",
            site.host
        );
        site.scene.write("client.tfrc", block);
        site.tfoci(PUSH).exits(1);
        site.tfoci(&format!("{PUSH} --cli-config client.tfrc"))
            .succeeds();
        site.init().succeeds();
    }
}
