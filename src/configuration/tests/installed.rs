//! Which modules are read, judging by `modules.json`.

use std::os::unix::fs::symlink;

use super::*;
use crate::error::printable_path;

pub(super) const REMOTE: &str = "git::https://example.com/net.git?ref=v1";

/// A module that requires `hashicorp/NAME`, and calls others, each as `NAME SOURCE`.
pub(super) fn module(name: &str, calls: &[(&str, &str)]) -> String {
    let calls = calls.iter();
    let calls = calls.map(|(name, source)| format!("module {name} {{\n source = {source}\n}}\n"));
    format!("provider {name:?} {{}}\n{}", calls.collect::<String>())
}

/// The text of `modules.json`, with entries of key, source and directory.
fn installed(entries: &[(&str, &str, &str)]) -> String {
    let entries = entries.iter().map(|(key, source, directory)| {
        format!(r#"{{"Key": "{key}", "Source": "{source}", "Dir": "{directory}"}}"#)
    });
    let entries: Vec<String> = entries.collect();
    format!(r#"{{"Modules": [{}]}}"#, entries.join(", "))
}

pub(super) const MODULES: &str = ".terraform/modules/modules.json";

pub(super) fn types(requirements: &Requirements) -> Vec<&str> {
    let providers = requirements.providers.keys();
    providers.map(ProviderAddr::type_name).collect()
}

/// As clients do.
#[test]
fn an_entry_decides_where_a_local_module_is() {
    let read = |source: &str, entry: (&str, &str)| {
        let home = tree(&[
            ("main.tf", &module("root", &[("m", source)])),
            ("good/a.tf", &module("good", &[])),
            ("evil/a.tf", &module("evil", &[])),
            (MODULES, &installed(&[("m", entry.0, entry.1)])),
        ]);
        types(&read(home.path()).unwrap()).join(" ")
    };
    for source in ["\"./good\"", "\".\\\\good\""] {
        for recorded in ["./good", "./evil/../good/"] {
            assert_eq!(read(source, (recorded, "evil")), "evil root");
        }
        assert_eq!(read(source, ("./good", "good")), "good root");
        // The client installs it anew.
        assert_eq!(read(source, ("./evil", "evil")), "good root");
        assert_eq!(read(source, ("./good", "gone")), "good root");
    }
}

/// Clients follow a link when they install a local module. The path of a recorded directory they take as text.
#[test]
fn a_recorded_directory_is_not_followed_through_links() {
    for (source, entries, wanted) in [
        ("./link", &[("m", "./link", "link")][..], "beside m root"),
        ("./real/m", &[("m", "./real/m", "link")], "beside m root"),
        // What clients write.
        ("./link", &[("m", "./link", "real/m")], "m root under"),
        ("./link", &[], "m root under"),
        // Clients install a module anew whose directory is gone.
        ("./link", &[("m", "./link", "gone")], "m root under"),
        (REMOTE, &[("m", REMOTE, "link")], "beside m root"),
        (REMOTE, &[("m", REMOTE, "real/m")], "m root under"),
    ] {
        let home = tree(&[
            ("main.tf", &module("root", &[("m", &format!("{source:?}"))])),
            ("real/m/a.tf", &module("m", &[("n", "\"../n\"")])),
            ("real/n/a.tf", &module("under", &[])),
            ("n/a.tf", &module("beside", &[])),
            (MODULES, &installed(entries)),
        ]);
        symlink("real/m", home.path().join("link")).unwrap();
        let found = read(home.path()).unwrap();
        assert_eq!(types(&found).join(" "), wanted, "{source} {entries:?}");
    }
}

/// The client forgets the modules below one that it installs anew.
#[test]
fn entries_below_a_module_without_its_own_do_not_count() {
    let files = |entries: &[(&str, &str, &str)]| {
        let home = tree(&[
            ("main.tf", &module("root", &[("m", "\"./m\"")])),
            ("m/a.tf", &module("m", &[("n", &format!("{REMOTE:?}"))])),
            ("net/a.tf", &module("net", &[])),
            (MODULES, &installed(entries)),
        ]);
        let found = read(home.path()).unwrap();
        types(&found).join(" ")
    };
    let net = ("m.n", REMOTE, "net");
    assert_eq!(files(&[("m", "./m", "m"), net]), "m net root");
    assert_eq!(files(&[("m", "./old", "m"), net]), "m root");
    assert_eq!(files(&[("m", "./m", "gone"), net]), "m root");
    assert_eq!(files(&[net]), "m root");
}

/// OpenTofu computes the source from a variable, which differs from call to call.
#[test]
fn a_directory_that_is_called_twice_is_walked_twice() {
    let d = "\"./d\"";
    for entries in [
        [("x.n", "./safe", "d/safe"), ("y.n", "./evil", "d/evil")],
        [("x.n", "./evil", "d/evil"), ("y.n", "./safe", "d/safe")],
    ] {
        let home = tree(&[
            ("main.tf", &module("root", &[("x", d), ("y", d)])),
            ("d/a.tf", &module("d", &[("n", "\"./${var.kind}\"")])),
            ("d/safe/a.tf", &module("safe", &[])),
            ("d/evil/a.tf", &module("evil", &[])),
            (
                MODULES,
                &installed(&[("x", "./d", "d"), ("y", "./d", "d"), entries[0], entries[1]]),
            ),
        ]);
        let found = read(home.path()).unwrap();
        assert_eq!(types(&found), ["d", "evil", "root", "safe"]);
    }
}

#[test]
fn a_walk_without_end_is_refused() {
    let chain = (0..20).map(|n| {
        let next = format!("\"../{}\"", n + 1);
        let calls = [("a", &*next), ("b", &*next)];
        (format!("{n}/a.tf"), module("root", &calls))
    });
    let mut chain: Vec<(String, String)> = chain.collect();
    chain.push(("20/a.tf".to_owned(), module("root", &[])));
    let files: Vec<(&str, &str)> = chain
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let circle = module("root", &[("m", "\"./\"")]);
    for (home, root, what) in [
        (tree(&files), "0", "10000 calls of modules"),
        (
            tree(&[("main.tf", &circle)]),
            "",
            "1024 bytes in the names of a chain of calls, as modules have that call each other in a circle",
        ),
    ] {
        let root = home.path().join(root);
        let error = read(&root).unwrap_err();
        let wanted = format!("{} has more than {what}", printable_path(&root));
        assert_eq!(error.to_string(), wanted);
    }
}

#[test]
fn a_list_of_modules_is_read_as_clients_read_it() {
    let entry = r#""Key": "m", "Source": "./m", "Dir": "net""#;
    for (text, wanted) in [
        (
            format!(r#"{{"Modules": [{{{entry}, "dir": "evil"}}]}}"#),
            None,
        ),
        (
            format!(r#"{{"Modules": [{{{entry}, "{}ource": "x"}}]}}"#, '\u{17f}'),
            None,
        ),
        (
            format!(r#"{{"modules": [{{{}}}]}}"#, entry.replace("Dir", "DIR")),
            Some("net root"),
        ),
        // Clients never write a member twice.
        (
            format!(r#"{{"Modules": [], "modules": [{{{entry}}}]}}"#),
            None,
        ),
        (
            format!(r#"{{"Modules": [{{{entry}, "Dir": "evil"}}]}}"#),
            None,
        ),
        ("{}".to_owned(), Some("m root")),
        ("{".to_owned(), None),
        (r#"{"Modules": {}}"#.to_owned(), None),
        (
            r#"{"Modules": [{"Key": 7, "Dir": "net"}]}"#.to_owned(),
            None,
        ),
        // Clients never write a path that has a shorter form.
        (
            r#"{"Modules": [{"Key": "m", "Dir": "ln/../m"}]}"#.to_owned(),
            None,
        ),
        (
            r#"{"Modules": [{"Key": "m", "Dir": "./m"}]}"#.to_owned(),
            None,
        ),
    ] {
        let home = tree(&[
            ("main.tf", &module("root", &[("m", "\"./m\"")])),
            ("m/a.tf", &module("m", &[])),
            ("net/a.tf", &module("net", &[])),
            ("evil/a.tf", &module("evil", &[])),
            (MODULES, &text),
        ]);
        let found = read(home.path());
        if let Err(error) = &found {
            assert!(matches!(error, Error::ModulesJson { .. }), "{text}");
        }
        let found = found.ok().map(|found| types(&found).join(" "));
        assert_eq!(found.as_deref(), wanted, "{text}");
    }
}
