//! Messages about several directories, constraints, and locked providers that are not required.

use std::fs;

use serde_json::Value;

use crate::support::author::Author;
use crate::support::origin::{Fault, Origin, asks};
use crate::support::scene::{Run, Scene};

use super::{origin, platforms, read, scene};

fn given() -> (Origin, Scene) {
    let origin = origin();
    let scene = scene(&origin);
    (origin, scene)
}

/// A file that requires a provider of the origin at its third line.
fn requiring(origin: &Origin, name: &str, constraint: &str) -> String {
    let source = origin.address(name);
    format!(
        "terraform {{\n  required_providers {{\n    x = {{ source = \"{source}\", version = \"{constraint}\" }}\n  }}\n}}\n"
    )
}

fn tfoci(scene: &Scene, arguments: &str) -> Run {
    scene.tfoci(arguments.split_whitespace())
}

#[track_caller]
fn says(run: &Run, said: &str) {
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn constraints_are_named_with_file_and_line() {
    let (origin, scene) = given();
    scene.write("a/versions.tf", requiring(&origin, "acme/demo", ">= 3"));
    scene.write("a/main.tf", "\nmodule \"m\" {\n  source = \"./m\"\n}\n");
    scene.write("a/m/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    scene.write(
        "a/m/p.tf",
        "\n\n\nprovider \"x\" {\n  version = \"!= 1.1.0\"\n}\n",
    );
    let run = tfoci(&scene, "lock --chdir a").exits(1);
    let demo = origin.address("acme/demo");
    let said = format!(
        "{demo} ({}): no version matches `>= 3, ~> 1.0, != 1.1.0`",
        origin.host()
    );
    says(&run, &said);
    let said = "\n  required by a/versions.tf:3 (>= 3)\n  required by a/m/main.tf:3 (~> 1.0)\n  required by a/m/p.tf:4 (!= 1.1.0)\n";
    says(&run, said);
    let run = tfoci(&scene, "lock --chdir a --format json").exits(1);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let message = document["providers"][0]["error"]["message"].as_str();
    assert!(message.unwrap().contains("a/versions.tf:3"), "{document}");

    // An argument takes part too, and JSON has no lines.
    let source = origin.address("acme/demo");
    let json = format!(
        "{{\"terraform\":{{\"required_providers\":{{\"x\":{{\"source\":\"{source}\",\"version\":\"< 2\"}}}}}}}}"
    );
    scene.write("b/main.tf.json", json);
    let run = tfoci(&scene, &format!("lock --chdir b {demo}@>=2")).exits(1);
    says(
        &run,
        "\n  required by b/main.tf.json (< 2)\n  required by the argument (>=2)\n",
    );

    // The locked version does not satisfy a constraint.
    scene.write("c/versions.tf", requiring(&origin, "acme/demo", "1.0.0"));
    tfoci(&scene, "lock --chdir c").succeeds();
    scene.write("c/versions.tf", requiring(&origin, "acme/demo", "~> 1.1"));
    for arguments in ["lock", "lock --check", "install --locked"] {
        let run = tfoci(&scene, &format!("{arguments} --chdir c")).exits(4);
        says(&run, "the locked version does not satisfy the constraints");
    }
    let run = tfoci(&scene, "lock --chdir c").exits(4);
    says(
        &run,
        "1.0.0 (in the lock file)\n  required by c/versions.tf:3 (~> 1.1)\n",
    );
    let hint = format!(
        "\n\nhint: `tfoci lock {demo} --upgrade` with your other options selects the newest version that satisfies the constraints; commit the file\n"
    );
    says(&run, &hint);

    // The origin does not have the provider.
    scene.write("d/versions.tf", requiring(&origin, "acme/none", ">= 1"));
    let run = tfoci(&scene, "lock --chdir d").exits(1);
    says(&run, "\n  required by d/versions.tf:3 (>= 1)\n");
    let run = tfoci(&scene, "install --chdir d").exits(1);
    says(
        &run,
        "Not written d/.terraform.lock.hcl, because not every provider could be installed\n",
    );
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
    let run = tfoci(&scene, "lock --chdir a").exits(1);
    assert_eq!(run.stderr.matches(" required by a/").count(), 10);
    says(&run, "\n  required by 2 more statements\n");
}

/// Generated files are smaller than this limit, and parsing takes many times the size of a file.
#[test]
fn a_huge_file_is_refused_by_name() {
    let (_origin, scene) = given();
    scene.write("a/huge.tf", "#".repeat((4 << 20) + 1));
    let run = tfoci(&scene, "lock --chdir a").exits(1);
    says(
        &run,
        "cannot read a/huge.tf\n  expected at most 4194304 bytes\n  received 4194305 bytes\n",
    );
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
    let run = tfoci(&scene, all).exits(1);
    let demo = origin.address("acme/demo");
    for said in [
        format!("Locked {demo} 1.2.0   signed"),
        "hashes, in a, d\n".to_owned(),
        "hashes, in c\n".to_owned(),
        "the module in b cannot be read\n".to_owned(),
        "the lock file e/.terraform.lock.hcl cannot be read\n".to_owned(),
    ] {
        says(&run, &said);
    }
    assert_eq!(run.stderr.matches(" Wrote ").count(), 3, "{}", run.stderr);
    assert!(read(&scene, "d/.terraform.lock.hcl").contains("1.2.0"));
    assert!(!scene.path("b/.terraform.lock.hcl").exists());
    let run = tfoci(&scene, &format!("{all} --check --format json")).exits(1);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let files = document["files"].as_array().unwrap();
    let statuses: Vec<_> = files.iter().map(|file| file["status"].as_str()).collect();
    let (present, failed) = (Some("present"), Some("failed"));
    assert_eq!(statuses, [present, present, present, failed, failed]);
    assert_eq!(files[3]["path"], "b/.terraform.lock.hcl");
    assert!(files[3]["error"]["message"].is_string(), "{document}");
    // A wrong argument fails all directories.
    tfoci(&scene, &format!("{all} a/b/c/d")).exits(2);
    // With one directory, messages do not name it.
    let run = tfoci(&scene, "lock --upgrade --chdir a").succeeds();
    says(&run, "hashes\n");
}

#[test]
fn a_provider_without_an_installation_method_fails_its_directory_only() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    let other = requiring(&origin, "acme/demo", "~> 1.0").replace(origin.host(), "example.com");
    scene.write("b/main.tf", other);
    let hosts = read(&scene, "client.tfrc");
    let host = origin.host();
    let only = format!(
        "{hosts}provider_installation {{\n  direct {{\n    include = [\"{host}/*/*\"]\n  }}\n}}\n"
    );
    scene.write("client.tfrc", only);
    let said = "no installation method is for example.com/acme/demo\n";
    let run = tfoci(&scene, "lock --chdir a --chdir b").exits(1);
    says(&run, said);
    assert!(scene.path("a/.terraform.lock.hcl").exists());
    assert!(!scene.path("b/.terraform.lock.hcl").exists());
    let said = format!(
        "{said}  in [TMP]/client.tfrc\n\nhint: `--from origin` asks the provider registry that publishes it\n"
    );
    says(&tfoci(&scene, "lock --chdir b").exits(1), &said);
}

