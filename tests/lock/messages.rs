//! What is said about several directories, constraints, and locked providers that are not required: names, lines and numbers, not sentences.

use std::fs;

use crate::clients::{self, clients, run};
use crate::support::origin::{Fault, asks};

use super::{any_version, given, platforms, read, requiring, with_foreign_hashes};

#[test]
fn constraints_are_named_with_file_and_line() {
    let (origin, scene) = given();
    scene.write("a/versions.tf", requiring(&origin, "acme/demo", ">= 3"));
    scene.write("a/main.tf", "\nmodule \"m\" {\n  source = \"./m\"\n}\n");
    scene.write("a/m/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    let provider = "\n\n\nprovider \"x\" {\n  version = \"!= 1.1.0\"\n}\n";
    scene.write("a/m/p.tf", provider);
    let run = scene.line("lock --chdir a --format json").exits(1);
    let demo = origin.address("acme/demo");
    run.tells(&demo).tells("a/versions.tf:3 (>= 3.0.0)\n");
    run.tells("a/m/main.tf:3 (~> 1.0)\n");
    run.tells("a/m/p.tf:4 (!= 1.1.0)\n");
    let document = run.json();
    let message = document["providers"][0]["error"]["message"].as_str();
    assert!(message.unwrap().contains("a/versions.tf:3"), "{document}");

    // An argument takes part too, and JSON has no lines.
    let json = format!(
        "{{\"terraform\":{{\"required_providers\":{{\"x\":{{\"source\":\"{demo}\",\"version\":\"< 2\"}}}}}}}}"
    );
    scene.write("b/main.tf.json", json);
    let run = scene.line(format!("lock --chdir b {demo}@>=2")).exits(1);
    run.tells(" b/main.tf.json (< 2.0.0)\n")
        .tells("argument (>= 2.0.0)\n");

    // The locked version does not satisfy a constraint.
    scene.write("c/versions.tf", requiring(&origin, "acme/demo", "1.0.0"));
    scene.line("lock --chdir c").succeeds();
    scene.write("c/versions.tf", requiring(&origin, "acme/demo", "~> 1.1"));
    for arguments in ["lock", "lock --check", "install --locked"] {
        let run = scene.line(format!("{arguments} --chdir c")).exits(4);
        run.tells("1.0.0").tells(" c/versions.tf:3 (~> 1.1)\n");
    }
    let run = scene.line("lock --chdir c").exits(4);
    run.tells(format!("\nhint: `tfoci lock {demo} --upgrade`"));

    // The origin does not have the provider.
    scene.write("d/versions.tf", requiring(&origin, "acme/none", ">= 1"));
    for arguments in ["lock", "install"] {
        let run = scene.line(format!("{arguments} --chdir d")).exits(1);
        run.tells(" d/versions.tf:3 (>= 1.0.0)\n")
            .tells("d/.terraform.lock.hcl");
        assert!(!scene.path("d/.terraform.lock.hcl").exists());
    }
}

/// A message fits on a screen.
#[test]
fn at_most_ten_statements_are_named() {
    let (origin, scene) = given();
    let calls = (0..11).map(|number| {
        let module = format!("a/m{number}/main.tf");
        scene.write(module, requiring(&origin, "acme/demo", ">= 9"));
        format!("module \"m{number}\" {{\n  source = \"./m{number}\"\n}}\n")
    });
    let calls: String = calls.collect();
    scene.write("a/calls.tf", calls);
    scene.write("a/main.tf", requiring(&origin, "acme/demo", ">= 9"));
    let run = scene.line("lock --chdir a").exits(1);
    assert_eq!(run.stderr.matches(" required by a/").count(), 10);
    run.tells(" 2 more ");
}

/// Generated files are smaller than this limit, and parsing takes many times the size of a file.
#[test]
fn a_huge_file_is_refused_by_name() {
    let (_origin, scene) = given();
    scene.write("a/huge.tf", "#".repeat((4 << 20) + 1));
    let run = scene.line("lock --chdir a").exits(1);
    run.tells("a/huge.tf").tells("4194304").tells("4194305");
}

#[test]
fn one_broken_directory_does_not_stop_the_others() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.write("b/main.tf", "terraform {");
    scene.write("c/main.tf", requiring(&origin, "acme/demo", "~> 1.0.0"));
    scene.write("d/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.write("e/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.write("e/.terraform.lock.hcl", "<<<<<<< HEAD\n");
    let all = "lock --chdir a --chdir b --chdir c --chdir d --chdir e";
    let run = scene.line(all).exits(1);
    let demo = origin.address("acme/demo");
    for locked in ["1.2.0 to a, d   ", "1.0.1 to c   "] {
        run.tells(format!(" Locked {demo} {locked}"));
    }
    assert_eq!(run.stderr.matches(" Wrote ").count(), 3, "{}", run.stderr);
    assert!(read(&scene, "d/.terraform.lock.hcl").contains("1.2.0"));
    assert!(!scene.path("b/.terraform.lock.hcl").exists());
    let run = scene.line(format!("{all} --check --format json"));
    let document = run.exits(1).json();
    let files = document["files"].as_array().unwrap();
    let statuses: Vec<_> = files.iter().map(|file| file["status"].as_str()).collect();
    let (present, failed) = (Some("present"), Some("failed"));
    assert_eq!(statuses, [present, present, present, failed, failed]);
    assert_eq!(files[3]["path"], "b/.terraform.lock.hcl");
    assert!(files[3]["error"]["message"].is_string(), "{document}");
    // A wrong argument fails all directories.
    scene.line(format!("{all} a/b/c/d")).exits(2);
    // With one directory, messages do not name it.
    let run = scene.line("lock --upgrade --chdir a").succeeds();
    run.omits("   a   ");
}

#[test]
fn a_provider_without_an_installation_method_fails_its_directory_only() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.write("b/main.tf", any_version("example.com/acme/demo"));
    let hosts = read(&scene, "client.tfrc");
    let host = origin.host();
    let only = format!(
        "{hosts}provider_installation {{\n  direct {{\n    include = [\"{host}/*/*\"]\n  }}\n}}\n"
    );
    scene.write("client.tfrc", only);
    let run = scene.line("lock --chdir a --chdir b").exits(1);
    run.tells("example.com/acme/demo\n  in [TMP]/client.tfrc\n");
    assert!(scene.path("a/.terraform.lock.hcl").exists());
    assert!(!scene.path("b/.terraform.lock.hcl").exists());
    scene.line("lock --chdir b").exits(1);
}

