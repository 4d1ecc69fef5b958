use super::read;
use crate::support::author::Author;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

const LOCK: &str = ".terraform.lock.hcl";

const MAIN: &str =
    "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\" }\n  }\n}\n";

/// Two projects that need the same provider, which is pinned.
fn projects() -> Author {
    let author = Author::new();
    author.with_pushed();
    for directory in ["clean", "other"] {
        author.scene.write(format!("{directory}/main.tf"), MAIN);
        lock(&author, &[directory], &[]).succeeds();
    }
    author
}

fn lock(author: &Author, directories: &[&str], more: &[&str]) -> Run {
    let always = ["lock", "--from", "oci-layout:store", "--key", "acme.asc"];
    let directories = directories.iter().flat_map(|one| ["--chdir", *one]);
    let arguments: Vec<&str> = always.into_iter().chain(directories).collect();
    author.tfoci(&[&arguments, more].concat())
}

/// In which order the directories are named makes no difference.
const ORDERS: [[&str; 2]; 2] = [["clean", "other"], ["other", "clean"]];

#[test]
fn hashes_that_match_no_package_are_found_in_every_lock_file() {
    let author = projects();
    let file = format!("other/{LOCK}");
    let wrong = format!("zh:{}", "1".repeat(64));
    let list = "  hashes = [\n";
    let text = read(&author.scene, &file).replace(list, &format!("{list}    \"{wrong}\",\n"));
    author.scene.write(&file, text);
    let strict = ["--check", "--require-pinned"];
    for order in ORDERS {
        let said = lock(&author, &order, &strict).exits(4).stderr;
        let mut warnings = said.lines().filter(|line| line.contains(&wrong));
        assert!(warnings.all(|line| line.contains(" in other ")), "{said}");
        assert!(said.contains(&format!("   Differs {file}")), "{said}");
        assert!(
            said.contains(&format!(" Unchanged clean/{LOCK}\n")),
            "{said}"
        );
    }
}

#[test]
fn a_lock_file_of_another_release_is_refused_beside_others() {
    let author = projects();
    let file = format!("other/{LOCK}");
    let before = read(&author.scene, &file);
    std::fs::remove_dir_all(author.scene.path("dist")).unwrap();
    ReleaseFolder::new("demo", "1.0.0")
        .package("linux_amd64", &[("terraform-provider-demo", b"another")])
        .write(&author.scene.path("dist"));
    author.push("--existing replace").succeeds();
    std::fs::remove_file(author.scene.path("clean").join(LOCK)).unwrap();
    lock(&author, &["clean"], &[]).succeeds();
    for more in [
        &["--check"][..],
        &[],
        &["--h1", "--platform", "all"],
        &["--check"],
    ] {
        for order in ORDERS {
            let said = lock(&author, &order, more).exits(3).stderr;
            assert_eq!(said.matches("error: ").count(), 1, "{said}");
            assert!(said.contains(&format!(" {file}, because ")), "{said}");
            assert!(
                !said.contains(&format!("Not checked clean/{LOCK}")),
                "{said}"
            );
            assert_eq!(read(&author.scene, &file), before);
        }
    }
}

/// Each client has its own CLI configuration, which says where providers come from.
#[test]
fn directories_of_different_clients_are_refused_without_from() {
    let author = projects();
    let demo = "registry.terraform.io/acme/demo";
    author.push(format!("--provider {demo}")).succeeds();
    let install = ["install", "acme/demo", "--from", "oci-layout:store"];
    let into = ["--platform", "all", "--into", "mirror"];
    author.tfoci(&[install, into].concat()).succeeds();
    let block = "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";
    author.scene.write("client.tfrc", block);
    let header = "# This file is maintained automatically by \"terraform init\".\n";
    author.scene.write(format!("other/{LOCK}"), header);
    let configured = "lock --cli-config client.tfrc --trust-store --chdir";
    for order in ORDERS {
        let arguments = format!("{configured} {}", order.join(" --chdir "));
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let run = author.tfoci(&arguments).exits(2);
        run.tells("\n  tofu: clean\n  terraform: other\n");
    }
    lock(&author, &ORDERS[0], &[]).succeeds();
    let arguments = format!("{configured} clean --chdir other --client tofu");
    let arguments: Vec<&str> = arguments.split(' ').collect();
    author.tfoci(&arguments).succeeds();
}

