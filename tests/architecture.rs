//! A module uses only modules above it in `src/lib.rs`, files of a folder form no dependency cycles, and rooms and files keep their budgets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use source::{Module, Sources, rust_files};

/// The brake: the lines of code of each room and file.
mod budget;
/// Modules, and the paths that files name.
pub mod source;

/// Pairs of modules: the first must not use the second, although the order would allow it.
const APART: [(&str, &str); 1] = [("store", "source")];

#[test]
fn a_module_names_only_modules_above_it() {
    let order = order(&fs::read_to_string("src/lib.rs").unwrap());
    let offences = upward(&order, &Sources::read(Path::new("src")));
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn every_spelling_of_an_upward_path_is_found() {
    let order = order("pub mod digest;\n\npub mod trust;\n\npub mod source;\n\npub mod store;\n");
    let offences = |path: &str, text: &str| {
        let others = [
            "src/digest.rs",
            "src/trust.rs",
            "src/source.rs",
            "src/store/mod.rs",
        ];
        let mut files: Vec<_> = others.into_iter().map(|other| (other, "")).collect();
        files.retain(|(other, _)| *other != path);
        files.push((path, text));
        upward(&order, &sources(&files))
    };
    let digest = "src/digest.rs";
    for text in [
        "use crate::trust::Rule;",
        "fn f() -> crate::store::Error {}",
        "use crate::{\n    digest,\n    trust::{Rule, Verified},\n};",
        "use crate::{trust as other};",
        "mod inner {\n    use super::super::trust;\n}",
        "fn f() {\n    println!(\"{}\", crate::store::NAME);\n}",
    ] {
        assert_eq!(offences(digest, text).len(), 1, "{text}");
    }
    for text in [
        "//! See [`crate::trust`].",
        "/// See [`crate::trust`].\nstruct Digest;",
        "const TEXT: &str = \"crate::trust\"; // crate::trust",
        "#[cfg(test)]\nmod tests {\n    use crate::trust;\n}",
    ] {
        assert_eq!(offences(digest, text), [""; 0], "{text}");
    }
    let layout = "src/store/layout.rs";
    assert_eq!(offences(layout, "use crate::source::folder;").len(), 1);
    assert_eq!(
        offences(layout, "use crate::{\n    source,\n    trust,\n};").len(),
        1
    );
    assert_eq!(offences(layout, "use crate::{digest, trust};"), [""; 0]);
}

#[test]
fn private_modules_have_a_place_in_the_order() {
    let lib =
        "//! This mod is documented;\n\npub mod json;\n\nmod plain;\n\npub(crate) mod toml;\n";
    assert_eq!(names(lib), ["json", "plain", "toml"]);
    let offences = |json: &str, plain: &str, toml: &str| {
        let files = [
            ("src/json.rs", json),
            ("src/plain.rs", plain),
            ("src/toml.rs", toml),
        ];
        upward(&order(lib), &sources(&files))
    };
    let uses = "use crate::plain;";
    assert_eq!(offences(uses, "", ""), ["src/json.rs:1: json names plain"]);
    assert_eq!(
        offences("", "use crate::toml;", ""),
        ["src/plain.rs:1: plain names toml"]
    );
    assert_eq!(offences("", "use crate::json;", uses), [""; 0]);
}

#[test]
fn files_of_a_folder_form_no_circle() {
    let offences = circles(&Sources::read(Path::new("src")));
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn every_spelling_of_a_circle_is_found() {
    let offences = |files: &[(&str, &str)]| circles(&sources(files)).len();
    let root = ("src/a/mod.rs", "mod x;\nmod y;\npub use y::Shown;");
    // Each of two files names the other.
    for (x, y) in [
        ("use super::y;", "use super::x;"),
        ("use super::y::Y;", "fn f() -> super::x::X {}"),
        (
            "use super::{\n    y::Y,\n};",
            "use crate::{\n    a::{\n        x,\n    },\n};",
        ),
        // Through a name of the folder's root.
        ("use super::Shown;", "use super::x::X;"),
        ("use crate::a::Shown as Other;", "use super::x::X;"),
    ] {
        let files = [root, ("src/a/x.rs", x), ("src/a/y.rs", y)];
        assert_eq!(offences(&files), 2, "{x} {y}");
        assert_eq!(offences(&files[..2]), 0, "{x}");
    }
    // Three files form a circle, one of them through a file below it.
    let three = [
        ("src/a/mod.rs", "mod x;\nmod y;\nmod z;"),
        ("src/a/x.rs", "use super::y;"),
        ("src/a/y/mod.rs", "mod deep;"),
        ("src/a/y/deep.rs", "use super::super::z;"),
        ("src/a/z.rs", "use super::x;"),
    ];
    assert_eq!(offences(&three), 3);
    // A file may name the root of its folder, the root may name its files, and unit tests may name anything.
    let right = [
        root,
        ("src/a/x.rs", "use super::Own;"),
        (
            "src/a/y.rs",
            "use super::x;\n#[cfg(test)]\nmod tests {\n    use crate::a::y;\n}",
        ),
    ];
    assert_eq!(offences(&right), 0);
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
        .map(|name| map.find(&format!("`{name}`")))
        .collect();
    assert!(places.iter().all(Option::is_some), "{places:?}");
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn folders_stay_shallow() {
    let files = rust_files(Path::new("src"));
    let deep = |path: &&PathBuf| path.components().count() > 4;
    let deep: Vec<_> = files.iter().filter(deep).collect();
    assert!(deep.is_empty(), "{deep:?}");
}

/// Each module with its place in the list.
fn order(lib: &str) -> BTreeMap<String, usize> {
    let places = names(lib).into_iter().enumerate();
    places.map(|(place, name)| (name, place)).collect()
}

/// The modules that the root of the library declares, public and private, in its order.
fn names(lib: &str) -> Vec<String> {
    lib.lines()
        .filter_map(|line| line.strip_suffix(';')?.split_once("mod "))
        .filter(|(before, _)| before.is_empty() || before.starts_with("pub"))
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// The places where a module of the library names one below it. The terminal, `src/cli`, is not of the library.
fn upward(order: &BTreeMap<String, usize>, sources: &Sources) -> Vec<String> {
    let mut offences = BTreeSet::new();
    for (mention, from, to) in sources.mentions() {
        let (Some(from), Some(to)) = (from.first(), to.first()) else {
            continue;
        };
        let is_upward = from != "cli" && order.get(to) > order.get(from);
        if is_upward || APART.contains(&(from.as_str(), to.as_str())) {
            let place = mention.file.display();
            offences.insert(format!("{place}:{}: {from} names {to}", mention.line));
        }
    }
    offences.into_iter().collect()
}

/// Two files of a folder, the first of which names the second, and where.
type Named = (String, String, String);

/// The places where a file names another file of its folder that leads back to it. Files below a file count as that file.
fn circles(sources: &Sources) -> Vec<String> {
    let mut folders: BTreeMap<Module, Vec<Named>> = BTreeMap::new();
    for (mention, from, to) in sources.mentions() {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        // In the crate's root, the order of modules already excludes circles.
        if let (1.., Some(a), Some(b)) = (shared, from.get(shared), to.get(shared)) {
            let place = format!("{}:{}", mention.file.display(), mention.line);
            let folder = folders.entry(to[..shared].to_vec()).or_default();
            folder.push((a.clone(), b.clone(), place));
        }
    }
    let mut offences = BTreeSet::new();
    for (folder, named) in folders {
        let folder = folder.join("::");
        for (a, b, place) in &named {
            if reaches(&named, b, a) {
                offences.insert(format!(
                    "{place}: in {folder}, {a} names {b}, which leads back to {a}"
                ));
            }
        }
    }
    offences.into_iter().collect()
}

/// Whether one file of a folder leads to another.
fn reaches(named: &[Named], from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut pending = vec![from];
    while let Some(at) = pending.pop() {
        for (a, b, _) in named {
            if a == at && seen.insert(b) {
                pending.push(b);
            }
        }
    }
    seen.contains(to)
}

fn sources(files: &[(&str, &str)]) -> Sources {
    let owned = |(path, text): &(&str, &str)| (PathBuf::from(path), (*text).to_owned());
    Sources::of(files.iter().map(owned))
}
