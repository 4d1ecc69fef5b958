//! The pages in `docs`: their commands run, their links lead somewhere, and they are short.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::copy;
use crate::support::scene::Scene;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The pages by name.
fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|one| one == "md"));
    pages
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The blocks of a page in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    let blocks = page.split(&*start).skip(1);
    blocks
        .map(|block| block.split("\n```").next().unwrap())
        .collect()
}

/// The commands of a page run one after the other, in a clone.
#[test]
fn commands_run() {
    let mut count = 0;
    for (name, page) in pages() {
        let scene = Scene::new();
        copy(
            &root().join("testdata/release"),
            &scene.path("testdata/release"),
        );
        let program = Path::new(env!("CARGO_BIN_EXE_tfoci")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", program.display());
        let scene = scene.env("PATH", &path);
        for block in blocks(&page, "sh") {
            let script = format!("set -eu\n{block}\n");
            let run = scene.run("sh", ["-c", &script]);
            assert_eq!(
                run.status,
                Some(0),
                "{name}:\n{block}\n{}{}",
                run.stdout,
                run.stderr
            );
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

/// Commands that need a network, a registry or a server are checked as far as their options go.
#[test]
fn options_exist() {
    let scene = Scene::new();
    let all = scene.tfoci(["help", "options"]).succeeds().stdout;
    for (name, page) in pages() {
        for block in blocks(&page, "console") {
            let block = block.replace("\\\n", " ");
            for line in block.lines().filter_map(|line| line.split_once("$ ")) {
                let words: Vec<&str> = line.1.split_whitespace().collect();
                // Variables may come before it.
                let Some(at) = words.iter().position(|word| !word.contains('=')) else {
                    continue;
                };
                if words[at] != "tfoci" {
                    continue;
                }
                let Some(command) = words.get(at + 1).filter(|word| !word.starts_with('-')) else {
                    continue;
                };
                let help = scene.tfoci([command, "--help"]).succeeds().stdout;
                let help = help + &all;
                for option in words.iter().filter(|word| word.starts_with("--")) {
                    assert!(help.contains(option), "{name}: {}: {option}", line.1);
                }
            }
        }
    }
}

#[test]
fn links_lead_to_pages() {
    let pages = pages();
    for (name, page) in &pages {
        for link in page.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap();
            let is_known = pages.contains_key(link) || root().join("docs").join(link).exists();
            assert!(is_known || link.starts_with("https://"), "{name}: {link}");
        }
    }
}

#[test]
fn pages_are_short() {
    let mut whole = 0;
    for (name, page) in pages() {
        let lines = page.lines().count();
        assert!(lines <= 150, "{name}: {lines}");
        whole += lines;
        for line in page.lines() {
            assert!(line.chars().count() <= 160, "{name}: {line}");
        }
    }
    assert!(whole <= 1500, "{whole}");
}
