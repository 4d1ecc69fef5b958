use std::collections::BTreeSet;

use super::{INSTALL, PUSH, Site, start};
use crate::support::docker_registry::Program;
use crate::support::origin::{Origin, Provider};
use crate::support::tls::Authority;

/// The collector of version 2.8 with `--delete-untagged` deletes what an index refers to, and leaves the index.
#[test]
fn what_the_collector_deletes_is_written_again() {
    let authority = Authority::shared();
    let Some(registry) = start(Program::DockerRegistry, Some(authority), false) else {
        return;
    };
    let site = Site::trusting(&registry, authority).for_tools();
    let platforms = ["linux_amd64", "darwin_arm64"];
    let origin = Origin::of([Provider::demo(&platforms).version("1.1.0", &platforms)]);
    origin.write_ca(&site.scene);
    let demo = origin.address("acme/demo");
    let to = "[HOST]/{namespace}/{type}";
    let mirror = format!("mirror {demo}@>=1.0.0 --to {to}");
    let install = format!("install {demo}@1.1.0 --from {to} --into fresh --platform all");
    site.tfoci(&mirror).succeeds();
    // `verify` names every manifest that is lost, and the command that heals it.
    let verify = format!("verify {demo} --from {to} --format json");
    site.tfoci(&verify).succeeds();
    registry.collect_untagged();
    site.tfoci(&install).exits(1);
    let document = site.tfoci(&verify).exits(1).json();
    let findings = document["findings"].as_array().unwrap().iter();
    let lost = findings.filter(|one| one["code"] == "child-missing");
    let lost = lost.map(|one| ["version", "platform"].map(|name| one[name].as_str().unwrap()));
    let all = ["1.0.0", "1.1.0"].into_iter();
    let all = all.flat_map(|version| platforms.map(|platform| [version, platform]));
    assert_eq!(lost.collect::<BTreeSet<_>>(), all.collect());
    let findings = document["findings"].as_array().unwrap().iter();
    let fixes = findings.filter_map(|one| one["fix"]["command"].as_str());
    for fix in fixes.collect::<BTreeSet<_>>() {
        let words = fix.strip_prefix("tfoci ").unwrap();
        let words = words.replace("[HOST]", &site.host);
        let line = format!("'{}' {words}", env!("CARGO_BIN_EXE_tfoci"));
        site.scene.run("sh", ["-c", &line]).succeeds();
    }
    site.tfoci(&verify).succeeds();
    site.tfoci(&install).succeeds();
    site.tfoci(&mirror).succeeds().tells("Mirrored nothing: ");

    site.tfoci(PUSH).succeeds();
    registry.collect_untagged();
    site.tfoci(INSTALL).exits(1);
    site.tfoci(PUSH).succeeds();
    site.tfoci(INSTALL).succeeds();
}
