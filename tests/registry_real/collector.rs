use super::{INSTALL, PUSH, Site};
use crate::support::docker_registry::{Options, Program};
use crate::support::origin::{Origin, Provider};

/// The collector of version 2.8 with `--delete-untagged` deletes what an index refers to, and leaves the index.
#[test]
fn what_the_collector_deletes_is_written_again() {
    let Some(registry) = Program::DockerRegistry.start(&Options::default()) else {
        return;
    };
    let site = Site::plain(&registry);
    let platforms = ["linux_amd64", "darwin_arm64"];
    let origin = Origin::of([Provider::demo(&platforms).version("1.1.0", &platforms)]);
    origin.write_ca(&site.scene);
    let demo = origin.address("acme/demo");
    let to = "[HOST]/{namespace}/{type}";
    let mirror = format!("mirror {demo}@>=1.0.0 --ca-file ca.pem --to {to}");
    let install = format!("install {demo}@1.1.0 --from {to} --into fresh --platform all");
    site.tfoci(&mirror).succeeds();
    registry.collect_untagged();
    site.tfoci(&install).exits(1);
    let said = site.tfoci(&mirror).succeeds().stderr;
    assert_eq!(said.matches("   Updated ").count(), 2, "{said}");
    site.tfoci(&install).succeeds();
    let said = site.tfoci(&mirror).succeeds().stderr;
    assert!(said.contains("Mirrored nothing: "), "{said}");

    site.tfoci(PUSH).succeeds();
    registry.collect_untagged();
    site.tfoci(INSTALL).exits(1);
    site.tfoci(PUSH).succeeds();
    site.tfoci(INSTALL).succeeds();
}
