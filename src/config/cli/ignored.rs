//! What clients ignore in a CLI configuration without a word: blocks and arguments that they do not know ([clients: CLI
//! configuration](crate::clients#cli-configuration)).

use crate::error::printable;
use crate::syntax::{Member, Section};

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

/// The blocks that clients find by their exact names. They do not distinguish upper and lower case in any other name.
const EXACT: [&str; 4] = [
    "oci_credentials",
    "oci_default_credentials",
    "provider_installation",
    "registry_protocols",
];

/// The installation methods and their arguments.
const METHODS: [(&str, &[&str]); 4] = [
    ("direct", &["include", "exclude", "download_retry_count"]),
    ("filesystem_mirror", &["path", "include", "exclude"]),
    (
        "network_mirror",
        &["url", "include", "exclude", "download_retry_count"],
    ),
    ("oci_mirror", &["repository_template", "include", "exclude"]),
];

/// Something that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The line of the block or argument, from 1; unknown in JSON.
    pub line: Option<usize>,
    /// What it is.
    pub what: String,
}

/// What has no effect, in the order of the kinds of blocks.
pub(super) fn ignored(root: &Section<'_>) -> Vec<Ignored> {
    let mut all = unknown(root.all(), "", &TOP);
    for installation in root.blocks("provider_installation", 0).unwrap_or_default() {
        let arguments = installation.body.all().filter(|member| !member.is_block());
        all.extend(unknown(arguments, installation.name, &[]));
        for block in installation.body.all_blocks() {
            let known = METHODS.iter().find(|(method, _)| *method == block.name);
            match known {
                Some((name, arguments)) => all.extend(unknown(block.body.all(), name, arguments)),
                None if block.name == "dev_overrides" => {}
                None => all.push(Ignored {
                    line: block.line,
                    what: format!("the installation method `{}`", printable(block.name)),
                }),
            }
        }
    }
    all
}

/// The unknown members of a block; `block` is empty for those at the top. JSON has no comments but members that begin with `//`.
fn unknown<'a>(
    members: impl Iterator<Item = &'a Member<'a>>,
    block: &str,
    known: &[&str],
) -> Vec<Ignored> {
    let is_known = |name: &str| {
        let is_exact = EXACT.contains(&&*name.to_ascii_lowercase());
        let is_same = |one: &&str| *one == name || !is_exact && one.eq_ignore_ascii_case(name);
        known.iter().any(is_same) || name.starts_with("//")
    };
    let of = match block {
        "" => String::new(),
        block => format!(" of `{block}`"),
    };
    let unknown = members.filter(|member| !is_known(&member.name));
    let all = unknown.map(|member| Ignored {
        line: member.line,
        what: format!("`{}`{of}", printable(&member.name)),
    });
    all.collect()
}
