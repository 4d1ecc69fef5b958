//! The order of modules is the order of dependencies, and files stay small.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Pairs that stay strangers although the order would allow one to name the other.
const STRANGERS: [(&str, &str); 1] = [("store", "source")];

#[test]
fn a_module_names_only_modules_above_it() {
    let order = order(&fs::read_to_string("src/lib.rs").unwrap());
    let mut offences = Vec::new();
    for path in library_files() {
        offences.extend(offences_in(
            &order,
            &path,
            &fs::read_to_string(&path).unwrap(),
        ));
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn a_planted_upward_import_and_a_planted_stranger_are_found() {
    let order = order("pub mod digest;\n\npub mod trust;\n\npub mod source;\n\npub mod store;\n");
    let digest = Path::new("src/digest.rs");
    assert_eq!(
        offences_in(&order, digest, "use crate::trust::Rule;").len(),
        1
    );
    assert_eq!(
        offences_in(&order, digest, "fn f() -> crate::store::Error {}").len(),
        1
    );
    assert_eq!(
        offences_in(
            &order,
            Path::new("src/store/layout.rs"),
            "use crate::source::folder;"
        )
        .len(),
        1
    );
    assert_eq!(
        offences_in(
            &order,
            Path::new("src/store/layout.rs"),
            "use crate::{source, trust};"
        )
        .len(),
        1
    );
    assert!(
        offences_in(
            &order,
            Path::new("src/store/layout.rs"),
            "use crate::{digest, trust};"
        )
        .is_empty()
    );
    assert!(offences_in(&order, digest, "//! See [`crate::trust`].").is_empty());
}

#[test]
fn the_map_of_the_library_names_every_module_in_order() {
    let text = fs::read_to_string("src/lib.rs").unwrap();
    let map: String = text
        .lines()
        .filter(|line| line.starts_with("//! |"))
        .collect();
    let places: Vec<_> = names(&text)
        .iter()
        .map(|name| map.find(&format!("[`{name}`]")))
        .collect();
    assert!(places.iter().all(Option::is_some), "{places:?}");
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn files_stay_small_and_folders_shallow() {
    let mut lines: Vec<(usize, PathBuf)> = rust_files(Path::new("src"))
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), path))
        .collect();
    lines.sort();
    let (largest, path) = lines.last().unwrap();
    assert!(*largest <= 600, "{}: {largest} lines", path.display());
    let (ninth, path) = &lines[lines.len() * 9 / 10];
    assert!(
        *ninth <= 400,
        "{}: {ninth} lines, and a tenth of all files are longer",
        path.display()
    );
    let deep: Vec<_> = lines
        .iter()
        .filter(|(_, path)| path.components().count() > 4)
        .collect();
    assert!(deep.is_empty(), "{deep:?}");
}

/// Each module with its place in the list.
fn order(lib: &str) -> BTreeMap<String, usize> {
    names(lib)
        .into_iter()
        .enumerate()
        .map(|(place, name)| (name, place))
        .collect()
}

fn names(lib: &str) -> Vec<String> {
    lib.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn offences_in(order: &BTreeMap<String, usize>, path: &Path, text: &str) -> Vec<String> {
    let module = path
        .components()
        .nth(1)
        .unwrap()
        .as_os_str()
        .to_str()
        .unwrap();
    let module = module.trim_end_matches(".rs");
    let mut offences = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
    {
        for named in named(line) {
            let upward = order.get(&named) > order.get(module);
            let stranger = STRANGERS.iter().any(|(a, b)| *a == module && *b == named);
            if (upward || stranger) && named != module {
                offences.push(format!(
                    "{}:{}: {module} names {named}",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    offences
}

/// The modules that a line reaches for through `crate::`.
fn named(line: &str) -> Vec<String> {
    let word = |text: &str| {
        text.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    let mut found = Vec::new();
    for (_, rest) in line
        .match_indices("crate::")
        .map(|(place, path)| (place, &line[place + path.len()..]))
    {
        match rest.strip_prefix('{') {
            Some(list) => found.extend(list.split(',').map(|item| word(item.trim()))),
            None => found.push(word(rest)),
        }
    }
    found
}

/// Every file of the library: the terminal belongs to the executables, and tests of a module may look up.
fn library_files() -> impl Iterator<Item = PathBuf> {
    rust_files(Path::new("src")).filter(|path| {
        let text = path.to_str().unwrap();
        !text.starts_with("src/cli") && !text.ends_with("main.rs") && !text.ends_with("tests.rs")
    })
}

fn rust_files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let mut pending = vec![directory.to_owned()];
    let mut files = Vec::new();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.into_iter()
}