#[test]
fn a_check_reports_locked_providers_that_are_not_required() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    tfoci(&scene, "lock --chdir a").succeeds();
    let entry = "\nprovider \"registry.example.com/acme/zz\" {\n  version = \"7.0.0\"\n}\n";
    let text = read(&scene, "a/.terraform.lock.hcl") + entry;
    scene.write("a/.terraform.lock.hcl", &text);
    let said = "a/.terraform.lock.hcl locks registry.example.com/acme/zz, which the configuration does not require: `tofu init` removes it, and `tfoci lock` does not\n";
    let run = tfoci(&scene, "lock --chdir a --check").succeeds();
    says(&run, said);
    let run = tfoci(&scene, "lock --chdir a").succeeds();
    says(&run, said);
    assert_eq!(read(&scene, "a/.terraform.lock.hcl"), text);
    let run = tfoci(&scene, "install --chdir a --locked").exits(4);
    says(
        &run,
        "registry.example.com/acme/zz is in it, and is not required\n\nhint: `tofu init` removes it, and `tfoci lock` does not; or delete its block. Commit the file\n",
    );
    let demo = origin.address("acme/demo");
    let run = tfoci(&scene, &format!("lock --chdir a --check {demo}")).succeeds();
    assert!(!run.stderr.contains(said), "{}", run.stderr);
}

/// The bytes come from an origin, so no store is damaged.
#[test]
fn a_bad_package_is_reported_as_the_origins_failure() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "1.0.0"));
    origin.always(asks("package"), Fault::wrong_bytes());
    for command in ["lock --h1 --chdir a", "install --chdir a"] {
        let run = tfoci(&scene, command).exits(3);
        let here = &platforms()[0];
        let demo = origin.address("acme/demo");
        let host = origin.host();
        says(
            &run,
            &format!("{demo} 1.0.0 {here} ({host}): cannot download the package\n"),
        );
        let said = "hint: nothing of this version was recorded. The source is broken, or a proxy changes packages\n";
        says(&run, said);
        assert!(!run.stderr.contains("store"), "{}", run.stderr);
        assert!(!scene.path("a/.terraform.lock.hcl").exists());
    }
}

