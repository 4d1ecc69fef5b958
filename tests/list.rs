//! `tfoci list`: the providers of a store, and commands that use this list.

use serde_json::{Value, json};

use crate::support::author::Author;
use crate::support::layout_of_registry::import;
use crate::support::registry::{Access, Personality, Registry, Setup};

const PLAIN: [&str; 2] = ["--plain-http", "127.0.0.1"];

fn pushed() -> Author {
    let author = Author::new();
    author.with_pushed();
    author
}

/// A registry that lists its repositories, two on a page. All have the author's provider in them.
fn listing(author: &Author, names: &[&str]) -> Registry {
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(2)).start();
    for name in names {
        import(&author.repository(""), &registry, name);
    }
    registry
}

#[test]
fn a_layout_is_listed() {
    let author = pushed();
    let list = ["list", "--from", "oci-layout:store"];
    let run = author.scene.tfoci(list).succeeds();
    assert_eq!(run.stdout, "registry.opentofu.org/acme/demo\n");
    assert_eq!(run.stderr, "");
    let run = author
        .scene
        .tfoci(list.iter().chain(&["--format", "json"]))
        .succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let wanted = json!({
        "schema": 1,
        "store": "oci-layout:store",
        "providers": ["registry.opentofu.org/acme/demo"],
    });
    assert_eq!(document, wanted);
}

#[test]
fn a_registry_with_a_paged_catalog_is_listed() {
    let author = pushed();
    let names = [
        "other",
        "tofu/a.example/acme/demo",
        "tofu/registry.opentofu.org/acme/demo",
        "tofu/registry.opentofu.org/acme/more",
        "tofu/registry.opentofu.org/acme/more/deeper",
    ];
    let registry = listing(&author, &names);
    let from = format!(
        "{}/tofu/{{hostname}}/{{namespace}}/{{type}}",
        registry.host()
    );
    let run = author
        .scene
        .tfoci([&["list", "--from", &from][..], &PLAIN].concat())
        .succeeds();
    assert_eq!(
        run.stdout,
        "a.example/acme/demo\nregistry.opentofu.org/acme/demo\nregistry.opentofu.org/acme/more\n"
    );
    let skipped = format!(
        "   Skipped 2 repositories that do not match {from}, such as {}/other\n",
        registry.host()
    );
    assert_eq!(run.stderr, skipped);
    assert_eq!(registry.seen().len(), 3);
}

#[test]
fn without_a_host_name_in_the_template_providers_are_on_the_default_host() {
    let author = pushed();
    let registry = listing(&author, &["acme-demo", "acme-demo-more"]);
    let from = format!("{}/{{namespace}}-{{type}}", registry.host());
    let arguments = ["list", "--from", &from, "--default-host", "a.example"];
    let run = author
        .scene
        .tfoci([&arguments[..], &PLAIN].concat())
        .succeeds();
    assert_eq!(run.stdout, "a.example/acme/demo\n");
    let skipped = format!(
        "   Skipped 1 repository that does not match {from}, such as {}/acme-demo-more\n",
        registry.host()
    );
    assert!(run.stderr.ends_with(&skipped), "{}", run.stderr);
}

/// Pins apply to addresses. A guessed host must not bypass a pin.
#[test]
fn a_provider_of_another_host_keeps_its_host() {
    let author = Author::new();
    author.with_release_in_place();
    let provider = ["--exact-repository", "--provider", "a.example/acme/demo"];
    author.push(&provider).succeeds();
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(2)).start();
    import(&author.scene.path("store"), &registry, "acme/demo");
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let run = |arguments: &[&str]| {
        let all = [arguments, &["--from", &from], &PLAIN].concat();
        let mut run = author.scene.tfoci(all);
        run.stderr = run.stderr.replace(registry.host(), "HOST");
        run
    };
    let assumed = "   Assumed the host registry.opentofu.org, since HOST/{namespace}/{type} has no {hostname}; `--default-host` names another\n";
    let list = run(&["list"]).succeeds();
    assert_eq!(list.stdout, "registry.opentofu.org/acme/demo\n");
    assert_eq!(list.stderr, assumed);
    let refused = "error: registry.opentofu.org/acme/demo 1.0.0 (HOST/acme/demo): the repository has this version of another provider
  expected registry.opentofu.org/acme/demo
  received a.example/acme/demo (in the store)

