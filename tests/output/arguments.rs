use super::{check, hostile, words};
use crate::support::scene::Scene;

#[test]
fn hostile_arguments_are_printed_escaped() {
    let scene = Scene::new();
    for text in hostile() {
        let text = text.replace('\0', "");
        for line in [
            "[X]",
            "--[X]",
            "push [X]",
            "push [X] [X] --to [X]",
            "push --format [X]",
            "push dist --provider [X] --to oci-layout:x",
            "push dist --provider acme/demo --to [X]",
            "push dist --provider acme/demo --to oci-layout:x --annotation [X]",
            "push dist --provider acme/demo --to oci-layout:x --platform [X]",
            "versions acme/demo --from [X]",
            "resolve [X] --from h.example/{namespace}/{type}",
            "resolve acme/demo --from [X]",
            "install [X] --from oci-layout:x --into [X] --platform [X]",
            "mirror [X] --from [X] --to [X]",
            "mirror acme/demo --to oci-layout:x --allow-unsigned [X] --plain-http [X]",
            "login [X] --username [X] --password-stdin",
            "login h.example --username [X]",
            "logout [X]",
            "trust check [X]",
            "trust show [X] --trust [X]",
            "trust show acme/demo --key [X]",
            "versions acme/demo --from h.example/x --default-host [X] --timeout [X]",
        ] {
            check(&scene.tfoci(words(line, &text)), &format!("{line}: {text}"));
        }
        let scene = Scene::new().env("TFOCI_DEFAULT_HOST", &text);
        check(&scene.tfoci(["versions", "--help"]), &text);
        check(&scene.line("versions acme/demo --from oci-layout:x"), &text);
    }
}

#[test]
fn passwords_in_addresses_are_not_repeated() {
    let scene = Scene::new();
    for (to, host) in [("https://me:hunter2@", ""), ("me:hunter2@", "me:hunter2@")] {
        let plan = format!(
            "to = \"{to}h.example/x\"\n[[provider]]\naddress = \"{host}example.com/acme/demo\"\n"
        );
        scene.write("plan.toml", plan);
        let run = scene.line("mirror --file plan.toml --dry-run --format json");
        run.exits(2).hides("hunter2").hides("me:");
    }
    for (address, shown) in [
        ("https://me:hunter2@h.example/x", "…@h.example/x"),
        ("me:hunter2@h.example/x", "…@h.example/x"),
        ("me:hun/hunter2@h.example/x", "…@h.example/x"),
        ("https://me:hunter2\n@h.example/x", "…@h.example/x"),
        ("https://me:%68unter2@h.example/${type}", "…@h.example/"),
        ("//me:hunter2@h.example/x", "…@h.example/x"),
        (":hunter2@h.example/x", "…@h.example/x"),
        ("network-mirror:me:hunter2@h.example/x", "…@h.example/x"),
        ("me:hunter2\"\\\u{200b}@h.example/x", "…@h.example/x"),
        ("me:hunter2@h.example/x@1.0.0", "…@"),
    ] {
        for line in [
            "versions acme/demo --from [X]",
            "resolve acme/demo --from [X]",
            "resolve acme/demo --from [X] --exact-repository",
            "inspect acme/demo@1.0.0 --from [X]",
            "install acme/demo --from [X] --into x",
            "copy --from [X] --to oci-layout:x",
            "copy acme/demo --from h.example/{namespace}/{type} --to=[X]",
            "push . --provider acme/demo --to=[X]",
            "mirror acme/demo --to=[X]",
            "mirror acme/demo --from [X] --to oci-layout:x",
            "login [X] --username x --password-stdin",
            "logout [X]",
            // The same in an argument that expects something else.
            "[X]",
            "push . [X] --provider acme/demo --to x",
            "inspect [X] --from oci-layout:x",
            "install [X] --from oci-layout:x --into x --platform [X]",
            "mirror [X] --to oci-layout:x --allow-unsigned [X]",
            "push . --provider [X] --to oci-layout:x --format [X]",
            "versions acme/demo --from oci-layout:x --default-host [X]",
            "versions acme/demo --from oci-layout:x --plain-http=[X]",
            "versions acme/demo --from oci-layout:x --timeout [X]",
            "versions acme/demo --from oci-layout:x --to=[X]",
        ] {
            for form in ["-vv", "--format json"] {
                let run = scene.tfoci(words(&format!("{line} {form}"), address));
                let run = run.hides("unter2");
                assert_ne!(run.status, Some(0), "{line}: {address}");
                check(&run, &format!("{line}: {address}"));
            }
        }
        let run = scene.tfoci(["resolve", "acme/demo", "--from", address]);
        run.exits(2).tells(shown);
    }
    let run = scene.line("resolve acme/demo --from me:hunter2@h.example/x");
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
        for line in [
            "versions acme/demo --from [X]",
            "mirror acme/demo --from [X] --to oci-layout:x",
            "mirror acme/demo --to [X]",
            "login [X] --username x --password-stdin",
            "[X]",
        ] {
            for form in ["-vv", "--format json"] {
                let run = scene.tfoci(words(&format!("{line} {form}"), address));
                run.hides("hunter2").tells("h.example");
            }
        }
    }
}

#[test]
fn a_registry_in_a_file_of_credentials_may_have_a_password_too() {
    let scene = Scene::new();
    let file = r#"{"auths": {"me:hunter2@h.example": {"auth": "YTpi"}}}"#;
    scene.write("auth.json", file);
    let run = scene.line("logout h.example --authfile auth.json -vv");
    run.hides("hunter2");
    let run = scene.line("versions acme/demo --from 127.0.0.1:1/{type} --plain-http 127.0.0.1 --timeout 1 -vv --authfile auth.json");
    run.hides("hunter2");
}

#[test]
fn a_port_and_a_version_are_not_taken_for_a_password() {
    let inspect = "inspect h.example:8443/acme/demo@latest --from oci-layout:x";
    Scene::new().line(inspect).exits(2).tells("latest");
    let run = Scene::new().line("push x h.example:8443/acme/demo@1.0.0 --to x");
    run.exits(2).tells("'h.example:8443/acme/demo@1.0.0'");
}