/// The lock file of `tfoci lock` has no `h1`. `init -lockfile=readonly` accepts it, and `plan` then refuses the installed package.
#[test]
fn install_locked_requires_the_h1_hashes_that_clients_check() {
    let (origin, scene) = given();
    scene.write("a/main.tf", requiring(&origin, "acme/demo", "~> 1.0"));
    tfoci(&scene, "lock --chdir a").succeeds();
    let text = read(&scene, "a/.terraform.lock.hcl");
    assert!(!text.contains("h1:"), "{text}");
    for client in ["terraform", "tofu"] {
        if !crate::support::programs::has(client) {
            continue;
        }
        let init = ["init", "-no-color", "-lockfile=readonly"];
        crate::clients::run(&scene, &scene.path("a"), client, init).succeeds();
        assert_eq!(read(&scene, "a/.terraform.lock.hcl"), text, "{client}");
        let plan = crate::clients::run(&scene, &scene.path("a"), client, ["plan", "-no-color"]);
        let said = "does not match any of the checksums";
        let words: Vec<&str> = plan
            .stderr
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect();
        assert!(words.join(" ").contains(said), "{client}: {}", plan.stderr);
        fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
    }
    let before = origin.counters();
    let run = tfoci(&scene, "install --chdir a --locked").exits(4);
    let demo = origin.address("acme/demo");
    let hint = "hint: `tfoci lock --h1` with the same `--from` and `--trust` adds it for this machine, and with `--platform` for others";
    let said = format!(
        "error: a/.terraform.lock.hcl does not lock what the configuration requires\n  the entry of {demo} has no `h1`, by which clients check what is installed\n\n{hint}\n"
    );
    says(&run, &said);
    assert_eq!(origin.counters(), before);
    assert_eq!(read(&scene, "a/.terraform.lock.hcl"), text);
    // Only the packages show to which platform an `h1` belongs.
    let [_, other] = platforms();
    tfoci(&scene, &format!("lock --h1 --chdir a --platform {other}")).succeeds();
    let text = read(&scene, "a/.terraform.lock.hcl");
    let run = tfoci(&scene, "install --chdir a --locked").exits(4);
    says(
        &run,
        "   Differs a/.terraform.lock.hcl: no `h1` in it matches the installed package. Either it lacks this platform, and `tfoci lock --h1` with the same `--platform` adds it, or the package is not the locked one\n",
    );
    assert!(!run.stderr.contains("work now"), "{}", run.stderr);
    let run = tfoci(&scene, "install --chdir a --locked --format json").exits(4);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["files"][0]["status"], "differs");
    assert_eq!(read(&scene, "a/.terraform.lock.hcl"), text);
    // With all hashes, there is no message.
    tfoci(&scene, "lock --h1 --chdir a").succeeds();
    let run = tfoci(&scene, "install --chdir a --locked").succeeds();
    assert!(!run.stderr.contains("Differs"), "{}", run.stderr);
    let text = read(&scene, "a/.terraform.lock.hcl");

    // Missing and surplus entries are still differences, unless addresses select others.
    let entry = "\nprovider \"registry.example.com/acme/zz\" {\n  version = \"7.0.0\"\n}\n";
    scene.write("a/.terraform.lock.hcl", format!("{text}{entry}"));
    let run = tfoci(&scene, "install --chdir a --locked").exits(4);
    says(
        &run,
        "registry.example.com/acme/zz is in it, and is not required",
    );
    tfoci(&scene, &format!("install --chdir a --locked {demo}")).succeeds();
    scene.write("a/.terraform.lock.hcl", "");
    let run = tfoci(&scene, "install --chdir a --locked").exits(4);
    let hint = "hint: `tfoci lock` brings it up to date; commit the file";
    says(
        &run,
        &format!("{demo} is not in it\n  required by a/main.tf:3 (~> 1.0)\n\n{hint}\n"),
    );
    fs::remove_file(scene.path("a/.terraform.lock.hcl")).unwrap();
    let run = tfoci(&scene, "install --chdir a --locked").exits(4);
    let hint = "hint: `tfoci lock --h1` with the same `--client`, `--from` and `--trust` writes it for this machine, and with `--platform` for others; commit the file";
    says(&run, &format!("there is no such file\n\n{hint}\n"));
    // An `h1` is enough for what is installed, and the other hashes are still lacking.
    let only_h1 = text.lines().filter(|line| !line.contains("zh:"));
    let only_h1: String = only_h1.map(|line| format!("{line}\n")).collect();
    scene.write("a/.terraform.lock.hcl", &only_h1);
    let run = tfoci(&scene, "install --chdir a --locked").succeeds();
    says(
        &run,
        &format!("   Present {demo} 1.2.0   it matches the lock file\n"),
    );
    fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
    let run = tfoci(&scene, "install --chdir a --locked").succeeds();
    says(
        &run,
        "   Warning a/.terraform.lock.hcl does not have all hashes of these packages, and `--locked` leaves it as it is; `tfoci lock --h1` with the same `--platform` adds them\n",
    );
    assert_eq!(read(&scene, "a/.terraform.lock.hcl"), only_h1);
    // Hashes of another release.
    let zeros = format!("    \"zh:{}\",\n", "0".repeat(64));
    let others = format!("    \"h1:{}=\",\n", "A".repeat(43));
    let lines = text.lines().map(|line| match line {
        line if line.contains("zh:") => zeros.clone(),
        line if line.contains("h1:") => others.clone(),
        line => format!("{line}\n"),
    });
    scene.write("a/.terraform.lock.hcl", lines.collect::<String>());
    fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
    tfoci(&scene, "install --chdir a --locked").exits(3);
}

