//! Which providers are locked: requirements of configurations and their modules, addresses, and installation methods of the CLI
//! configuration.

use crate::support::author::Author;
use crate::support::origin::{Origin, Provider, Release, asks};
use crate::support::signer::Signer;

use super::{
    LOCK, any_version, folder, foreign_zh, given, lock, platforms, project, read, scene, with_hash,
};

#[test]
fn requirements_of_downloaded_modules_are_locked() {
    let (origin, scene) = given();
    let call = "module \"net\" {\n  source = \"git::https://example.com/net.git\"\n}\n";
    scene.write("project/main.tf", call);
    let run = lock(&scene, "").exits(1);
    run.tells("git::https://example.com/net.git\n\nhint: `tofu -chdir=project get` ");
    let sub = "module \"sub\" {\n  source = \"./sub\"\n}\n";
    let deep = "module \"deep\" {\n  source = \"acme/deep/x\"\n}\n";
    scene.write("project/.terraform/modules/net/main.tf", sub);
    scene.write("project/.terraform/modules/net/sub/main.tf", deep);
    scene.write(
        "project/.terraform/modules/net.sub.deep/main.tf",
        any_version(&origin.address("acme/other")),
    );
    scene.write(
        "project/.terraform/modules/modules.json",
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},
            {"Key":"net","Source":"git::https://example.com/net.git","Dir":".terraform/modules/net"},
            {"Key":"net.sub","Source":"./sub","Dir":".terraform/modules/net/sub"},
            {"Key":"net.sub.deep","Source":"acme/deep/x","Version":"1.0.0","Dir":".terraform/modules/net.sub.deep"}]}"#,
    );
    lock(&scene, "").succeeds();
    assert!(read(&scene, LOCK).contains("/acme/other\""));
    scene.write("project/.terraform/modules/modules.json", "{");
    lock(&scene, "").exits(1).tells("modules.json ");
}

#[test]
fn addresses_narrow_the_configuration_or_replace_it() {
    let (origin, scene) = project("");
    let demo = origin.address("acme/demo");
    lock(&scene, &format!("{demo}@1.1.0")).succeeds();
    let text = read(&scene, LOCK);
    assert!(text.contains("version = \"1.1.0\""), "{text}");
    let other = origin.address("acme/other");
    lock(&scene, &other).exits(1).tells(&other);

    std::fs::create_dir(scene.path("empty")).unwrap();
    scene.line("lock --chdir empty").exits(1);
    let wanted = format!("{demo}@~> 1.0.0");
    let lock = ["lock", "--chdir", "empty", &wanted];
    scene.tfoci(lock).succeeds();
    let text = read(&scene, "empty/.terraform.lock.hcl");
    let entry = "version     = \"1.0.1\"\n  constraints = \"~> 1.0.0\"";
    assert!(text.contains(entry), "{text}");
}

#[test]
fn a_keyless_origin_needs_the_policy_and_its_packages_are_hashed() {
    let release = Release::from(folder("demo", "1.0.0")).keys(&[]);
    let origin = Origin::of([Provider::new("acme/demo").release(release)]);
    let scene = scene(&origin);
    scene.write("project/main.tf", any_version(&origin.address("acme/demo")));
    lock(&scene, "").exits(3);
    let accept = format!("--allow-unsigned {}", origin.address("acme/demo"));
    assert!(!scene.path(LOCK).exists());
    lock(&scene, "--allow-unsigned localhost:*/acme/demo").exits(2);
    lock(&scene, &accept).succeeds();
    assert_eq!(read(&scene, LOCK).matches("zh:").count(), 1);
}

