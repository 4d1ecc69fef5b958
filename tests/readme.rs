//! The README and the guides in `docs`: their commands work with real clients, and the output that the README shows is the real one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tfoci::platform::Platform;

use crate::clients::{clients, requiring};
use crate::help::listed;
use crate::support::copy;
use crate::support::origin::{Origin, Provider, asks};
use crate::support::programs::has;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::{Run, Scene};
use crate::support::tls::Authority;

fn readme() -> String {
    fs::read_to_string("README.md").unwrap()
}

/// The pages in `docs` by name.
pub fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir("docs").unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    pages.map(read).collect()
}

/// The fenced blocks of a text in a language.
pub fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    let blocks = text.split(&*opening).skip(1);
    let block = |rest: &'a str| rest.split("```").next().unwrap();
    blocks.map(block).collect()
}

/// A scene that looks like a clone, as far as the README's commands go.
fn clone() -> Scene {
    let scene = Scene::new();
    let release = Path::new("testdata/release");
    copy(release, &scene.path(release));
    scene
}

/// The only block of one language with these words in it, in the README and the pages.
pub fn block(language: &str, words: &str) -> String {
    let guides = readme() + &pages().into_values().collect::<String>();
    let mut found = blocks(&guides, language);
    found.retain(|block| block.contains(words));
    assert_eq!(found.len(), 1, "{words}");
    found[0].to_owned()
}

/// The commands of the only session with these words in it, each on one line.
pub fn commands(words: &str) -> Vec<String> {
    let session = block("console", words).replace("\\\n    ", "");
    let commands = session.lines().filter_map(|line| line.strip_prefix("$ "));
    commands.map(str::to_owned).collect()
}

/// The platforms of the provider of the quick start.
fn platforms() -> BTreeSet<String> {
    let here = Platform::current().to_string();
    BTreeSet::from([here, "linux_amd64".to_owned(), "darwin_arm64".to_owned()])
}

/// A scene in which this host is an origin of the provider of the quick start.
fn with_origin(host: &str) -> (Origin, Scene) {
    let platforms = platforms();
    let platforms: Vec<&str> = platforms.iter().map(String::as_str).collect();
    let provider = Provider::new("hashicorp/random").version("3.7.2", &platforms);
    let origin = Origin::of([provider]);
    let scene = Scene::new();
    let ca = origin.write_ca(&scene).display().to_string();
    scene.write("origin.tfrc", origin.host_block(host));
    let scene = scene
        .env("TF_CLI_CONFIG_FILE", "origin.tfrc")
        .env("SSL_CERT_FILE", &ca);
    (origin, scene)
}

/// A registry with a password that the scene knows.
fn with_registry(scene: Scene) -> (Registry, Scene) {
    let tls = Authority::shared().server().serve(None);
    let registry = Setup::of(Personality::Quay).tls(tls).start();
    scene.write("auth.json", registry.authfile());
    (registry, scene.env("REGISTRY_AUTH_FILE", "auth.json"))
}

/// Runs a command line of tfoci, in which words may stand in single quotes.
fn run_ours(scene: &Scene, line: &str) -> Run {
    let words = line.strip_prefix("tfoci ").unwrap().split(' ');
    scene.tfoci(words.map(|word| word.trim_matches('\'')))
}

/// Runs a command line of tfoci, and writes its output into the file after `>`.
fn run_into_file(scene: &Scene, line: &str) {
    let (command, file) = line.split_once(" > ").unwrap_or((line, ""));
    let printed = run_ours(scene, command).succeeds().stdout;
    if !file.is_empty() {
        scene.write(file, printed.replace("[TMP]", &root(scene)));
    }
}

/// Writes the configuration of the quick start.
fn write_main(scene: &Scene) {
    let commands = block("sh", "> main.tf");
    run_client(scene, "", commands.lines().next().unwrap());
}

/// For `terraform`, the name in the quick start is a provider of another host.
fn write_needs(scene: &Scene, directory: &str) {
    let needs = requiring(&[("registry.opentofu.org/hashicorp/random", "")]);
    let needs = needs.replace(" x = ", " random = ");
    scene.write(format!("{directory}needs.tf"), needs);
}

fn lock_file(scene: &Scene) -> String {
    fs::read_to_string(scene.path(".terraform.lock.hcl")).unwrap()
}

/// Runs a client by a command line, in a directory of the scene and without a network.
#[track_caller]
fn run_client(scene: &Scene, directory: &str, line: &str) {
    let mut shell = scene.command("sh");
    let output = shell
        .args(["-euc", line])
        .env("CHECKPOINT_DISABLE", "1")
        .env("HTTPS_PROXY", "http://127.0.0.1:1")
        .current_dir(scene.path(directory))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
}

/// The path of a scene, without a slash at its end.
fn root(scene: &Scene) -> String {
    let root = scene.path("").canonicalize().unwrap();
    root.to_str().unwrap().trim_end_matches('/').to_owned()
}