/// Terraform users name its default host once, in the environment.
#[test]
fn the_default_host_of_terraform_says_which_client_a_new_project_is_for() {
    let author = Author::new();
    author.scene.write("main.tf", MAIN);
    let address = "registry.terraform.io/acme/demo";
    author.with_release_in_place();
    author.push(format!("--provider {address}")).succeeds();
    let lock = ["lock", "--from", "oci-layout:store", "--key", "acme.asc"];
    let named = ["--default-host", "registry.terraform.io"];
    author.tfoci(&[&lock[..], &named].concat()).succeeds();
    let text = read(&author.scene, LOCK);
    assert!(
        text.contains("by \"terraform init\"") && text.contains(address),
        "{text}"
    );
}

/// A project of Terraform and one of OpenTofu, in a store that has the provider for both.
fn of_both_clients() -> Author {
    let author = projects();
    let address = "registry.terraform.io/acme/demo";
    author.push(format!("--provider {address}")).succeeds();
    std::fs::remove_file(author.scene.path(format!("other/{LOCK}"))).unwrap();
    lock(&author, &["other"], &["--client", "terraform"]).succeeds();
    author
}

/// What `lock --client` did to a file of the other client could not be told from an ordinary change.
#[test]
fn a_lock_file_of_the_other_client_is_named() {
    let author = of_both_clients();
    let file = format!("other/{LOCK}");
    let before = read(&author.scene, &file);
    lock(&author, &ORDERS[0], &["--check"]).succeeds();
    for order in ORDERS {
        lock(&author, &order, &["--check", "--client", "tofu"]).exits(4);
        author.scene.write("other/main.tf", "terraform {}\n");
        let run = lock(&author, &order, &["--check", "--client", "tofu"]).exits(4);
        author.scene.write("other/main.tf", MAIN);
        run.tells("`--client terraform`");
    }
    let warning = "   Warning other/.terraform.lock.hcl was written by terraform";
    let plan = lock(&author, &ORDERS[0], &["--dry-run", "--client", "tofu"]);
    assert!(plan.succeeds().stderr.starts_with(warning));
    assert_eq!(read(&author.scene, &file), before);
    let run = lock(&author, &ORDERS[0], &["--client", "tofu"]).succeeds();
    assert!(run.stderr.starts_with(warning), "{}", run.stderr);
    let run = lock(&author, &ORDERS[0], &["--client", "tofu"]).succeeds();
    run.omits("written by");
}

/// `tfoci lock` alone would find the file up to date.
#[test]
fn what_a_file_of_the_other_client_lacks_is_locked_for_the_client_that_installs() {
    let author = of_both_clients();
    let store = ["--from", "oci-layout:store", "--key", "acme.asc"];
    let install = |more: &[&str]| {
        let locked = ["install", "--locked", "--chdir", "clean"];
        author.tfoci(&[&locked[..], &store, more].concat())
    };
    install(&["--client", "terraform"]).exits(4);
    author.scene.write(format!("clean/{LOCK}"), "");
    install(&[]).exits(4);
}

#[test]
fn each_directory_needs_an_option_of_its_own() {
    let author = projects();
    author.scene.write("live/b/main.tf", MAIN);
    lock(&author, &["clean"], &["live/b"]).exits(1);
    lock(&author, &["live/*"], &[]).exits(1);
}

#[test]
fn every_directory_that_has_a_lock_file_is_locked() {
    let author = projects();
    let text = read(&author.scene, &format!("clean/{LOCK}"));
    let (stale, all) = (
        text.replace("1.0.0", "0.9.0"),
        ["live", "live/a/b", "live/.terraform/x"],
    );
    for directory in all {
        author.scene.write(format!("{directory}/main.tf"), MAIN);
        author.scene.write(format!("{directory}/{LOCK}"), &stale);
    }
    author.scene.write("live/c/main.tf", MAIN);
    #[cfg(unix)]
    std::os::unix::fs::symlink(author.scene.path("clean"), author.scene.path("live/link")).unwrap();
    let recursive = |directory, more: &[&str]| {
        lock(
            &author,
            &[],
            &[&["--recursive", directory][..], more].concat(),
        )
    };
    recursive("live", &["--upgrade", "--check"]).exits(4);
    let run = recursive("live", &["--upgrade"]).succeeds();
    run.tells("   live, live/a/b   ");
    for directory in all {
        let is_hidden = directory.contains(".terraform");
        let now = read(&author.scene, &format!("{directory}/{LOCK}"));
        assert_eq!(
            now,
            if is_hidden { stale.as_str() } else { &text },
            "{directory}"
        );
    }
    assert!(!author.scene.path(format!("live/c/{LOCK}")).exists());
    recursive("live/c", &[]).exits(1);
}