/// The CLI configuration names a filesystem mirror that `install --into` wrote.
#[test]
fn a_mirror_without_signatures_gets_a_hint_where_to_find_them() {
    let author = Author::new();
    author.with_pushed();
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        author.tfoci(&arguments)
    };
    run("install acme/demo --from oci-layout:store --into folder").succeeds();
    let block = run("cli-config acme/demo --into folder").succeeds().stdout;
    let root = author.scene.path("").canonicalize().unwrap();
    let root = root.to_str().unwrap().trim_end_matches('/');
    author.scene.write(".tofurc", block.replace("[TMP]", root));
    let said = run("lock acme/demo").exits(3).stderr;
    let hint = "hint: a mirror of packages has no signatures. `--from STORE --trust FILE` and `--from origin` find them. Without either, `--trust-store` locks every platform by the hashes that the mirror states, and `--allow-unsigned registry.opentofu.org/acme/demo` downloads and hashes the packages of `--platform`\n";
    assert!(said.contains(hint), "{said}");
    run("lock acme/demo --from oci-layout:store --key acme.asc").succeeds();
}

/// The header of a lock file shows which client uses the directory.
#[test]
fn the_last_hint_of_an_installation_names_the_client_of_the_lock_file() {
    let author = Author::new();
    author.with_pushed();
    let provider = "registry.opentofu.org/acme/demo";
    for (given, client) in [
        ("", "tofu"),
        (
            "# This file is maintained automatically by \"terraform init\".\n",
            "terraform",
        ),
    ] {
        let lock = author.scene.path(".terraform.lock.hcl");
        author.scene.write(".terraform.lock.hcl", given);
        if given.is_empty() {
            fs::remove_file(&lock).unwrap();
        }
        let run = author.tfoci(&["install", provider, "--from", "oci-layout:store"]);
        let said = run.succeeds().stderr;
        let end = format!(
            "\n`{client} plan` and `{client} apply` work now, unless the configuration has a backend or calls modules. That needs first:\n\n  {client} init -plugin-dir=.terraform/providers\n"
        );
        assert!(said.ends_with(&end), "{said}");
        fs::remove_file(&lock).unwrap();
    }
}

/// A lock file names a version that no source has any more.
#[test]
fn a_locked_version_that_is_withdrawn() {
    let (origin, scene) = given();
    for (name, constraint, arguments, hint) in [
        (
            "acme/demo",
            ">= 5",
            String::new(),
            "hint: no version that is there satisfies the constraints: change the constraints\n",
        ),
        (
            "acme/demo",
            ">= 1.0",
            String::new(),
            "hint: `tfoci lock ADDR --upgrade` with the same options selects 2.0.0\n",
        ),
        (
            "hashicorp/null",
            ">= 1.0",
            format!("--from network-mirror:{}", origin.mirror_url()),
            "hint: add 9.0.0 to the mirror; or `tfoci lock ADDR --upgrade` with the same options selects 3.2.1\n",
        ),
    ] {
        let provider = match name {
            "hashicorp/null" => format!("registry.opentofu.org/{name}"),
            _ => origin.address(name),
        };
        let required = requiring(&origin, name, constraint);
        let required = required.replace(&origin.address(name), &provider);
        scene.write("a/main.tf", required);
        let entry = format!("provider \"{provider}\" {{\n  version = \"9.0.0\"\n}}\n");
        scene.write("a/.terraform.lock.hcl", &entry);
        let run = tfoci(&scene, &format!("lock --chdir a {arguments}")).exits(1);
        says(&run, &format!("{provider} 9.0.0 ("));
        says(&run, &hint.replace("ADDR", &provider));
        assert_eq!(read(&scene, "a/.terraform.lock.hcl"), entry);
    }
}
