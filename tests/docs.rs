//! The pages in `docs`: their commands run, their links lead somewhere, and they are short.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::help::listed;
use crate::readme::{blocks, pages};
use crate::support::copy;
use crate::support::scene::Scene;

/// The commands of a page run one after the other, in a clone.
#[test]
fn commands_run() {
    let mut count = 0;
    for (name, page) in pages() {
        let scene = Scene::new();
        let release = Path::new("testdata/release");
        copy(release, &scene.path(release));
        let program = Path::new(env!("CARGO_BIN_EXE_tfoci")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", program.display());
        let scene = scene.env("PATH", &path);
        for block in blocks(&page, "sh") {
            let script = format!("set -eu\n{block}\n");
            let run = scene.run("sh", ["-c", &script]);
            assert_eq!(run.status, Some(0), "{name}:\n{block}\n{run:?}");
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

/// The options of other programs in these texts.
const FOREIGN: &str = "--git --locked --release --proto --rm --version";

/// The README, the page about deployment and the templates of the chart are for several commands.
#[test]
fn options_in_other_texts_exist() {
    let scene = Scene::new();
    let help = |words: &str| scene.line(words).succeeds().stdout;
    let commands = listed(&help("--help"), "Commands:");
    let commands = commands.iter();
    let all = commands.map(|command| help(&format!("{command} --help")));
    let all = all.collect::<String>() + &help("help options");
    let is_of_option = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
    // Every word that begins with two hyphens.
    let options = |text: &str| -> BTreeSet<String> {
        let words = text.split(|one| !is_of_option(one));
        let is_option =
            |word: &&str| word.starts_with("--") && !word.starts_with("---") && word.len() > 3;
        words.filter(is_option).map(str::to_owned).collect()
    };
    let known = options(&all);
    let chart = ["_helpers.tpl", "deployment.yaml", "jobs.yaml"];
    let chart = chart.map(|name| fs::read_to_string(format!("packaging/chart/templates/{name}")));
    for (text, least) in [
        (fs::read_to_string("README.md").unwrap(), 5),
        (help("help deployment"), 10),
        (chart.map(Result::unwrap).concat(), 6),
    ] {
        let options = options(&text);
        assert!(options.len() > least, "{options:?}");
        for option in options {
            let is_foreign = FOREIGN.split(' ').any(|other| other == option);
            assert!(is_foreign || known.contains(&option), "{option}");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let readme = fs::read_to_string("README.md").unwrap();
    let pictures = readme.split("src").skip(1);
    let pictures = pictures.filter_map(|rest| rest.split('"').nth(1));
    let pictures: String = pictures.map(|path| format!("]({path})")).collect();
    let mut count = 0;
    let all = pages()
        .into_iter()
        .chain([("../README.md".to_owned(), readme + &pictures)]);
    for (name, page) in all {
        let beside = Path::new("docs").join(&name);
        for link in page.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap();
            let is_known = link.is_empty() || beside.with_file_name(link).exists();
            assert!(is_known || link.starts_with("https://"), "{name}: {link}");
            count += 1;
        }
    }
    assert!(count > 25, "{count}");
}

#[test]
fn pages_are_short() {
    let readme = fs::read_to_string("README.md").unwrap();
    let mut whole = 0;
    let of_docs = pages()
        .into_iter()
        .map(|(name, page)| (name, page, 150, 160));
    for (name, page, height, width) in of_docs.chain([("README".to_owned(), readme, 130, 120)]) {
        let lines = page.lines().count();
        assert!(lines <= height, "{name}: {lines}");
        whole += lines;
        for line in page.lines() {
            assert!(line.chars().count() <= width, "{name}: {line}");
        }
    }
    assert!(whole <= 1500 + 130, "{whole}");
}