hint: name the provider that the packages were made for. Where the names of repositories have no host, `--default-host a.example` names it
";
    for command in [&["install", "--into", "out"][..], &["site", "public"]] {
        let run = run(command).exits(3);
        assert!(run.stderr.starts_with(assumed), "{}", run.stderr);
        assert!(run.stderr.ends_with(refused), "{}", run.stderr);
    }
    let named = run(&[
        "install",
        "--into",
        "out",
        "--default-host",
        "a.example",
        "--platform",
        "all",
    ]);
    assert!(named.succeeds().stdout.contains("out/a.example/acme/demo/"));
}

#[test]
fn install_and_copy_without_addresses_use_the_whole_list() {
    let author = pushed();
    let registry = listing(&author, &["acme/demo", "more/demo", "single"]);
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let copy = [
        "copy",
        "--from",
        &from,
        "acme/demo",
        "--to",
        "oci-layout:named",
    ];
    author.scene.tfoci([&copy[..], &PLAIN].concat()).succeeds();
    let registry = listing(&author, &["acme/demo", "single"]);
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let copy = ["copy", "--from", &from, "--to", "oci-layout:all"];
    let run = author.scene.tfoci([&copy[..], &PLAIN].concat()).succeeds();
    assert_eq!(run.stdout.lines().count(), 1);
    let install = [
        "install",
        "--from",
        &from,
        "--into",
        "out",
        "--platform",
        "all",
    ];
    author
        .scene
        .tfoci([&install[..], &PLAIN].concat())
        .succeeds();
    assert!(
        author
            .scene
            .path("out/registry.opentofu.org/acme/demo")
            .is_dir()
    );
}

#[test]
fn a_registry_without_a_catalog_is_an_error() {
    let author = pushed();
    let refusing = Setup::of(Personality::Plain)
        .access(Access::Basic { user: "alice" })
        .start();
    for (registry, headline, hint) in [
        (
            Registry::plain(),
            "this registry cannot list its repositories\n  registry HOST\n  answered 404",
            "other commands do without the list: name the providers, such as `acme/demo`",
        ),
        (
            refusing,
            "the registry requires credentials\n  registry HOST\n  answered 401",
            "`tfoci login HOST` stores them, with the same `--authfile` if you give one; in CI, REGISTRY_AUTH_FILE names a file that has them. Some registries answer like this for a repository that they do not have",
        ),
    ] {
        let from = format!("{}/{{namespace}}/{{type}}", registry.host());
        let run = author
            .scene
            .tfoci([&["list", "--from", &from][..], &PLAIN].concat())
            .exits(1);
        let stderr = run.stderr.replace(registry.host(), "HOST");
        let says = format!("error: HOST/{{namespace}}/{{type}}: {headline}");
        assert!(stderr.starts_with(&says), "{stderr}");
        assert!(stderr.ends_with(&format!("\n\nhint: {hint}\n")), "{stderr}");
        assert_eq!(run.stdout, "");
    }
}

