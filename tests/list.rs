//! `tfoci list`: the providers of a store, and commands that use this list.

use serde_json::{Value, json};

use crate::support::author::Author;
use crate::support::layout_of_registry::import;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Access, Fault, Personality, Registry, Seen, Setup, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

/// Runs a command that may speak plain HTTP with the doubles.
fn plain(author: &Author, line: impl AsRef<str>) -> Run {
    author.line(format!("{} --plain-http 127.0.0.1", line.as_ref()))
}

/// The template of most tests.
fn template(registry: &Registry) -> String {
    format!("{}/{{namespace}}/{{type}}", registry.host())
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
    let author = Author::pushed();
    let list = author.line("list --from oci-layout:store --format json");
    let wanted = json!({
        "schema": 1,
        "store": "oci-layout:store",
        "providers": ["registry.opentofu.org/acme/demo"],
    });
    assert_eq!(list.succeeds().json(), wanted);
}

#[test]
fn a_registry_with_a_paged_catalog_is_listed() {
    let author = Author::pushed();
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
    let run = plain(&author, format!("list --from {from}")).succeeds();
    let listed: Vec<&str> = run.stdout.lines().collect();
    let here = "registry.opentofu.org/acme";
    assert_eq!(
        listed,
        [
            "a.example/acme/demo",
            &format!("{here}/demo"),
            &format!("{here}/more")
        ]
    );
    assert_eq!(registry.seen().len(), 3);
}

#[test]
fn without_a_host_name_in_the_template_providers_are_on_the_default_host() {
    let author = Author::pushed();
    let registry = listing(&author, &["acme-demo", "acme-demo-more"]);
    let from = format!("{}/{{namespace}}-{{type}}", registry.host());
    let arguments = format!("list --from {from} --default-host a.example");
    let run = plain(&author, &arguments).succeeds();
    assert_eq!(run.stdout, "a.example/acme/demo\n");
}

/// Pins apply to addresses. A guessed host must not bypass a pin.
#[test]
fn a_provider_of_another_host_keeps_its_host() {
    let author = Author::new();
    author.with_release_in_place();
    let provider = "--exact-repository --provider a.example/acme/demo";
    author.push(provider).succeeds();
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(2)).start();
    import(&author.path("store"), &registry, "acme/demo");
    let from = template(&registry);
    let run = |line: &str| plain(&author, format!("{line} --from {from}"));
    let list = run("list").succeeds();
    assert_eq!(list.stdout, "registry.opentofu.org/acme/demo\n");
    for command in ["install --into out", "site public"] {
        run(command).exits(3);
    }
    let named = run("install --into out --default-host a.example --platform all");
    assert!(named.succeeds().stdout.contains("out/a.example/acme/demo/"));
}

#[test]
fn install_and_copy_without_addresses_use_the_whole_list() {
    let author = Author::pushed();
    let registry = listing(&author, &["acme/demo", "more/demo", "single"]);
    let copy = format!("copy --from {} acme/demo", template(&registry));
    plain(&author, format!("{copy} --to oci-layout:named")).succeeds();
    let registry = listing(&author, &["acme/demo", "single"]);
    let from = template(&registry);
    let run = plain(&author, format!("copy --from {from} --to oci-layout:all")).succeeds();
    assert_eq!(run.stdout.lines().count(), 1);
    let install = format!("install --from {from} --into out --platform all");
    plain(&author, &install).succeeds();
    let installed = author.path("out/registry.opentofu.org/acme/demo");
    assert!(installed.is_dir());
}

#[test]
fn a_registry_without_a_catalog_is_an_error() {
    for access in [Access::Open, Access::Basic { user: "alice" }] {
        let registry = Setup::of(Personality::Plain).access(access).start();
        let list = format!("list --from {}", template(&registry));
        let run = plain(&Author::new(), &list);
        run.exits(1).without_result();
    }
}

