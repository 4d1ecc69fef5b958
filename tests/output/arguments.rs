use super::{check, hostile};
use crate::support::scene::Scene;

#[test]
fn hostile_arguments_are_printed_escaped() {
    let scene = Scene::new();
    for text in hostile() {
        let text = text.replace('\0', "");
        let option = format!("--{text}");
        for arguments in [
            &[text.as_str()][..],
            &[&option],
            &["push", &text],
            &["push", &text, &text, "--to", &text],
            &["push", "--format", &text],
            &["push", "dist", "--provider", &text, "--to", "oci-layout:x"],
            &["push", "dist", "--provider", "acme/demo", "--to", &text],
            &[
                "push",
                "dist",
                "--provider",
                "acme/demo",
                "--to",
                "oci-layout:x",
                "--annotation",
                &text,
            ],
            &[
                "push",
                "dist",
                "--provider",
                "acme/demo",
                "--to",
                "oci-layout:x",
                "--platform",
                &text,
            ],
            &["versions", "acme/demo", "--from", &text],
            &["resolve", &text, "--from", "h.example/{namespace}/{type}"],
            &["resolve", "acme/demo", "--from", &text],
            &[
                "install",
                &text,
                "--from",
                "oci-layout:x",
                "--into",
                &text,
                "--platform",
                &text,
            ],
            &["mirror", &text, "--from", &text, "--to", &text],
            &[
                "mirror",
                "acme/demo",
                "--to",
                "oci-layout:x",
                "--allow-unsigned",
                &text,
                "--plain-http",
                &text,
            ],
            &["login", &text, "--username", &text, "--password-stdin"],
            &["login", "h.example", "--username", &text],
            &["logout", &text],
            &["trust", "check", &text],
            &["trust", "show", &text, "--trust", &text],
            &["trust", "show", "acme/demo", "--key", &text],
            &[
                "versions",
                "acme/demo",
                "--from",
                "h.example/x",
                "--default-host",
                &text,
                "--timeout",
                &text,
            ],
        ] {
            check(&scene.tfoci(arguments), &format!("{arguments:?}"));
        }
        let scene = Scene::new().env("TFOCI_DEFAULT_HOST", &text);
        check(&scene.tfoci(["versions", "--help"]), &text);
        check(
            &scene.tfoci(["versions", "acme/demo", "--from", "oci-layout:x"]),
            &text,
        );
    }
}