#[test]
fn a_check_reports_locked_providers_that_are_not_required() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.line("lock --chdir a").succeeds();
    let text = read(&scene, "a/.terraform.lock.hcl") + SURPLUS;
    scene.write("a/.terraform.lock.hcl", &text);
    let said = "Warning a/.terraform.lock.hcl locks registry.example.com/acme/zz";
    for arguments in ["lock --check", "lock"] {
        let run = scene.line(format!("{arguments} --chdir a"));
        run.succeeds().tells(said);
    }
    assert_eq!(read(&scene, "a/.terraform.lock.hcl"), text);
    let run = scene.line("install --chdir a --locked").exits(4);
    run.tells("registry.example.com/acme/zz");
    let demo = origin.address("acme/demo");
    let run = scene.line(format!("lock --chdir a --check {demo}"));
    run.succeeds().omits(said);
}

/// An entry of a provider that is not required.
const SURPLUS: &str = "\nprovider \"registry.example.com/acme/zz\" {\n  version = \"7.0.0\"\n}\n";

/// The bytes come from an origin, so no store is damaged.
#[test]
fn a_bad_package_is_reported_as_the_origins_failure() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "1.0.0"));
    origin.always(asks("package"), Fault::wrong_bytes());
    for command in ["lock --h1 --chdir a", "install --chdir a"] {
        let run = scene.line(command).exits(3);
        let (demo, here) = (origin.address("acme/demo"), &platforms()[0]);
        run.tells(format!("{demo} 1.0.0 {here} ({}): ", origin.host()));
        run.omits("store");
        assert!(!scene.path("a/.terraform.lock.hcl").exists());
    }
}

