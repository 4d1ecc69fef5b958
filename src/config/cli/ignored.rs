//! What clients ignore in a CLI configuration without a word: blocks and arguments that they do not know ([clients: CLI
//! configuration](crate::clients#cli-configuration)).

use crate::error::printable;
use crate::syntax::Section;

/// The blocks and arguments at the top that one of the clients knows.
const TOP: [&str; 13] = [
    "credentials",
    "credentials_helper",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "host",
    "oci_credentials",
    "oci_default_credentials",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "provider_installation",
    "providers",
    "provisioners",
    "registry_protocols",
];

const METHODS: [&str; 5] = [
    "dev_overrides",
    "direct",
    "filesystem_mirror",
    "network_mirror",
    "oci_mirror",
];

/// Something that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The line of the block or argument, from 1; unknown in JSON.
    pub line: Option<usize>,
    /// What it is.
    pub what: String,
}

/// What has no effect: unknown members at the top, and unknown installation methods. JSON has no comments but members that begin with `//`.
pub(super) fn ignored(root: &Section<'_>) -> Vec<Ignored> {
    let is_known =
        |name: &str| TOP.iter().any(|one| one.eq_ignore_ascii_case(name)) || name.starts_with("//");
    let unknown = root.all().filter(|member| !is_known(&member.name));
    let mut all: Vec<Ignored> = unknown
        .map(|member| Ignored {
            line: member.line,
            what: format!("`{}`", printable(&member.name)),
        })
        .collect();
    for installation in root.blocks("provider_installation", 0).unwrap_or_default() {
        let methods = installation.body.all_blocks().into_iter();
        let unknown = methods.filter(|block| !METHODS.contains(&block.name));
        all.extend(unknown.map(|block| Ignored {
            line: block.line,
            what: format!("the installation method `{}`", printable(block.name)),
        }));
    }
    all
}
