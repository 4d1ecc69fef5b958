mod belongs;
mod installed;

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::error::{Category, printable_path};

pub(super) fn tree(files: &[(&str, &str)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    home
}

pub(super) fn read(root: &Path) -> Result<Requirements, Error> {
    Requirements::read(root, &read_as(None))
}

pub(super) fn read_as(client: Option<Client>) -> ReadAs {
    ReadAs {
        client,
        default_host: Hostname::default_origin(),
        data: ".terraform".into(),
    }
}

fn providers(requirements: &Requirements) -> Vec<String> {
    let providers = requirements.providers.iter();
    providers
        .map(|(provider, constraints)| format!("{provider} {constraints}"))
        .collect()
}

fn requiring(constraint: &str, calls: &[&str]) -> String {
    let calls = calls.iter().enumerate();
    let calls: String = calls
        .map(|(n, source)| format!("module \"m{n}\" {{ source = \"{source}\" }}\n"))
        .collect();
    format!("terraform {{\n required_providers {{\n a = \"{constraint}\"\n }}\n}}\n{calls}")
}

#[test]
fn modules_of_one_configuration_are_read_once_each() {
    let home = tree(&[
        (
            "root/main.tf",
            &requiring(
                ">= 1",
                &["./near", "../beside", "acme/far/aws", "./near/../near"],
            ),
        ),
        ("root/near/x.tf", &requiring("< 3", &["../../beside/"])),
        ("root/near/x.tf.d/y.tf", "not read"),
        ("root/not-called/x.tf", "nonsense"),
        (
            "beside/x.tofu",
            &requiring("!= 2", &["git::https://example.com/x.git"]),
        ),
        ("beside/x.tf", "nonsense"),
    ]);
    fs::create_dir(home.path().join("beside/directory.tf")).unwrap();
    let requirements = read(&home.path().join("root")).unwrap();
    assert_eq!(
        providers(&requirements),
        ["registry.opentofu.org/hashicorp/a >= 1.0.0, != 2.0.0, < 3.0.0"]
    );
    let wanted = ["acme/far/aws", "git::https://example.com/x.git"].map(str::to_owned);
    assert_eq!(requirements.not_followed, wanted.into());
}

#[test]
fn links_are_followed_as_clients_do() {
    let home = tree(&[
        ("root/main.tf", &requiring(">= 1", &["./link"])),
        ("root/other/x.tf", "nonsense"),
        ("elsewhere/module/x.tf", &requiring("!= 2", &["../other"])),
        ("elsewhere/other/x.tf", &requiring("< 3", &[])),
    ]);
    let path = |path: &str| home.path().join(path);
    symlink("../elsewhere/module", path("root/link")).unwrap();
    let requirements = read(&path("root")).unwrap();
    assert_eq!(
        providers(&requirements),
        ["registry.opentofu.org/hashicorp/a >= 1.0.0, != 2.0.0, < 3.0.0"]
    );
}

/// Clients read it, and tfoci names files as text.
#[test]
#[cfg(target_os = "linux")]
fn a_file_name_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = tree(&[("main.tf", &requiring("1.0.0", &[]))]);
    let odd = |name: &[u8]| home.path().join(std::ffi::OsStr::from_bytes(name));
    fs::write(odd(b"e\xff.txt"), "").unwrap();
    read(home.path()).unwrap();
    fs::write(odd(b"e\xff.tf"), "").unwrap();
    let said = read(home.path()).unwrap_err().to_string();
    assert!(said.contains(&printable_path(&odd(b"e\xff.tf"))), "{said}");
}

#[test]
fn the_client_that_wrote_the_lock_file_says_which_host_is_meant() {
    let lock = "# This file is maintained automatically by \"terraform init\".\n";
    let home = tree(&[
        ("main.tf", &requiring("1.0.0", &[])),
        (lockfile::FILE_NAME, lock),
    ]);
    assert_eq!(
        providers(&read(home.path()).unwrap()),
        ["registry.terraform.io/hashicorp/a 1.0.0"]
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let home = tree(&[
        ("missing/main.tf", "module \"m\" { source = \"./gone\" }"),
        ("empty/x.txt", ""),
        ("broken/main.tf", "a = {"),
    ]);
    for (root, message, category) in [
        (
            "missing",
            "a called module is missing\n  expected [HOME]/missing/gone\n  source ./gone\n  called in [HOME]/missing/main.tf:1",
            Category::NotFound,
        ),
        ("nowhere", "cannot read [HOME]/nowhere", Category::NotFound),
        (
            "broken/main.tf",
            "[HOME]/broken/main.tf is a file, expected a directory",
            Category::Local,
        ),
        (
            "empty",
            "no configuration is in [HOME]/empty\n  expected files such as main.tf",
            Category::NotFound,
        ),
        (
            "broken",
            "the module in [HOME]/broken cannot be read",
            Category::Malformed,
        ),
    ] {
        let error = read(&home.path().join(root)).unwrap_err();
        let said = error.to_string();
        let said = said.replace(home.path().to_str().unwrap(), "[HOME]");
        assert_eq!((&*said, error.category()), (message, category));
    }
}

#[test]
fn a_path_is_joined_by_its_words() {
    for (directory, source, wanted) in [
        ("a/b", "./c", "a/b/c"),
        ("a/b", "../c//d/", "a/c/d"),
        ("a", "../b", "b"),
        ("a", "../", "."),
        (".", "../b", "./../b"),
        ("..", "../b", "../../b"),
    ] {
        assert_eq!(joined(Path::new(directory), source), Path::new(wanted));
    }
}
