//! Sentences of the help that answer questions of newcomers. Tests of the commands show that they are true.

use crate::support::scene::Scene;

/// Asserts that a page of `tfoci help` has these sentences, however their lines are broken.
#[track_caller]
fn says(page: &str, sentences: &[&str]) {
    let help = Scene::new().tfoci(["help", page]).succeeds().stdout;
    let words: Vec<&str> = help.split_whitespace().collect();
    let text = words.join(" ");
    for sentence in sentences {
        assert!(text.contains(sentence), "{sentence}\n{help}");
    }
}

#[test]
fn lock_says_what_check_warns_of_and_what_differs() {
    says(
        "lock",
        &[
            "tfoci warns of an entry that the configuration does not require, because `init` removes it. The exit code stays 0.",
            "With `--require-pinned`, tfoci verifies such an entry like the others.",
            "With `--require-pinned`, such a hash is a difference.",
            "A gate for changes by others has two lines, and neither is enough alone: tfoci lock --check --client terraform --h1 --platform all --trust trust.toml --require-pinned terraform init -lockfile=readonly For OpenTofu, both name `tofu`.",
            "The second line refuses what a remote or encrypted state requires without an entry: tfoci cannot read such a state, and warns of it.",
            "Take `trust.toml` and the key files from the protected branch, not from the change.",
            "Renovate runs `tfoci lock --upgrade --platform same` in `postUpgradeTasks`.",
        ],
    );
}

#[test]
fn the_client_that_nobody_names_is_told() {
    let default = "[default: the one that wrote the lock file; without a file, terraform if the default host is registry.terraform.io; otherwise tofu]";
    says("install", &[default]);
    says(
        "lock",
        &[
            default,
            "Directories of both clients need a run for each client, with its directories. Or name a place for both with `--from`, and no `--client`: each lock file is then for the client that wrote it, and a new one for the client that `--client` names as its default.",
        ],
    );
    says(
        "cli-config",
        &["[default: terraform if the default host is registry.terraform.io, otherwise tofu]"],
    );
}

#[test]
fn credentials_say_which_hosts_get_a_token_and_which_file_gives_clients_an_authority() {
    says(
        "credentials",
        &[
            "The token of a host goes with the request for the host's discovery document.",
            "Download hosts never get one.",
            "`tofu` and `terraform` have no --ca-file.",
        ],
    );
}

#[test]
fn damaged_packages_are_found_and_written_again() {
    says(
        "mirror-file",
        &[
            "--recheck also compares digests and evidence with what the origin offers now, and reads the packages of a layout; but only of versions that the file selects and the origin still has.",
            "To verify a whole store, as after a change of the trust file:",
        ],
    );
    says(
        "maintenance",
        &[
            "into an empty directory reads every package, and fails for each whose bytes are not those of its digest.",
            "Packages that become hard links are read all the same.",
            "In a layout, `tfoci mirror --recheck` writes a damaged package again, and so do",
            "A registry keeps the bytes that it has, so its operator has to delete the blob from the storage of the registry.",
        ],
    );
    let recheck = "In a layout, tfoci also reads the packages, and writes damaged ones again.";
    says("mirror", &[recheck]);
}

#[test]
fn require_pinned_says_whether_it_verifies_what_the_store_has() {
    says(
        "mirror",
        &[
            "Versions that the store has already are not verified, and tfoci prints how many they are.",
        ],
    );
    says(
        "push",
        &["tfoci does not verify the platforms that the version has already."],
    );
}

#[test]
fn deployment_has_the_lock_files_of_clients_and_the_list_behind_tokens() {
    says(
        "deployment",
        &[
            "`tfoci lock --trust-store` locks every platform by the hashes that the server states",
            "curl -H \"Authorization: Bearer TOKEN\" https://providers.example.com/",
            "A server without --tokens lists all providers at /.",
        ],
    );
    let page = "Browsers send none, so they see the page at / without its list of providers.";
    says("serve", &[page]);
}

#[test]
fn lock_says_when_the_hashes_of_contents_are_worth_their_download() {
    let needs = "So record `h1` if CI runs `install --locked` or `init -lockfile=readonly`";
    says("lock", &[needs]);
}

#[test]
fn a_dry_run_of_copy_counts_what_a_disk_has() {
    says(
        "copy",
        &[
            "tfoci verifies the evidence, and checks that the file of each package of a layout is there in its full length. It reads no package, and looks at none of a registry.",
            "it prints how many versions and packages the `--from` store has.",
        ],
    );
}

#[test]
fn trust_has_the_change_of_a_signing_key() {
    says(
        "trust",
        &[
            "Name both keys in `keys`, in every trust file, before the first release that the new key signs:",
            "Keep the old key there as long as anyone uses a version that it signed",
        ],
    );
}

#[test]
fn replicas_that_fill_a_store_are_not_limited() {
    says(
        "deployment",
        &[
            "Replicas with --fill, `tfoci mirror` and other jobs may write to one store concurrently.",
            "Then no job may write there as root, because the service cannot change what root has made.",
        ],
    );
}

#[test]
fn redirect_says_who_verifies_the_package() {
    let said = "so the client verifies them, and tfoci does not. tfoci gives the client the URL as the registry states it, if it is an https URL on another host or port than the registry.";
    says("serve", &[said]);
}

#[test]
fn site_says_what_it_keeps_if_a_part_of_the_store_is_unreadable() {
    let kept = "While a part of it cannot be read, or a layout in it is incomplete, no provider is deleted as a whole.";
    says("site", &[kept]);
}
