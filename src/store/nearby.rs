//! Looks for a layout near a directory that has none, so that an error can say which directory was probably meant.

use std::path::{Path, PathBuf};

/// The first OCI layout at most `levels` below a directory, among as many entries as `left` says.
pub(super) fn layout_below(directory: &Path, levels: usize, left: &mut usize) -> Option<PathBuf> {
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