/// Credentials that the registry refuses are the first reason, and that it may list nothing is the second.
#[test]
fn of_a_registry_that_refuses_the_credentials() {
    let author = pushed();
    let registry = Setup::of(Personality::Plain)
        .access(Access::Basic { user: "alice" })
        .start();
    let host = registry.host();
    let auths = json!({"auths": {host: {"auth": "YWxpY2U6d3Jvbmc="}}});
    author.scene.write("auth.json", auths.to_string());
    let from = format!("{host}/{{namespace}}/{{type}}");
    for command in [
        &["list"][..],
        &["copy", "--to", "oci-layout:all"],
        &["install", "--into", "out"],
    ] {
        let options = ["--authfile", "auth.json", "--from", &from];
        let run = author
            .scene
            .tfoci([command, &options, &PLAIN].concat())
            .exits(1);
        let stderr = run.stderr.replace(host, "HOST");
        let (said, hint) = stderr.split_once("\n\nhint: ").unwrap();
        assert!(
            said.starts_with("error: HOST/{namespace}/{type}: the registry refused the credentials\n  registry HOST\n  answered 401"),
            "{said}"
        );
        assert!(said.ends_with("tried auth.json (HOST)"), "{said}");
        assert_eq!(
            hint,
            "they may be wrong or expired, or not authorize this. `tfoci login HOST` stores others; in CI, REGISTRY_AUTH_FILE names a file that has them. If `versions` works with them, this registry does not list its repositories to you: name the providers, such as `acme/demo`\n"
        );
    }
}

#[test]
fn a_template_with_more_levels_than_the_repositories_have() {
    let author = pushed();
    for (names, received) in [
        (&["acme/demo"][..], "one repository, HOST/acme/demo"),
        (
            &["acme/demo", "acme/more"],
            "2 repositories, such as HOST/acme/demo",
        ),
    ] {
        let registry = listing(&author, names);
        for command in [&["list"][..], &["install", "--into", "out"]] {
            let from = format!(
                "{}/tofu/{{hostname}}/{{namespace}}/{{type}}",
                registry.host()
            );
            let arguments = [command, &["--from", &from], &PLAIN].concat();
            let run = author.scene.tfoci(arguments).exits(1);
            assert_eq!(run.stdout, "");
            let stderr = run.stderr.replace(registry.host(), "HOST");
            assert_eq!(
                stderr,
                format!(
                    "error: no repository of the registry matches HOST/tofu/{{hostname}}/{{namespace}}/{{type}}\n  received {received}\n\nhint: write the template like such a name: the same beginning, and as many levels in the same order\n"
                )
            );
        }
    }
    let registry = listing(&author, &[]);
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let arguments = [&["list", "--from", &from][..], &PLAIN].concat();
    let run = author.scene.tfoci(arguments).exits(1);
    let stderr = run.stderr.replace(registry.host(), "HOST");
    assert_eq!(
        stderr,
        "error: no repository of the registry matches HOST/{namespace}/{type}\n  received no repository\n\nhint: the registry is empty, or hides its repositories from this user: a provider that the command names needs no list\n"
    );
}

#[test]
fn templates_that_cannot_be_inverted_are_refused() {
    let author = pushed();
    for from in [
        "r.example/acme/demo",
        "r.example/{namespace}{type}",
        "{hostname}/{namespace}/{type}",
    ] {
        let run = author.scene.tfoci(["list", "--from", from]).exits(2);
        let says = format!(
            "error: no provider is named, and `{from}` cannot list those that it has\n\nhint: a directory is written `oci-layout:DIR`. A template whose providers can be listed has `{{namespace}}` and `{{type}}`, and no other expressions; else name the provider, such as `acme/demo@1.0.0`\n"
        );
        assert!(run.stderr.ends_with(&says), "{}", run.stderr);
    }
}

#[test]
fn too_many_repositories_are_an_error() {
    let author = Author::new();
    let registry = Setup::of(Personality::Plain);
    let registry = registry
        .quirks(|quirks| quirks.catalog = Some(200_000))
        .start();
    for number in 0..100_001 {
        registry.repository(&format!("r{number}"), |_| ());
    }
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let run = author
        .scene
        .tfoci([&["list", "--from", &from][..], &PLAIN].concat())
        .exits(1);
    let says = format!(
        "error: {from}: the list of repositories is too long\n  expected at most 100000 repositories\n  received more\n  from http://{}/v2/_catalog\n",
        registry.host()
    );
    assert_eq!(run.stderr, says);
}
