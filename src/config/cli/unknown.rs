//! What clients ignore in a CLI configuration without a word: names that they do not know, and credentials without a token
//! ([clients: CLI configuration](crate::clients#cli-configuration)).

use super::installation::METHODS;
use super::{Trap, TrapKind};
use crate::nearest::nearest;
use crate::syntax::{Block, Section, Value};

/// The top-level blocks and arguments that one of the clients knows.
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

/// The top-level arguments whose upper and lower case clients do not distinguish. They find the others by their exact names.
const ANY_CASE: [&str; 9] = [
    "credentials",
    "credentials_helper",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "host",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "providers",
    "provisioners",
];

/// The blocks whose arguments are checked, with the number of their labels, and their arguments.
const BLOCKS: [(&str, usize, &[&str]); 5] = [
    (
        "oci_credentials",
        1,
        &[
            "username",
            "password",
            "access_token",
            "refresh_token",
            "docker_credentials_helper",
        ],
    ),
    (
        "oci_default_credentials",
        0,
        &[
            "discover_ambient_credentials",
            "docker_style_config_files",
            "docker_credentials_helper",
        ],
    ),
    ("credentials_helper", 1, &["args"]),
    ("host", 1, &["services"]),
    (
        "registry_protocols",
        0,
        &["retry_count", "request_timeout_seconds"],
    ),
];

/// What clients ignore, in the order of the kinds of blocks.
pub(super) fn ignored(root: &Section) -> Vec<Trap> {
    let mut traps = top(root);
    for (name, labels, arguments) in BLOCKS {
        for block in root.blocks(name, labels).unwrap_or_default() {
            traps.extend(arguments_of(block.body, &block_name(&block), arguments));
        }
    }
    for block in root.blocks("credentials", 1).unwrap_or_default() {
        traps.extend(credentials(&block));
    }
    for installation in root.blocks("provider_installation", 0).unwrap_or_default() {
        let arguments = installation.body.all().filter(|member| !member.is_block());
        traps.extend(arguments.map(|member| Trap {
            line: member.line,
            kind: TrapKind::UnknownArgument {
                name: member.name.clone(),
                block: Some(installation.name.to_owned()),
                meant: None,
            },
        }));
        for block in installation.body.all_blocks() {
            let known = METHODS.iter().find(|(method, _)| *method == block.name);
            let known = known.map(|(_, arguments)| *arguments);
            traps.extend(
                known
                    .into_iter()
                    .flat_map(|arguments| arguments_of(block.body, block.name, arguments)),
            );
        }
    }
    traps
}

fn top(root: &Section) -> Vec<Trap> {
    let is_known = |name: &str| {
        let is_same = |known: &&str| known.eq_ignore_ascii_case(name);
        TOP.contains(&name) || ANY_CASE.iter().any(is_same)
    };
    let unknown = root.all().filter(|member| !is_known(&member.name));
    let unknown = unknown.filter(|member| !is_comment(&member.name));
    let traps = unknown.map(|member| {
        let name = member.name.clone();
        let meant = nearest(&name, &TOP);
        let block = None;
        Trap {
            line: member.line,
            kind: match member.is_block() {
                true => TrapKind::UnknownBlock { name, meant },
                false => TrapKind::UnknownArgument { name, block, meant },
            },
        }
    });
    traps.collect()
}

/// The unknown arguments of a block. Clients do not distinguish upper and lower case here.
fn arguments_of(body: &Section, block: &str, known: &'static [&'static str]) -> Vec<Trap> {
    let is_known = |name: &str| known.iter().any(|one| one.eq_ignore_ascii_case(name));
    let unknown = body.all().filter(|member| !is_known(&member.name));
    let unknown = unknown.filter(|member| !is_comment(&member.name));
    let traps = unknown.map(|member| Trap {
        line: member.line,
        kind: TrapKind::UnknownArgument {
            name: member.name.clone(),
            block: Some(block.to_owned()),
            meant: nearest(&member.name, known),
        },
    });
    traps.collect()
}

/// Other than elsewhere, clients look for `token` in exactly this spelling ([clients: host blocks](crate::clients#host-blocks)).
fn credentials(block: &Block<'_>) -> Vec<Trap> {
    let host = block.labels.first().copied().unwrap_or_default().to_owned();
    let others = block.body.all().filter(|member| member.name != "token");
    let others = others.filter(|member| !is_comment(&member.name));
    let mut traps: Vec<Trap> = others
        .map(|member| Trap {
            line: member.line,
            kind: TrapKind::UnknownArgument {
                name: member.name.clone(),
                block: Some(block_name(block)),
                meant: nearest(&member.name, &["token"]),
            },
        })
        .collect();
    let line = block.line;
    let kind = match block.body.value("token") {
        None => Some(TrapKind::NoToken { host }),
        Some(Value::Text(token)) if token.is_empty() => Some(TrapKind::EmptyToken { host }),
        Some(_) => None,
    };
    traps.extend(kind.map(|kind| Trap { line, kind }));
    traps
}

/// The block as a message names it, such as `credentials "example.com"`.
fn block_name(block: &Block<'_>) -> String {
    let labels = block.labels.iter().map(|label| format!(" \"{label}\""));
    labels.fold(block.name.to_owned(), |name, label| name + &label)
}

/// JSON has no other comments.
fn is_comment(name: &str) -> bool {
    name.starts_with("//")
}
