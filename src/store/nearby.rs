//! What is near a directory: above it, or a layout that was probably meant by it.

use std::path::{Path, PathBuf};

use crate::oci::Repository;

/// Whether a directory exists, or the one above it, in which it can be made. Both are missing where a disk is not mounted.
pub(super) fn exists_or_can_be_made(directory: &Path) -> bool {
    let above = directory.parent().unwrap_or(directory);
    above.as_os_str().is_empty() || above.exists() || directory.exists()
}

/// The directory of layouts that is probably meant by this one: a provider's layout lies three levels below it.
pub(super) fn store_near(directory: &Path) -> Option<PathBuf> {
    let layout = layout_below(directory, 4, &mut 1_000)?;
    let meant = layout.ancestors().nth(3)?;
    // A layout in another place is that of another tool, and says nothing about the directories above it. Hosts have a dot or a port.
    let below = layout.strip_prefix(meant).ok()?.to_str()?;
    Repository::of_directory(below)?.provider()?;
    let (host, _) = below.split_once('/')?;
    if !host.contains(['.', '_']) {
        return None;
    }
    Some(match meant.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => meant.to_owned(),
    })
}

/// The first OCI layout at most `levels` below a directory, among as many entries as `left` says.
fn layout_below(directory: &Path, levels: usize, left: &mut usize) -> Option<PathBuf> {
    if directory.join("oci-layout").exists() {
        return Some(directory.to_owned());
    }
    let entries = match levels {
        0 => return None,
        _ => std::fs::read_dir(directory).ok()?,
    };
    for entry in entries.flatten() {
        *left = left.checked_sub(1)?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && let Some(found) = layout_below(&entry.path(), levels - 1, left) {
            return Some(found);
        }
    }
    None
}
