//! Commands, options, platforms and versions as other tools write them.

use super::{Case, check};
use crate::support::author::Author;

const NOTHING: fn(&Author) = |_| {};

#[test]
fn spellings_of_other_tools() {
    check(&[
        Case {
            label: "a version as of a container image",
            given: NOTHING,
            arguments: "mirror hashicorp/random:3.6.0 --to oci-layout:store",
            exit: 2,
            says: r"
error: `hashicorp/random:3.6.0`: a version is written after `@`
  expected hashicorp/random@3.6.0
",
        },
        Case {
            label: "the same with a host",
            given: NOTHING,
            arguments: "inspect example.com/acme/demo:1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: `example.com/acme/demo:1.0.0`: a version is written after `@`
  expected example.com/acme/demo@1.0.0
",
        },
        Case {
            label: "a relative path as store",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to ./mirror",
            exit: 2,
            says: r"
error: `./mirror` is not a store
  expected oci-layout:./mirror for a directory, or REGISTRY/REPOSITORY for a registry
",
        },
        Case {
            label: "an absolute path as store",
            given: NOTHING,
            arguments: "versions acme/demo --from /srv/mirror",
            exit: 2,
            says: r"
error: `/srv/mirror` is not a store
  expected oci-layout:/srv/mirror for a directory, or REGISTRY/REPOSITORY for a registry
",
        },
    ]);
}

#[test]
fn platforms_by_the_names_of_other_tools() {
    let pushed: fn(&Author) = Author::with_pushed;
    check(&[
        Case {
            label: "two underscores",
            given: NOTHING,
            arguments: "install acme/demo --from oci-layout:store --into out --platform linux_x86_64",
            exit: 2,
            says: r"
error: `linux_x86_64` is not a platform: expected linux_amd64
",
        },
        Case {
            label: "a dash",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to oci-layout:store --platform win-x64",
            exit: 2,
            says: r"
error: invalid value 'win-x64' for '--platform <OS_ARCH>': `win-x64` is not a platform: expected windows_amd64

For more information, try '--help'.
",
        },
        Case {
            label: "a system of another name",
            given: pushed,
            arguments: "install acme/demo --from oci-layout:store --into out --platform macos_arm64",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform macos_arm64 is missing
  has darwin_arm64, linux_amd64

hint: did you mean the platform `darwin_arm64`?
",
        },
        Case {
            label: "an architecture of another name",
            given: pushed,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store --platform linux_aarch64",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no zip for this platform
  expected linux_aarch64
  has darwin_arm64, linux_amd64

hint: did you mean the platform `linux_arm64`?
",
        },
    ]);
}

#[test]
fn completion_is_completions() {
    let author = Author::new();
    let [one, other] = ["completion", "completions"].map(|name| author.tfoci(&[name, "bash"]));
    assert_eq!(one.succeeds().stdout, other.succeeds().stdout);
}
