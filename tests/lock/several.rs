use super::{any_version, read, with_hash};
use crate::support::author::{Author, another_build};
use crate::support::scene::Run;

const LOCK: &str = ".terraform.lock.hcl";
const STORE: &str = "--from oci-layout:store --key acme.asc";
const TERRAFORM: &str = "registry.terraform.io/acme/demo";

fn main() -> String {
    any_version("acme/demo")
}

/// Two projects that need the same provider, which is pinned.
fn projects() -> Author {
    let author = Author::pushed();
    for directory in ["clean", "other"] {
        author.scene.write(format!("{directory}/main.tf"), main());
        lock(&author, &format!("--chdir {directory}")).succeeds();
    }
    author
}

fn lock(author: &Author, more: &str) -> Run {
    author.line(format!("lock {STORE} {more}"))
}

/// In which order the directories are named makes no difference.
const ORDERS: [&str; 2] = ["--chdir clean --chdir other", "--chdir other --chdir clean"];

#[test]
fn hashes_that_match_no_package_are_found_in_every_lock_file() {
    let author = projects();
    let file = format!("other/{LOCK}");
    let wrong = format!("zh:{}", "1".repeat(64));
    let text = with_hash(&read(&author.scene, &file), &wrong);
    author.scene.write(&file, text);
    for order in ORDERS {
        let run = lock(&author, &format!("{order} --check --require-pinned")).exits(4);
        let said = &run.stderr;
        let mut warnings = said.lines().filter(|line| line.contains(&wrong));
        assert!(warnings.all(|line| line.contains(" in other ")), "{said}");
        run.tells(format!("   Differs {file}"));
        run.tells(format!(" Unchanged clean/{LOCK}\n"));
    }
}

#[test]
fn a_lock_file_of_another_release_is_refused_beside_others() {
    let author = projects();
    let file = format!("other/{LOCK}");
    let before = read(&author.scene, &file);
    author.releases(another_build());
    author.push("--existing replace").succeeds();
    std::fs::remove_file(author.scene.path("clean").join(LOCK)).unwrap();
    lock(&author, "--chdir clean").succeeds();
    for more in ["--check", "", "--h1 --platform all", "--check"] {
        for order in ORDERS {
            let run = lock(&author, &format!("{order} {more}")).exits(3);
            let errors = run.stderr.matches("error: ").count();
            assert_eq!(errors, 1, "{}", run.stderr);
            run.tells(format!(" {file}, because "));
            run.omits(format!("Not checked clean/{LOCK}"));
            assert_eq!(read(&author.scene, &file), before);
        }
    }
}

/// Each client has its own CLI configuration, which says where providers come from.
#[test]
fn directories_of_different_clients_are_refused_without_from() {
    let author = projects();
    author.push(format!("--provider {TERRAFORM}")).succeeds();
    let install = "install acme/demo --from oci-layout:store --platform all --into mirror";
    author.line(install).succeeds();
    let block = "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";
    author.scene.write("client.tfrc", block);
    let header = "# This file is maintained automatically by \"terraform init\".\n";
    author.scene.write(format!("other/{LOCK}"), header);
    let configured = "lock --cli-config client.tfrc --trust-store";
    for order in ORDERS {
        let run = author.line(format!("{configured} {order}")).exits(2);
        run.tells("\n  tofu: clean\n  terraform: other\n");
    }
    lock(&author, ORDERS[0]).succeeds();
    let of_tofu = format!("{configured} {} --client tofu", ORDERS[0]);
    author.line(of_tofu).succeeds();
}

/// Terraform users name its default host once, in the environment.
#[test]
fn the_default_host_of_terraform_says_which_client_a_new_project_is_for() {
    let author = Author::with_release();
    author.scene.write("main.tf", main());
    author.push(format!("--provider {TERRAFORM}")).succeeds();
    lock(&author, "--default-host registry.terraform.io").succeeds();
    let text = read(&author.scene, LOCK);
    let is_of_terraform = text.contains("by \"terraform init\"") && text.contains(TERRAFORM);
    assert!(is_of_terraform, "{text}");
}

/// A project of Terraform and one of OpenTofu, in a store that has the provider for both.
fn of_both_clients() -> Author {
    let author = projects();
    author.push(format!("--provider {TERRAFORM}")).succeeds();
    std::fs::remove_file(author.scene.path(format!("other/{LOCK}"))).unwrap();
    lock(&author, "--chdir other --client terraform").succeeds();
    author
}

#[test]
fn a_lock_file_of_the_other_client_differs_until_it_is_written() {
    let author = of_both_clients();
    let file = format!("other/{LOCK}");
    let before = read(&author.scene, &file);
    lock(&author, &format!("{} --check", ORDERS[0])).succeeds();
    for order in ORDERS {
        let check = format!("{order} --check --client tofu");
        lock(&author, &check).exits(4);
        author.scene.write("other/main.tf", "terraform {}\n");
        lock(&author, &check).exits(4);
        author.scene.write("other/main.tf", main());
    }
    let of_tofu = format!("{} --client tofu", ORDERS[0]);
    lock(&author, &format!("{of_tofu} --dry-run")).succeeds();
    assert_eq!(read(&author.scene, &file), before);
    lock(&author, &of_tofu).succeeds();
    lock(&author, &format!("{of_tofu} --check")).succeeds();
}

/// `tfoci lock` alone would find the file up to date.
#[test]
fn what_a_file_of_the_other_client_lacks_is_locked_for_the_client_that_installs() {
    let author = of_both_clients();
    let install = format!("install --locked --chdir clean {STORE}");
    author
        .line(format!("{install} --client terraform"))
        .exits(4);
    author.scene.write(format!("clean/{LOCK}"), "");
    author.line(install).exits(4);
}

#[test]
fn each_directory_needs_an_option_of_its_own() {
    let author = projects();
    author.scene.write("live/b/main.tf", main());
    for directories in ["--chdir clean live/b", "--chdir live/*"] {
        lock(&author, directories).exits(1);
    }
}

#[test]
fn every_directory_that_has_a_lock_file_is_locked() {
    let author = projects();
    let text = read(&author.scene, &format!("clean/{LOCK}"));
    let stale = text.replace("1.0.0", "0.9.0");
    let all = ["live", "live/a/b", "live/.terraform/x"];
    for directory in all {
        author.scene.write(format!("{directory}/main.tf"), main());
        author.scene.write(format!("{directory}/{LOCK}"), &stale);
    }
    author.scene.write("live/c/main.tf", main());
    #[cfg(unix)]
    std::os::unix::fs::symlink(author.scene.path("clean"), author.scene.path("live/link")).unwrap();
    lock(&author, "--recursive live --upgrade --check").exits(4);
    let run = lock(&author, "--recursive live --upgrade").succeeds();
    run.tells(" to live, live/a/b   ");
    for directory in all {
        let is_hidden = directory.contains(".terraform");
        let expected = if is_hidden { &stale } else { &text };
        let now = read(&author.scene, &format!("{directory}/{LOCK}"));
        assert_eq!(now, *expected, "{directory}");
    }
    assert!(!author.scene.path(format!("live/c/{LOCK}")).exists());
    lock(&author, "--recursive live/c").exits(1);
}