#[test]
fn a_template_that_no_repository_matches_is_an_error() {
    let author = Author::pushed();
    for (names, template) in [
        (&["acme/demo"][..], "tofu/{hostname}/{namespace}/{type}"),
        (&[], "{namespace}/{type}"),
    ] {
        let registry = listing(&author, names);
        let from = format!("{}/{template}", registry.host());
        for command in ["list", "install --into out"] {
            let run = plain(&author, format!("{command} --from {from}"));
            run.exits(1).without_result();
        }
    }
}

#[test]
fn templates_that_cannot_be_inverted_are_refused() {
    for from in [
        "r.example/acme/demo",
        "r.example/{namespace}{type}",
        "{hostname}/{namespace}/{type}",
    ] {
        let run = Author::new().line(format!("list --from {from}"));
        run.exits(2).without_result();
    }
}

#[test]
fn too_many_repositories_are_an_error() {
    let author = Author::new();
    let setup = Setup::of(Personality::Plain);
    let registry = setup
        .quirks(|quirks| quirks.catalog = Some(200_000))
        .start();
    for number in 0..100_001 {
        registry.repository(&format!("r{number}"), |_| ());
    }
    let run = plain(&author, format!("list --from {}", template(&registry)));
    run.exits(1).without_result();
}

/// What is done with all tags of a repository, and with all repositories.
const COMMANDS: [&str; 4] = [
    "versions acme/demo --exact-repository --from HOST/acme/demo",
    "copy acme/demo@>=1.0 --exact-repository --from HOST/acme/demo --to oci-layout:copied",
    "list --from HOST/{namespace}/{type}",
    "copy --from HOST/{namespace}/{type} --to oci-layout:all",
];

/// Runs the commands with a registry whose `acme/demo` has three versions, two tags on a page, and which has two repositories, one on a page.
fn with_pages(author: &Author, spoil: impl Fn(&Registry), check: impl Fn(&str, Option<i32>, &str)) {
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| (quirks.page, quirks.catalog) = (2, Some(1)));
    let registry = registry.start();
    for name in ["acme/demo", "more"] {
        import(&author.repository(""), &registry, name);
    }
    spoil(&registry);
    for command in COMMANDS {
        let command = command.replace("HOST", registry.host());
        let run = plain(author, &command);
        let said = format!("{}{}", run.stdout, run.stderr).replace(registry.host(), "HOST");
        check(&command, run.status, &said);
    }
}

fn three_versions() -> Author {
    let author = Author::new();
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        author.releases(ReleaseFolder::new("demo", version).platform("linux_amd64"));
        author.push("").succeeds();
    }
    author
}

/// Replaces each `Link`. `PATH` stands for its path and query.
fn with_link(form: &'static str) -> impl Fn(&Registry) {
    move |registry| {
        let host = registry.host().to_owned();
        let alter = move |answer: &mut Answer| {
            let natural = answer.get("link").unwrap_or_default().to_owned();
            if let Some((path, _)) = natural[natural.len().min(1)..].split_once('>') {
                let link = form.replace("PATH", path).replace("HOST", &host);
                answer.set("link", &link);
            }
        };
        registry.always(matching("GET", "/v2/"), Fault::alter(alter));
    }
}

#[test]
fn a_page_that_cannot_be_followed_is_an_error() {
    let author = three_versions();
    for form in [
        "PATH; rel=\"next\"",
        "<PATH; rel=\"next\"",
        "next",
        "<http://[/>; rel=\"next\"",
        "<https://HOSTPATH>; rel=\"next\"",
        "<http://example.com/PATH>",
        "<//127.0.0.1:1PATH>",
    ] {
        with_pages(&author, with_link(form), |command, status, said| {
            assert_eq!(status, Some(1), "{form} {command}\n{said}");
        });
    }
}

#[test]
fn every_other_page_is_followed() {
    let author = three_versions();
    for form in [
        "<PATH>; rel=\"next\"",
        "<PATH>",
        "<http://HOSTPATH>; rel=next",
        "</v2/>; rel=\"first\", <PATH>; title=\"a, b\"; rel=\"next\"",
    ] {
        with_pages(&author, with_link(form), |command, status, said| {
            assert_eq!(status, Some(0), "{form} {command}\n{said}");
            if command.starts_with("versions") {
                assert_eq!(said, "1.0.0\n1.1.0\n1.2.0\n", "{form}");
            }
        });
    }
}