#[test]
fn hashes_of_a_mirror_are_locked_if_the_user_trusts_it() {
    let (origin, scene) = given();
    scene.write("project/main.tf", any_version("hashicorp/null"));
    let url = origin.mirror_url();
    let mirror = format!("--from network-mirror:{url}");
    lock(&scene, &mirror).exits(3).tells("--trust-store");
    scene.write("acme.asc", Signer::acme().public_armored());
    lock(&scene, &format!("{mirror} --key acme.asc")).exits(3);
    let null = "registry.opentofu.org/hashicorp/null";
    let run = lock(&scene, &format!("{mirror} --allow-unsigned {null}")).succeeds();
    let [here, _] = platforms();
    run.tells(format!(
        "   Warning {null} 3.2.1 was hashed for {here} only"
    ));
    std::fs::remove_file(scene.path(LOCK)).unwrap();
    origin.forget();
    let run = lock(&scene, &format!("{mirror} --trust-store")).succeeds();
    run.omits("Warning");
    assert_eq!(read(&scene, LOCK).matches("zh:").count(), 2);
    assert_eq!(origin.count(asks("package")), 0);
    // The lock file may have packages for platforms that the mirror lacks.
    let locked = read(&scene, LOCK);
    scene.write(LOCK, with_hash(&locked, &foreign_zh()));
    let run = lock(&scene, &format!("{mirror} --trust-store --check")).succeeds();
    run.tells(format!("   Warning {null} 3.2.1"))
        .tells(foreign_zh());
    scene.write(LOCK, locked);
    // Keys of other providers may be pinned meanwhile.
    let other = "[[provider]]\nmatch = \"example.com/*/*\"\nkeys = [\"acme.asc\"]\n";
    scene.write("trust.toml", other);
    let trusting = format!("{mirror} --trust-store --trust trust.toml");
    let warning = format!("   Warning no entry of trust.toml matches {null}: ");
    lock(&scene, &trusting).succeeds().tells(warning);
}

#[test]
fn the_cli_configuration_selects_the_source_of_each_provider() {
    let author = mirrored();
    let block = mirror("[\"registry.opentofu.org/acme/*\"]");
    author.scene.write(".tofurc", block);
    let run = lock(&author.scene, "--trust-store -v").succeeds();
    run.tells("Looking up registry.opentofu.org/acme/demo from filesystem-mirror:");
    assert_eq!(read(&author.scene, LOCK).matches("zh:").count(), 2);
    let other = any_version("other/demo");
    author.scene.write("project/main.tf", other);
    lock(&author.scene, "").exits(1);
}

/// A project that requires `acme/demo`, and a filesystem mirror that has it for both clients.
fn mirrored() -> Author {
    let author = Author::pushed();
    let required = any_version("acme/demo");
    author.scene.write("project/main.tf", required);
    for (_, host) in CLIENTS {
        let demo = format!("{host}/acme/demo");
        author.push(format!("--provider {demo}")).succeeds();
        let into = "--from oci-layout:store --platform all --into mirror";
        author.line(format!("install {demo} {into}")).succeeds();
    }
    author
}

/// The clients, and their default hosts.
const CLIENTS: [(&str, &str); 2] = [
    ("tofu", "registry.opentofu.org"),
    ("terraform", "registry.terraform.io"),
];

/// A CLI configuration with the mirror, which has what `include` says.
fn mirror(include: &str) -> String {
    format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"mirror\"\n    include = {include}\n  }}\n}}\n"
    )
}

/// If patterns without a host were on another host than the default one of the client, providers could come from the origin that only the
/// mirror may have. An empty list of patterns includes all providers.
#[test]
fn a_mirror_includes_what_its_patterns_match() {
    let author = mirrored();
    for include in ["[\"acme/*\"]", "[]"] {
        author.scene.write("client.tfrc", mirror(include));
        for (client, host) in CLIENTS {
            let arguments = format!("--client {client} --cli-config client.tfrc --trust-store -v");
            let run = lock(&author.scene, &arguments).succeeds();
            let from = "from filesystem-mirror:mirror";
            run.tells(format!("Looking up {host}/acme/demo {from}"));
            std::fs::remove_file(author.scene.path(LOCK)).unwrap();
        }
    }
}

