//! Hints about traps of a CLI configuration. They follow the trap on its line.

use tfoci::config::cli::TrapKind;
use tfoci::error::printable;

/// Suggests how to change the configuration, if there is one way to do it.
pub(in crate::cli) fn of(kind: &TrapKind) -> Option<String> {
    Some(match kind {
        TrapKind::Overlap { .. } => "name them in `exclude` of one".to_owned(),
        TrapKind::Spelling { hcl } => format!("write {}", printable(hcl)),
        TrapKind::Ports { .. } => "name it in `exclude`, and leave it to `direct`".to_owned(),
        TrapKind::NotForTerraform => {
            "`tfoci install --into DIR` writes a directory for `filesystem_mirror`".to_owned()
        }
        TrapKind::NoCredentials {
            unread: Some(_), ..
        } => "name the file in `docker_style_config_files` of a block `oci_default_credentials`"
            .to_owned(),
        TrapKind::NoCredentials { repository, .. } => {
            let (registry, _) = repository.host_and_name();
            format!("`tfoci login {registry}` stores some")
        }
        TrapKind::UnknownBlock { meant, .. }
        | TrapKind::UnknownArgument { meant, .. }
        | TrapKind::UnknownMethod { meant, .. } => format!("did you mean `{}`?", (*meant)?),
        _ => return None,
    })
}
