use super::origin_scene::OriginScene;
use super::{LINUX, demo};
use crate::support::origin::{Fault, Provider, asks};
use crate::support::registry::{Access, Personality, Setup};
use crate::support::release::ReleaseFolder;

const DARWIN: &str = "darwin_arm64";

/// The HTML page that a login proxy sends in place of JSON.
fn page() -> Fault {
    Fault::alter(|answer| {
        answer.body = "<html>log in</html>".into();
        answer.set("content-type", "text/html; charset=utf-8");
    })
}

#[test]
fn a_mirror_does_not_replace_a_release_that_was_built_again() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    let again = ReleaseFolder::new("demo", "1.0.0")
        .package(LINUX, &[("terraform-provider-demo_v1.0.0", b"another")])
        .platform(DARWIN);
    scene
        .origin
        .publish(Provider::new("acme/demo").release(again));
    let before = scene.tree();
    scene.demo("--platform darwin_arm64").says(3, "
error: [ORIGIN]/acme/demo 1.0.0 (oci-layout:store/[ORIGIN]/acme/demo): the store has packages of another release of this version
  no line of the checksum document covers the zip for linux_amd64
    received sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec

hint: nothing of this version was changed. Versions are immutable, since lock files pin their zips: ask its author why this one was made again. Until then, the constraint `!= 1.0.0` leaves it out; `tfoci help maintenance` says how to replace it
");
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_dry_run_with_nothing_to_do_says_so() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    scene.demo("--dry-run").says(
        0,
        "
   Present [ORIGIN]/acme/demo 1.0.0
Would mirror nothing: 1 package already present, in [TIME]
",
    );
}

#[test]
fn sources_that_are_not_a_mirror_are_refused() {
    let scene = OriginScene::of([demo()]);
    scene.write("file", "");
    scene
        .mirror("a.example/acme/demo --from filesystem-mirror:nothere")
        .says(
            1,
            "
error: `nothere` is not a directory
  expected the directory of a filesystem mirror
  received nothing of that name
",
        );
    scene
        .mirror("a.example/acme/demo --from filesystem-mirror:file")
        .says(
            1,
            "
error: `file` is not a directory
  expected the directory of a filesystem mirror
  received a file
",
        );
    scene
        .mirror("a.example/acme/demo --from network-mirror:https://[ORIGIN]/nowhere")
        .says(1, "
error: a.example/acme/demo (network-mirror:https://[ORIGIN]/nowhere/): the mirror has no such provider
  from https://[ORIGIN]/nowhere/a.example/acme/demo/index.json
  answered 404

hint: the mirror does not have this provider, or is not at this URL: its address ends where HOSTNAME/NAMESPACE/TYPE begins
");
    scene.write("cfg/main.tf", "");
    scene.mirror("--from-config cfg/main.tf").says(
        1,
        "
error: cfg/main.tf is not a configuration
  expected a directory
  received a file
",
    );
}

#[test]
fn an_html_page_in_place_of_json_is_reported() {
    let scene = OriginScene::of([demo()]);
    scene.origin.always(asks("versions"), page());
    scene.demo("").says(
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the list of versions cannot be understood
  expected the content type application/json
  received text/html; charset=utf-8
  from https://[ORIGIN]/v1/providers/acme/demo/versions
  line 1, column 1: this is not JSON

hint: a page in place of JSON often means that something between here and the server wants a login
",
    );
}

#[test]
fn misspelt_platforms_are_distinguished_from_missing_ones() {
    let scene = OriginScene::of([demo().version("1.1.0", &[DARWIN, LINUX])]);
    scene.demo("--platform linux_amd65").says(
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): none of the wanted packages is published
  expected linux_amd65
  has darwin_arm64, linux_amd64 of 1.1.0

hint: did you mean the platform `linux_amd64`?
",
    );
    scene.demo("--platform freebsd_386").says(
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): none of the wanted packages is published
  expected freebsd_386
  has darwin_arm64, linux_amd64 of 1.1.0

hint: choose among these by `--platform`, or by `platforms` in the mirror file
",
    );
}

