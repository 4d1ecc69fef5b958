use super::origin_scene::OriginScene;
use super::{DARWIN, LINUX, demo};
use crate::support::origin::Provider;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

/// Mirror files that cannot be used.
mod mistakes;

fn two() -> [Provider; 2] {
    let both = [DARWIN, LINUX];
    let other = Provider::new("acme/other").version("1.0.0", &both);
    let other = other.version("1.1.0", &both).version("2.0.0-rc.1", &both);
    [Provider::demo(&both), other]
}

#[test]
fn a_mirror_file_selects_providers_platforms_and_versions() {
    let scene = OriginScene::of(two());
    let text = r#"
trust = "../trust.toml"
to = ["oci-layout:store"]
platforms = ["linux_amd64"]
newest = 1

[[provider]]
address = "[ORIGIN]/acme/demo"
platforms = ["darwin_arm64", "linux_amd64"]

[[provider]]
address = "[ORIGIN]/acme/other"
constraints = ">= 1.0"
newest = 2
prereleases = true

[[provider]]
address = "[ORIGIN]/acme/other"
constraints = "1.0.0"
platforms = ["darwin_arm64"]
"#;
    scene.write("plans/mirror.toml", scene.named(text));
    // As `gpg --fingerprint` prints it, with blanks.
    let fingerprint = Signer::acme().fingerprint();
    let digits: Vec<&str> = (0..10).map(|at| &fingerprint[4 * at..][..4]).collect();
    let fingerprint = [digits[..5].join(" "), digits[5..].join(" ")].join("  ");
    let trust = format!("[[provider]]\nmatch = \"[ORIGIN]/acme/*\"\nkeys = [\"{fingerprint}\"]\n");
    scene.write("trust.toml", scene.named(&trust));
    let told = scene.run("--file plans/mirror.toml --jobs 1 -q");
    told.says(0, "");
    let expected = "\
acme/demo 1.0.0 darwin_arm64
acme/demo 1.0.0 linux_amd64
acme/other 1.0.0 darwin_arm64
acme/other 1.1.0 linux_amd64
acme/other 2.0.0-rc.1 linux_amd64";
    assert_eq!(scene.installs().join("\n"), expected);
}

#[test]
fn two_destinations_get_the_same_versions() {
    let scene = OriginScene::of([demo()]);
    std::fs::create_dir(scene.path("store")).unwrap();
    let text = "to = [\"oci-layout:store/a\", \"oci-layout:store/b\"]\n[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\n";
    scene.write("mirror.toml", scene.named(text));
    scene
        .run("--file mirror.toml -q")
        .says(0, "")
        .gives("a/[ORIGIN]/acme/demo:1.0.0 b/[ORIGIN]/acme/demo:1.0.0");
    assert_eq!(scene.installs(), ["acme/demo 1.0.0 linux_amd64"; 2]);
    // The command line takes precedence.
    let told = scene.run("--file mirror.toml --to oci-layout:store/c -q");
    told.gives("c/[ORIGIN]/acme/demo:1.0.0");
}

/// A stranger's mirror file may name a file with secrets as the trust file.
#[test]
fn no_text_of_a_trust_file_that_a_mirror_file_names_is_shown() {
    let text =
        "trust = \"secrets\"\nto = [\"oci-layout:x\"]\n[[provider]]\naddress = \"a.example/b/c\"\n";
    let github = Scene::new().env("GITHUB_ACTIONS", "true");
    for scene in [Scene::new(), github] {
        scene.write("mirror.toml", text);
        for secrets in [
            "{\"auths\":{\"a.example\":{\"auth\":\"SECRET\"}}}\n",
            "machine SECRET login SECRET password SECRET\n",
            "SECRET\n",
            "SECRET = 'SECRET'\n",
            "provider = 'SECRET, expected SECRET'\n",
            "[[provider]]\nmatch = 'a.example/*/*'\nunsigned = 'SECRET'\n",
            "[[provider]]\nmatch = ['SECRET']\n",
            "[[provider]]\nmatch = 'a.example/*/*'\n'SECRET' = 1\n",
            "a = 'SECRET\n",
        ] {
            scene.write("secrets", secrets);
            let copy = "copy --from oci-layout:x --to oci-layout:y";
            for command in ["mirror --dry-run", "mirror --pin-new", copy] {
                for form in ["text", "json"] {
                    let line = format!("{command} --file mirror.toml --format {form}");
                    let run = scene.line(line).exits(2);
                    let said = run.stderr + &run.stdout;
                    assert!(said.contains("secrets"), "{said}");
                    for text in ["SECRET", "auth", "machine"] {
                        assert!(!said.contains(text), "{command}\n{said}");
                    }
                }
            }
        }
    }
    let scene = OriginScene::of([]);
    scene.write("mirror.toml", text);
    scene.write("secrets", "\nSECRET = 1\n");
    scene.run("--file mirror.toml").says(2, "error 2 1");
    // What the user names is shown to the user.
    let told = scene.run("--file mirror.toml --trust secrets");
    told.says(2, "error 2 1 | 2 | = 1 |");
}

#[test]
fn contradictory_and_missing_options_are_usage_errors() {
    let scene = OriginScene::of([demo()]);
    let said = scene.run("[ORIGIN]/acme/demo");
    said.says(2, "error [ORIGIN]/acme/demo");
    scene.run("--to oci-layout:store").says(2, "error");
    for (option, value, facts) in [
        ("--shard", "3/2", "<I/N> I/N 1/4 1"),
        ("--newest", "0", "<N>"),
        ("--newest", "three", "<N>"),
        ("--platform", "linux", "<OS_ARCH> OS_ARCH linux_amd64"),
    ] {
        let says = format!("error {value} {option} {facts} --help");
        scene.demo(&format!("{option} {value}")).says(2, &says);
    }
}

#[test]
fn shards_split_the_providers() {
    let scene = OriginScene::of(Provider::many(5, 1, &[LINUX]));
    let all: String = (0..5).map(|n| format!("[ORIGIN]/acme/p{n} ")).collect();
    let mut counts = Vec::new();
    for shard in 1..=3 {
        let told = scene.mirror(&format!("{all} --shard {shard}/3 -q"));
        told.says(0, "");
        counts.push(scene.installs().len());
    }
    assert_eq!(counts, [2, 4, 5]);
    let present = all.replace("[ORIGIN]", "1.0.0 Present [ORIGIN]");
    let said = scene.mirror(&format!("{all} --dry-run"));
    said.tells(&format!("{} 1.0.0 Would 5 [TIME]", &present[6..]));
    let scene = OriginScene::of([demo()]);
    scene.demo("--shard 2/2").tells("Mirrored [TIME]");
}

#[test]
fn one_repository_is_for_one_provider() {
    let other = Provider::new("acme/other").version("1.0.0", &[LINUX]);
    let scene = OriginScene::of([demo(), other]);
    let into = "--exact-repository --to oci-layout:one";
    let both = "[ORIGIN]/acme/demo [ORIGIN]/acme/other";
    let said = scene.run(&format!("{both} {into}"));
    said.says(2, &format!("error {both}")).gives("");
    let said = scene.run(&format!("-q [ORIGIN]/acme/demo {into}"));
    said.says(0, "");
    let before = scene.tree();
    // The version is present with every platform, but belongs to another provider.
    let said = scene.run(&format!("[ORIGIN]/acme/other {into}"));
    said.says(
        3,
        "error [ORIGIN]/acme/other 1.0.0 expected [ORIGIN]/acme/other received [ORIGIN]/acme/demo",
    );
    assert_eq!(scene.tree(), before);
}