#[test]
fn passwords_in_addresses_are_not_repeated() {
    let scene = Scene::new();
    scene.write("plan.toml", "to = \"https://me:hunter2@h.example/x\"\n[[provider]]\naddress = \"example.com/acme/demo\"\n");
    scene.write("plain.toml", "to = \"me:hunter2@h.example/x\"\n[[provider]]\naddress = \"me:hunter2@example.com/acme/demo\"\n");
    for plan in ["plan.toml", "plain.toml"] {
        let run = scene.tfoci(["mirror", "--file", plan, "--dry-run", "--format", "json"]);
        run.exits(2).hides("hunter2").hides("me:");
    }
    for (address, shown) in [
        ("https://me:hunter2@h.example/x", "…@h.example/x"),
        ("me:hunter2@h.example/x", "…@h.example/x"),
        ("me:hun/hunter2@h.example/x", "…@h.example/x"),
        ("https://me:hunter2\n@h.example/x", "…@h.example/x"),
        (
            "https://me:%68unter2hunter2@h.example/${type}",
            "…@h.example/",
        ),
        ("//me:hunter2@h.example/x", "…@h.example/x"),
        (":hunter2@h.example/x", "…@h.example/x"),
        ("network-mirror:me:hunter2@h.example/x", "…@h.example/x"),
        ("me:hunter2\"\\\u{200b}@h.example/x", "…@h.example/x"),
        ("me:hunter2@h.example/x@1.0.0", "…@"),
    ] {
        let option = format!("--to={address}");
        let hosts = format!("--plain-http={address}");
        for arguments in [
            &["versions", "acme/demo", "--from", address][..],
            &["resolve", "acme/demo", "--from", address],
            &[
                "resolve",
                "acme/demo",
                "--from",
                address,
                "--exact-repository",
            ],
            &["inspect", "acme/demo@1.0.0", "--from", address],
            &["install", "acme/demo", "--from", address, "--into", "x"],
            &["copy", "--from", address, "--to", "oci-layout:x"],
            &[
                "copy",
                "acme/demo",
                "--from",
                "h.example/{namespace}/{type}",
                &option,
            ],
            &["push", ".", "--provider", "acme/demo", &option],
            &["mirror", "acme/demo", &option],
            &[
                "mirror",
                "acme/demo",
                "--from",
                address,
                "--to",
                "oci-layout:x",
            ],
            &["login", address, "--username", "x", "--password-stdin"],
            &["logout", address],
            // The same in an argument that expects something else.
            &[address],
            &["push", ".", address, "--provider", "acme/demo", "--to", "x"],
            &["inspect", address, "--from", "oci-layout:x"],
            &[
                "install",
                address,
                "--from",
                "oci-layout:x",
                "--into",
                "x",
                "--platform",
                address,
            ],
            &[
                "mirror",
                address,
                "--to",
                "oci-layout:x",
                "--allow-unsigned",
                address,
            ],
            &[
                "push",
                ".",
                "--provider",
                address,
                "--to",
                "oci-layout:x",
                "--format",
                address,
            ],
            &[
                "versions",
                "acme/demo",
                "--from",
                "oci-layout:x",
                "--default-host",
                address,
            ],
            &["versions", "acme/demo", "--from", "oci-layout:x", &hosts],
            &[
                "versions",
                "acme/demo",
                "--from",
                "oci-layout:x",
                "--timeout",
                address,
            ],
            &["versions", "acme/demo", "--from", "oci-layout:x", &option],
        ] {
            for form in [&["-vv"][..], &["--format", "json"]] {
                let run = scene.tfoci(arguments.iter().chain(form));
                let run = run.hides("hunter2").hides("unter2");
                assert_ne!(run.status, Some(0), "{arguments:?}");
                check(&run, &format!("{arguments:?}"));
            }
        }
        let run = scene
            .tfoci(["resolve", "acme/demo", "--from", address])
            .exits(2);
        assert!(run.stderr.contains(shown), "{}", run.stderr);
    }
    let run = scene.tfoci(["resolve", "acme/demo", "--from", "me:hunter2@h.example/x"]);
    run.exits(2).says("error …@h.example/x expected");
}

#[test]
fn queries_in_addresses_are_not_repeated() {
    let scene = Scene::new();
    for address in [
        "https://h.example/x?sig=hunter2",
        "network-mirror:https://h.example/x?a=b&sig=hunter2",
        "network-mirror:https://h.example/#hunter2",
    ] {
        for arguments in [
            &["versions", "acme/demo", "--from", address][..],
            &[
                "mirror",
                "acme/demo",
                "--from",
                address,
                "--to",
                "oci-layout:x",
            ],
            &["mirror", "acme/demo", "--to", address],
            &["login", address, "--username", "x", "--password-stdin"],
            &[address],
        ] {
            for form in [&["-vv"][..], &["--format", "json"]] {
                let run = scene.tfoci(arguments.iter().chain(form));
                let run = run.hides("hunter2");
                assert!(run.stderr.contains("h.example"), "{}", run.stderr);
            }
        }
    }
}

#[test]
fn a_registry_in_a_file_of_credentials_may_have_a_password_too() {
    let scene = Scene::new();
    let file = r#"{"auths": {"me:hunter2@h.example": {"auth": "YTpi"}}}"#;
    scene.write("auth.json", file);
    let run = scene.tfoci(["logout", "h.example", "--authfile", "auth.json", "-vv"]);
    run.hides("hunter2");
    let arguments = ["versions", "acme/demo", "--from", "127.0.0.1:1/{type}"];
    let network = ["--plain-http", "127.0.0.1", "--timeout", "1", "-vv"];
    let file = ["--authfile", "auth.json"];
    let run = scene.tfoci(arguments.iter().chain(&network).chain(&file));
    run.hides("hunter2");
}

#[test]
fn a_port_and_a_version_are_not_taken_for_a_password() {
    let run = Scene::new().tfoci([
        "inspect",
        "h.example:8443/acme/demo@latest",
        "--from",
        "oci-layout:x",
    ]);
    let run = run.exits(2);
    assert!(run.stderr.contains("latest"), "{}", run.stderr);
    let run = Scene::new().tfoci(["push", "x", "h.example:8443/acme/demo@1.0.0", "--to", "x"]);
    let run = run.exits(2);
    assert!(
        run.stderr.contains("'h.example:8443/acme/demo@1.0.0'"),
        "{}",
        run.stderr
    );
}