/// The versions of a lock file satisfy all constraints, so none may get lost.
#[test]
fn a_provider_that_is_named_twice_is_refused() {
    let author = Author::pushed();
    let both = "acme/demo@>=1 registry.opentofu.org/acme/demo@<2";
    for command in ["lock", "install"] {
        let line = format!("{command} {both} --from oci-layout:store");
        author.line(line).exits(2).tells("acme/demo");
    }
}

#[test]
fn the_option_for_the_default_host_is_about_addresses_only() {
    let author = mirrored();
    let options = "--from oci-layout:store --key acme.asc --default-host example.com";
    lock(&author.scene, options).succeeds();
    let text = read(&author.scene, LOCK);
    let address = "\"registry.opentofu.org/acme/demo\"";
    assert!(text.contains(address), "{text}");
    // For each client, which has a default host of its own.
    for client in ["", "--client terraform"] {
        let line = format!("acme/demo {client} {options}");
        let run = lock(&author.scene, &line).exits(1);
        run.tells(" example.com/acme/demo\n");
    }
}

/// A change by others could lock what no key of the trust file has signed, and use it in a later change.
#[test]
fn a_strict_check_verifies_entries_that_are_not_required() {
    let (origin, scene) = project("");
    scene.write("acme.asc", Signer::acme().public_armored());
    let other = origin.address("acme/other");
    lock(&scene, "").succeeds();
    let before = read(&scene, LOCK);
    scene.write("other/main.tf", any_version(&other));
    scene.line("lock --chdir other").succeeds();
    let entry = read(&scene, "other/.terraform.lock.hcl");
    let (_, entry) = entry.split_once("provider ").unwrap();
    let strict = "--check --require-pinned --key acme.asc";
    let warning = format!("   Warning project/.terraform.lock.hcl locks {other}");
    scene.write(LOCK, format!("{before}\nprovider {entry}"));
    lock(&scene, strict).succeeds().tells(&warning);
    // With hashes of its own, the same version is another package.
    let planted = with_hash(entry, &foreign_zh());
    scene.write(LOCK, format!("{before}\nprovider {planted}"));
    lock(&scene, "--check").succeeds();
    let run = lock(&scene, strict).exits(4);
    run.tells(&warning).tells(format!("   Differs {LOCK}"));
    // A version that no one has published.
    let absent = entry.replacen("version = \"", "version = \"9", 1);
    scene.write(LOCK, format!("{before}\nprovider {absent}"));
    lock(&scene, "--check").succeeds();
    lock(&scene, strict).exits(1);
}

/// The gate would otherwise read the old module, and `init` the new one.
#[test]
fn a_module_of_an_older_call_is_missing() {
    let (origin, scene) = given();
    let source = |source: &str| format!("module \"net\" {{\n  source = {source}\n}}\n");
    let call = |tag: &str| source(&format!("\"git::https://example.com/net.git?ref={tag}\""));
    scene.write("project/main.tf", call("v1"));
    let other = any_version(&origin.address("acme/other"));
    scene.write("project/net/main.tf", other);
    let entry = |directory: &str| {
        format!(
            r#"{{"Modules":[{{"Key":"net","Source":"git::https://example.com/net.git?ref=v1","Dir":"{directory}"}}]}}"#
        )
    };
    let modules = "project/.terraform/modules/modules.json";
    scene.write(modules, entry("net"));
    lock(&scene, "").succeeds();
    scene.write("project/main.tf", call("v2"));
    let run = lock(&scene, "--check").exits(1);
    run.tells("  git::https://example.com/net.git?ref=v2\n");

    scene.write("project/main.tf", source("var.source"));
    lock(&scene, "--check").succeeds();
    scene.write("project/main.tf", source("\"./net\""));
    let demo = any_version(&origin.address("acme/demo"));
    scene.write("project/evil/main.tf", demo);
    let entry = entry("evil").replace("git::https://example.com/net.git?ref=v1", "./net");
    scene.write(modules, entry);
    // Clients read the recorded directory.
    let run = lock(&scene, "--check").exits(4);
    run.tells(" project/evil/main.tf:");
}