#[test]
fn the_quick_start_mirrors_a_provider_and_real_clients_install_it() {
    let (_origin, scene) = with_origin("registry.opentofu.org");
    let commands = block("sh", "tfoci mirror hashicorp/random");
    assert_eq!(commands.lines().count(), 4);
    for line in commands.lines() {
        run_into_file(&scene, line);
    }
    let configuration = fs::read(scene.path("client.tfrc")).unwrap();
    scene.write("project/client.tfrc", configuration);
    write_needs(&scene, "project/");
    let lines = block("sh", "TF_CLI_CONFIG_FILE=client.tfrc tofu init");
    for client in clients() {
        let _none = fs::remove_dir_all(scene.path("project/.terraform"));
        let _none = fs::remove_file(scene.path("project/.terraform.lock.hcl"));
        let lines = lines.replace("tofu init", &format!("{client} init"));
        run_client(&scene, "project", &lines);
    }
}

#[test]
fn the_terraform_guide_installs_a_folder_for_the_client() {
    let (_origin, scene) = with_origin("registry.terraform.io");
    let (registry, scene) = with_registry(scene);
    let commands = commands("TF_CLI_CONFIG_FILE=client.tfrc terraform init").join("\n");
    let commands = commands.replace("ghcr.io", registry.host());
    let [install, configure, init]: [&str; 3] =
        commands.lines().collect::<Vec<_>>().try_into().unwrap();
    let (_, from) = install.split_once("--from ").unwrap();
    let (template, _) = from.split_once(" --trust").unwrap();
    // "Once that one is mirrored", the guide says.
    let mirror = "tfoci mirror registry.terraform.io/hashicorp/random --trust trust.toml";
    let mirror = format!("{mirror} --pin-new --to {template}");
    run_ours(&scene, &mirror).succeeds();
    run_ours(&scene, install).succeeds().tells("(pinned)");
    run_into_file(&scene, configure);
    if !has("terraform") {
        return;
    }
    write_main(&scene);
    run_client(&scene, "", init);
    assert!(lock_file(&scene).contains("provider \"registry.terraform.io/hashicorp/random\""));
}

#[test]
fn lock_files_are_checked_as_the_guide_says() {
    let (origin, scene) = with_origin("registry.opentofu.org");
    write_main(&scene);
    let (registry, scene) = with_registry(scene);
    // The client installs from a registry, as in the other guides.
    let template = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let mirror =
        format!("tfoci mirror hashicorp/random --trust trust.toml --pin-new --to {template}");
    run_ours(&scene, &mirror).succeeds();
    let configure = format!("tfoci cli-config --from {template} > client.tfrc");
    run_into_file(&scene, &configure);
    let scene = scene.env("TF_CLI_CONFIG_FILE", "client.tfrc");
    let downloads = origin.count(asks("package"));
    let lock = commands("$ tfoci lock --trust trust.toml --require-pinned --h1");
    let check = commands("$ tfoci lock --check");
    run_ours(&scene, &check[0]).exits(4);
    run_ours(&scene, &lock[0]).succeeds();
    run_ours(&scene, &check[0]).succeeds();
    // Every platform is locked, from the registry alone.
    let locked = lock_file(&scene);
    let hashes = locked.matches("\"zh:").count();
    assert!(hashes >= platforms().len(), "{locked}");
    assert_eq!(locked.matches("\"h1:").count(), platforms().len());
    assert_eq!(origin.count(asks("package")), downloads);
    run_ours(&scene, "tfoci install --locked").succeeds();
}

#[test]
fn the_guide_installs_without_a_network() {
    let (origin, scene) = with_origin("registry.opentofu.org");
    write_main(&scene);
    write_needs(&scene, "");
    let mirror = "tfoci mirror hashicorp/random --to oci-layout:disk --trust trust.toml --pin-new";
    run_ours(&scene, mirror).succeeds();
    drop(origin);
    let [install, init] = commands("-plugin-dir").try_into().unwrap();
    run_ours(&scene, &install.replace("/media/disk", "disk")).succeeds();
    let locked = lock_file(&scene);
    for client in clients() {
        let init = init.replace("tofu init", &format!("{client} init"));
        run_client(&scene, "", &init);
        assert_eq!(lock_file(&scene), locked, "{client}");
    }
}

#[test]
fn the_example_run_prints_what_the_readme_shows() {
    let scene = clone();
    let example = block("console", "authentication  signed");
    let mut runs = example.split("$ tfoci ").skip(1);
    assert_eq!(runs.clone().count(), 3);
    for run in &mut runs {
        let (command, output) = run.split_once('\n').unwrap();
        let script = format!("{} {command} 2>&1", env!("CARGO_BIN_EXE_tfoci"));
        let printed = scene.run("sh", ["-c", &script]).succeeds().stdout;
        let mut printed = printed.lines();
        for line in output.lines() {
            // Long digests are cut.
            let shown = line.trim_end_matches('…');
            let real = printed.next().unwrap_or_default();
            assert!(real.starts_with(shown), "{line}\n{real}");
        }
    }
}

