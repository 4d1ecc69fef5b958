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
        let (tls, tokens_of) = (Some(&identity), tokens.as_ref());
        let options = Options {
            tls,
            password: door == Door::Password,
            open: None,
            tokens: tokens_of,
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
        let site = Site::trusting(&self.registry, &self.authority).for_tools();
        if door != Door::Open {
            site.login(PASSWORD).succeeds();
        }
        let from = format!(
            "{}/mirror/${{hostname}}/${{namespace}}/${{type}}",
            site.host
        );
        let print = site.scene.line(format!("cli-config --from {from}"));
        site.scene.write("client.tfrc", print.succeeds().stdout);
        site.needs_demo();
        site
    }
}

impl Site {
    /// Writes a project that needs [`DEMO`].
    pub fn needs_demo(&self) {
        let demo = format!("    demo = {{\n      source = \"{DEMO}\"\n    }}\n");
        let needs = format!("terraform {{\n  required_providers {{\n{demo}  }}\n}}\n");
        self.scene.write("project/main.tf", needs);
    }

    pub fn init(&self) -> Run {
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
            let push = PUSH.replace(" dist ", &format!(" {version} "));
            site.tfoci(&push).succeeds();
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
        let account = format!("  username = \"{USER}\"\n  password = \"{PASSWORD}\"\n");
        block += &format!("oci_credentials \"{}/mirror\" {{\n{account}}}\n", site.host);
        site.scene.write("client.tfrc", block);
        site.tfoci(PUSH).exits(1);
        let push = format!("{PUSH} --cli-config client.tfrc");
        site.tfoci(&push).succeeds();
        site.init().succeeds();
    }
}