/// A proxy has changed the path of the link.
#[test]
fn a_later_page_that_is_missing_is_not_a_missing_repository() {
    let author = three_versions();
    let absent = |registry: &Registry| {
        let answer = Answer::error(404, "NAME_UNKNOWN", "no such thing");
        let is_later = |seen: &Seen| seen.parameter("last").is_some();
        registry.always(is_later, Fault::Answer(answer));
    };
    with_pages(&author, absent, |command, status, said| {
        assert_eq!(status, Some(1), "{command}\n{said}");
        assert!(said.contains("404"), "{command}\n{said}");
    });
}

/// A registry as zot, if anonymous users may read a part: it answers everybody for `/v2/`, and lists that part to anonymous users.
fn partly_open(author: &Author) -> Registry {
    let registry = Setup::of(Personality::Plain).access(Access::Basic { user: "alice" });
    let registry = registry.quirks(|quirks| quirks.catalog = Some(9)).start();
    author.with_release_in_place();
    for name in ["open/demo", "secret/demo"] {
        author.push(format!("--provider {name}")).succeeds();
        let layout = format!("store/registry.opentofu.org/{name}");
        import(&author.path(layout), &registry, name);
    }
    let stranger =
        |path: &'static str| move |seen: &Seen| seen.path == path && seen.authorization().is_none();
    let named = Answer::json(200, &json!({})).header("www-authenticate", "basic realm=");
    registry.always(stranger("/v2/"), Fault::Answer(named));
    let part = Answer::json(200, &json!({"repositories": ["open/demo"]}));
    registry.always(stranger("/v2/_catalog"), Fault::Answer(part));
    registry
}

#[test]
fn the_list_is_requested_with_the_credentials_if_there_are_any() {
    let author = Author::new();
    let registry = partly_open(&author);
    let from = format!("--from {} --authfile auth.json", template(&registry));
    let run = |line: &str| plain(&author, format!("{line} {from}"));
    author.write("auth.json", "{}");
    let part = "registry.opentofu.org/open/demo\n";
    assert_eq!(run("list").succeeds().stdout, part);
    author.write("auth.json", registry.authfile());
    let both = format!("{part}registry.opentofu.org/secret/demo\n");
    assert_eq!(run("list").succeeds().stdout, both);
    let copied = run("copy --to oci-layout:copied").succeeds();
    assert_eq!(copied.stdout.lines().count(), 2);
    let wrong = json!({"auths": {registry.host(): {"auth": "YWxpY2U6d3Jvbmc="}}});
    author.write("auth.json", wrong.to_string());
    for command in ["list", "copy --to oci-layout:all", "install --into out"] {
        run(command).exits(1).without_result();
    }
    registry.assert_no_leaks();
}

#[test]
fn a_registry_that_asks_for_no_credentials_gets_none() {
    let author = Author::pushed();
    let registry = listing(&author, &["acme/demo"]);
    let auths = json!({"auths": {registry.host(): {"auth": "YWxpY2U6d3Jvbmc="}}});
    author.write("auth.json", auths.to_string());
    let list = format!("list --from {} --authfile auth.json", template(&registry));
    plain(&author, &list).succeeds();
    let secrets = registry.count(|seen| seen.authorization().is_some());
    assert_eq!(secrets, 0, "{:#?}", registry.seen());
}

/// A document of `list --long`.
fn inventory(author: &Author, more: &str) -> Value {
    let run = plain(author, format!("list --long --format json {more}"));
    run.succeeds().json()
}

/// Pushes a signed version for these platforms.
fn push(author: &Author, version: &str, platforms: &[&str], to: &str) {
    author.releases(ReleaseFolder::new("demo", version).each(platforms));
    author.push_to(to, "--plain-http 127.0.0.1").succeeds();
}

