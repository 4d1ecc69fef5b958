//! `tfoci push`: from a release folder into a layout.

use serde_json::Value;

use crate::support::author::Author;

mod evidence;
mod existing;
mod folder;
mod golden;
mod merge;
mod options;
mod refusals;
mod repair;

/// What a push says about its version.
#[track_caller]
fn pushed(author: &Author, more: &str) -> Value {
    let run = author.push(format!("--format json {more}")).succeeds();
    run.json()["providers"][0].clone()
}

/// The result of `Author::installs` for one version and these platforms.
fn installed(version: &str, platforms: &[&str]) -> Vec<String> {
    let lines = platforms
        .iter()
        .map(|platform| format!("{version} {platform}"));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}
