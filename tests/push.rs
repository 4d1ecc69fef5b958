//! `tfoci push`: from a release folder into a layout.

use std::collections::BTreeSet;

mod evidence;
mod existing;
mod folder;
mod golden;
mod merge;
mod options;
mod refusals;
mod repair;

/// The result of `Author::installs` for one version and these platforms.
fn installed(version: &str, platforms: &[&str]) -> Vec<String> {
    let sorted: BTreeSet<String> = platforms
        .iter()
        .map(|platform| format!("{version} {platform}"))
        .collect();
    sorted.into_iter().collect()
}