#[test]
fn the_inventory_has_versions_sizes_signers_and_problems() {
    let author = Author::new();
    for (version, platforms) in [
        ("1.0.0", &["linux_amd64"][..]),
        ("1.1.0", &["linux_amd64", "darwin_arm64"]),
    ] {
        push(&author, version, platforms, "oci-layout:store");
    }
    let document = inventory(&author, "--from oci-layout:store --key acme.asc");
    // An independent sum: the zips are the blobs that begin like one.
    let blobs = std::fs::read_dir(author.repository("blobs/sha256")).unwrap();
    let blobs = blobs.map(|blob| std::fs::read(blob.unwrap().path()).unwrap());
    let zips = blobs.filter(|blob| blob.starts_with(b"PK"));
    let size: usize = zips.map(|zip| zip.len()).sum();
    assert_eq!(document["size"], size);
    let provider = &document["inventory"][0];
    assert_eq!(provider["provider"], "registry.opentofu.org/acme/demo");
    let versions = provider["versions"].as_array().unwrap();
    let both = json!(["darwin_arm64", "linux_amd64"]);
    assert_eq!(versions[1]["platforms"], both);
    assert_eq!(versions[1]["authentication"]["anchor"], "pinned");
    // A version of another author is a problem, and no failure.
    let document = inventory(&author, "--from oci-layout:store --key stranger.asc");
    let version = &document["inventory"][0]["versions"][0];
    assert_eq!(version["error"]["category"], "untrusted");
    let long = "list --long --from oci-layout:store";
    let run = author.line(long).succeeds();
    let line = run.stdout.lines().nth(1).unwrap();
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    assert_eq!(words.join(" "), "registry.opentofu.org/acme/demo 2 1.1.0 2");
    let one = author.line(format!("{long} acme/demo")).succeeds();
    assert_eq!(one.stdout.lines().count(), 3, "{}", one.stdout);
    let csv = author.line(format!("{long} --format csv")).succeeds();
    assert_eq!(csv.stdout.lines().count(), 3, "{}", csv.stdout);
    let mut lines = csv.stdout.lines();
    assert!(lines.all(|line| line.matches(',').count() == 7));
    author
        .line("list --format csv --from oci-layout:store")
        .exits(2);
}

/// Of each repository one list of tags; of each version the index, the platform manifests and the evidence.
#[test]
fn the_inventory_of_a_registry_takes_few_requests() {
    let author = Author::new();
    let registry = Setup::of(Personality::Plain).start();
    let to = format!("{}/acme/demo", registry.host());
    for version in ["1.0.0", "1.1.0"] {
        push(&author, version, &["linux_amd64", "darwin_arm64"], &to);
    }
    registry.forget();
    let file = "[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\n";
    author.write("mirror.toml", file);
    let document = inventory(&author, &format!("--file mirror.toml --from {to}"));
    let versions = document["inventory"][0]["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    let count = |what: &str| registry.count(matching("GET", what));
    let counts = ["/tags/list", "/manifests/", "/blobs/"].map(count);
    assert_eq!(counts, [1, 8, 6]);
}

#[test]
fn versions_that_no_lock_file_names_are_listed() {
    let author = Author::new();
    for version in ["1.0.0", "1.1.0"] {
        push(&author, version, &["linux_amd64"], "oci-layout:store");
    }
    let lock = "provider \"registry.opentofu.org/acme/demo\" {\n  version = \"1.0.0\"\n}\n";
    author.write("tree/a/.terraform.lock.hcl", lock);
    let list = "list --from oci-layout:store --unlocked tree";
    let run = author.line(list).succeeds();
    assert_eq!(run.stdout, "registry.opentofu.org/acme/demo@1.1.0\n");
    let csv = author.line(format!("{list} --long --format csv"));
    let csv = csv.succeeds().stdout;
    assert!(csv.contains(",1.1.0,") && !csv.contains(",1.0.0,"), "{csv}");
    // Without a lock file, or with a broken one, all versions would seem to be unused.
    author.write("tree/b/.terraform.lock.hcl", "provider {");
    author.line(list).exits(2);
    let other = "list --from oci-layout:store --unlocked store";
    author.line(other).exits(2);
}