/// The lock file of `tfoci lock` has no `h1`. `init -lockfile=readonly` accepts it, and `plan` then refuses the installed package.
#[test]
fn install_locked_requires_the_h1_hashes_that_clients_check() {
    let (origin, scene) = given();
    let lock = "a/.terraform.lock.hcl";
    let installing = |more: &str| scene.line(format!("install --chdir a --locked {more}"));
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.line("lock --chdir a").succeeds();
    let text = read(&scene, lock);
    assert!(!text.contains("h1:"), "{text}");
    for client in clients() {
        let directory = scene.path("a");
        let init = ["init", "-no-color", "-lockfile=readonly"];
        run(&scene, &directory, client, init).succeeds();
        assert_eq!(read(&scene, lock), text, "{client}");
        let said = clients::said(&run(&scene, &directory, client, ["plan", "-no-color"]));
        let refused = "does not match any of the checksums";
        assert!(said.contains(refused), "{client}: {said}");
        fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
    }
    let before = origin.counters();
    let demo = origin.address("acme/demo");
    let run = installing("").exits(4);
    run.tells(&demo).tells("`tfoci lock --h1`");
    assert_eq!(origin.counters(), before);
    assert_eq!(read(&scene, lock), text);
    // Only the packages show to which platform an `h1` belongs.
    let [_, other] = platforms();
    let of_other = format!("lock --h1 --chdir a --platform {other}");
    scene.line(of_other).succeeds();
    let text = read(&scene, lock);
    let run = installing("").exits(4);
    run.tells("   Differs a/.terraform.lock.hcl")
        .omits("-plugin-dir");
    let found = installing("--format json").exits(4).json();
    assert_eq!(found["files"][0]["status"], "differs");
    assert_eq!(read(&scene, lock), text);
    scene.line("lock --h1 --chdir a").succeeds();
    installing("").succeeds().omits("Differs");
    let text = read(&scene, lock);

    // Missing and surplus entries are still differences, unless addresses select others.
    scene.write(lock, format!("{text}{SURPLUS}"));
    let run = installing("").exits(4);
    run.tells("registry.example.com/acme/zz");
    installing(&demo).succeeds();
    scene.write(lock, "");
    let run = installing("").exits(4);
    run.tells(&demo).tells(" a/main.tf:3 (~> 1.0)\n");
    fs::remove_file(scene.path(lock)).unwrap();
    installing("").exits(4);
    // An `h1` is enough for what is installed, though the other hashes are missing.
    let only_h1 = text.lines().filter(|line| !line.contains("zh:"));
    let only_h1: String = only_h1.map(|line| format!("{line}\n")).collect();
    scene.write(lock, &only_h1);
    let present = format!("   Present {demo} 1.2.0 ");
    installing("").succeeds().tells(present);
    fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
    installing("").succeeds();
    assert_eq!(read(&scene, lock), only_h1);
    scene.write(lock, with_foreign_hashes(&text));
    fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
    installing("").exits(3);
}

/// A lock file names a version that no source has any more.
#[test]
fn a_locked_version_that_is_withdrawn() {
    let (origin, scene) = given();
    let mirror = format!("--from network-mirror:{}", origin.mirror_url());
    let demo = origin.address("acme/demo");
    let null = "registry.opentofu.org/hashicorp/null";
    for (provider, constraint, arguments, newest) in [
        (demo.as_str(), ">= 5", "", None),
        (&demo, ">= 1.0", "", Some("2.0.0")),
        (null, ">= 1.0", &mirror, Some("3.2.1")),
    ] {
        let required = clients::requiring(&[(provider, constraint)]);
        scene.write("a/main.tf", required);
        let entry = format!("provider \"{provider}\" {{\n  version = \"9.0.0\"\n}}\n");
        scene.write("a/.terraform.lock.hcl", &entry);
        let run = scene.line(format!("lock --chdir a {arguments}")).exits(1);
        run.tells(format!("{provider} 9.0.0 ("));
        let hint = run.stderr.split_once("\nhint: ");
        let hint = hint.map_or("", |(_, hint)| hint);
        let upgrade = format!("`tfoci lock {provider} --upgrade`");
        assert_eq!(hint.contains(&upgrade), newest.is_some(), "{hint}");
        assert!(hint.contains(newest.unwrap_or_default()), "{hint}");
        assert_eq!(read(&scene, "a/.terraform.lock.hcl"), entry);
    }
}