/// After the commands above it.
#[test]
fn the_lines_about_closed_networks_run() {
    let scene = clone();
    let push = "tfoci push testdata/release --provider example.com/acme/demo --key testdata/release/acme.asc --to oci-layout:mirror";
    run_ours(&scene, push).succeeds();
    for line in block("sh", "# near side").lines() {
        let (line, _) = line.split_once('#').unwrap_or((line, ""));
        match line.split_once(" > ") {
            Some(_) => run_into_file(&scene, line.trim_end()),
            None if line.starts_with("tfoci ") => {
                drop(run_ours(&scene, line.trim_end()).succeeds())
            }
            None => drop(scene.run("sh", ["-c", line]).succeeds()),
        }
    }
    let list = fs::read_to_string(scene.path("have.json")).unwrap();
    assert!(list.contains("example.com/acme/demo"), "{list}");
}

#[test]
fn files_named_for_newcomers_exist() {
    let text = fs::read_to_string("CONTRIBUTING.md").unwrap();
    let (_, path) = text.split_once("## Where things are").unwrap();
    let named = path.split('`').skip(1).step_by(2);
    let named = named.filter(|name| name.contains(".rs") || name.contains(".md"));
    let named: Vec<&str> = named.collect();
    assert!(named.len() >= 5, "{named:?}");
    for name in named {
        assert!(Path::new(name).exists(), "{name}");
    }
}

#[test]
fn the_trust_file_of_the_readme_is_valid() {
    let scene = clone();
    scene.write("trust.toml", block("toml", "acme-2026"));
    for key in ["keys/acme-2024.asc", "keys/acme-2026.asc"] {
        scene.write(key, fs::read("testdata/release/acme.asc").unwrap());
    }
    let push = "push testdata/release --provider example.com/acme/demo --trust trust.toml";
    let run = scene.line(format!("{push} --to oci-layout:mirror"));
    run.succeeds().tells("(pinned)");
}

#[test]
fn the_mirror_file_of_the_readme_is_valid() {
    let scene = clone()
        .env("HTTPS_PROXY", "http://127.0.0.1:1")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
        .env("REGISTRY_AUTH_FILE", "none.json");
    scene.write("mirror.toml", block("toml", "platforms ="));
    scene.write("trust.toml", "");
    // The file is valid, and there is no network.
    let run = scene.line("mirror --file mirror.toml --pin-new");
    run.exits(1).tells("cannot reach");
}

#[test]
fn the_nightly_job_installs_this_version_before_it_mirrors() {
    let job = block("yaml", "schedule:");
    let version = format!("setup-tfoci@v{}", env!("CARGO_PKG_VERSION"));
    let mut at = 0;
    for step in [
        version.as_str(),
        "registry: ghcr.io",
        "tfoci mirror --file mirror.toml",
        "tfoci verify --file mirror.toml",
    ] {
        let found = job[at..].find(step);
        at += found.unwrap_or_else(|| panic!("{step} is not where it should be: {job}"));
    }
}

#[test]
fn the_table_of_dependencies_is_complete() {
    let text = fs::read_to_string("CONTRIBUTING.md").unwrap();
    let (_, table) = text.split_once("| dependency | ").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let named: Vec<&str> = table
        .lines()
        .filter_map(|row| row.strip_prefix("| `")?.split(" |").next())
        .flat_map(|names| names.split('`').filter(|name| !matches!(*name, "" | ", ")))
        .collect();
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let manifest = manifest.parse::<toml_edit::DocumentMut>().unwrap();
    let platforms = manifest["target"].as_table().unwrap().iter();
    let declared: BTreeSet<&str> = platforms
        .map(|(_, platform)| platform)
        .chain([manifest.as_item()])
        .flat_map(|item| item["dependencies"].as_table().unwrap().iter())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(named.len(), declared.len(), "{named:?}");
    assert_eq!(BTreeSet::from_iter(named), declared);
}

#[test]
fn readme_and_help_use_one_repository_template() {
    let scene = Scene::new();
    let help = scene.line("--help").succeeds().stdout;
    let pages = [listed(&help, "Commands:"), listed(&help, "Help topics")].concat();
    for page in ["serve", "deployment"] {
        assert!(pages.contains(&page.to_owned()), "{pages:?}");
    }
    let pages = pages.iter().map(|page| scene.line(format!("help {page}")));
    let pages = pages.map(|run| run.succeeds().stdout);
    let texts = readme() + &pages.collect::<String>();
    for template in ["ghcr.io/", "registry.internal/"] {
        let uses = texts.split(template).skip(1);
        let paths = uses.filter_map(|rest| rest.split(['\'', '"', '`', ' ', '\n']).next());
        // A page lists the registries with `OWNER` for the name of an owner. Both spellings mean the same.
        let paths = paths.filter(|path| path.contains('{') && !path.starts_with("OWNER/"));
        let paths: BTreeSet<_> = paths.map(|path| path.replace("${", "{")).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
        assert!(paths.iter().all(|path| path.contains("{hostname}")));
    }
}