#[test]
fn malformed_hosts_are_refused() {
    let scene = OriginScene::of([demo()]);
    for (option, text) in [
        ("--plain-http", "http://x"),
        ("--plain-http", ""),
        ("--insecure-skip-tls-verify", "a/b"),
        ("--allow-private", ""),
    ] {
        scene.demo(&format!("{option}={text}")).says(2, &format!("
error: invalid value '{text}' for '{option} <HOST>': expected HOST or HOST:PORT, such as registry.internal:5000 or [::1]:5000

For more information, try '--help'.
"));
    }
    let origin = scene.origin.host().to_owned();
    scene
        .demo(&format!(
            "--allow-private [::1]:80 --allow-private {origin} -q"
        ))
        .says(0, "");
}

#[test]
fn a_lock_file_without_providers_is_reported() {
    let scene = OriginScene::of([]);
    scene.write("empty/.terraform.lock.hcl", "");
    scene.mirror("--from-lock empty").says(
        0,
        "
   Warning empty/.terraform.lock.hcl locks no provider
  Mirrored nothing in [TIME]
",
    );
}

#[test]
fn empty_variables_count_as_unset() {
    let mut scene = OriginScene::of([demo()]);
    scene.scene = scene
        .scene
        .env("TFOCI_TIMEOUT", "")
        .env("TFOCI_DEFAULT_HOST", "");
    scene.demo("-q").says(0, "");
    scene.scene = scene.scene.env("TFOCI_TIMEOUT", "soon");
    scene.demo("-q").says(
        2,
        "
error: invalid value 'soon' for 'TFOCI_TIMEOUT (--timeout <SECONDS>)': expected 1 to 65535 seconds

For more information, try '--help'.
",
    );
}

#[test]
fn a_registry_that_refuses_the_credentials_gets_a_hint_about_login() {
    let registry = Setup::of(Personality::Plain)
        .access(Access::of(Personality::Quay))
        .start();
    let scene = OriginScene::of([demo()]);
    let host = registry.host();
    let run = format!(
        "[ORIGIN]/acme/demo --to {host}/acme/demo --plain-http {host} --authfile auth.json"
    );
    scene.write("auth.json", "{}");
    let said = |hint: &str| {
        let told = scene.run(&run).ends(1);
        let hint = format!("hint: {}\n", hint.replace("HOST", host));
        assert!(told.ends_with(&hint), "{told}");
    };
    let in_ci = "in CI, REGISTRY_AUTH_FILE names a file that has them";
    said(&format!(
        "`tfoci login HOST` stores them, with the same `--authfile` if you give one; {in_ci}. Some registries answer like this for a repository that they do not have"
    ));
    let wrong = format!("{{\"auths\":{{\"{host}\":{{\"auth\":\"cm9ib3Q6d3Jvbmc=\"}}}}}}");
    scene.write("auth.json", wrong);
    said(&format!(
        "they may be wrong or expired, or not authorize this. `tfoci login HOST` stores others; {in_ci}. Some registries answer like this for a repository that they do not have"
    ));
}

#[test]
fn long_pauses_are_reported_and_ranges_traced() {
    let scene = OriginScene::of([demo()]);
    let slow = Fault::too_many_requests("2");
    scene.origin.fault(1, asks("versions"), slow);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    scene.demo("").says(
        0,
        "
    Copied [ORIGIN]/acme/demo 1.0.0   1 package, 406 B   signed [ACME ID] (origin)
  Retrying https://[ORIGIN]/v1/providers/acme/demo/versions after 2.0s: it answered 429
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
",
    );

    let scene = OriginScene::of([demo()]);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    let said = scene.demo("-vv").ends(0);
    assert!(said.contains(".zip (Range: bytes=100-): 206, "), "{said}");
    assert!(said.contains(".zip: 200, "), "{said}");
}
