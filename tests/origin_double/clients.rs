use std::fs;

use tfoci::platform::Platform;

use crate::clients::run;
use crate::support::origin::lie::{self, Form};
use crate::support::origin::{Door, Fault, Origin, Provider, Release, Setup, asks, at};
use crate::support::programs::has;
use crate::support::release::{Mistake, ReleaseFolder, sha256};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

/// The clients on this machine, each with its column in the tables of messages.
fn clients() -> impl Iterator<Item = (usize, &'static str)> {
    ["terraform", "tofu"]
        .into_iter()
        .enumerate()
        .filter(|(_, client)| has(client))
}

fn here() -> String {
    Platform::current().to_string()
}

/// `acme/demo` 1.0.0 for this machine and for a platform that no machine has.
fn demo() -> Provider {
    Provider::demo(&[&here(), "plan9_mips"])
}

/// `demo` 1.0.0 for this machine.
fn folder() -> ReleaseFolder {
    ReleaseFolder::new("demo", "1.0.0").platform(&here())
}

/// An origin of `acme/demo` with this release only.
fn only(release: impl Into<Release>) -> Origin {
    Origin::of([Provider::new("acme/demo").release(release)])
}

/// A scene that trusts an origin's certificate, with a CLI configuration and a project that requires a provider.
fn scene(origin: &Origin, address: &str, configuration: &str) -> Scene {
    let scene = Scene::new();
    let ca = origin.write_ca(&scene);
    scene.write("client.tfrc", configuration);
    let required = format!("demo = {{ source = \"{address}\" }}");
    let needs = format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n");
    scene.write("project/main.tf", needs);
    scene.env("SSL_CERT_FILE", ca.to_str().unwrap())
}

fn credentials(origin: &Origin, token: &str) -> String {
    let host = origin.host();
    format!("credentials \"{host}\" {{\n  token = \"{token}\"\n}}\n")
}

fn client(scene: &Scene, client: &str, arguments: &[&str]) -> Run {
    run(scene, &scene.path("project"), client, arguments)
}

fn init(scene: &Scene, name: &str) -> Run {
    client(scene, name, &["init", "-input=false", "-no-color"])
}

/// Installs `acme/demo` and returns the client's message, on one line and without frames.
fn attempt(origin: &Origin, client: &str) -> (bool, String) {
    let run = init(&scene(origin, &origin.address("acme/demo"), ""), client);
    let text = format!("{} {}", run.stdout, run.stderr).replace(['│', '╷', '╵'], " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    (run.status == Some(0), words.join(" "))
}

/// Asserts that both clients install `acme/demo` from an origin, if it is `""`, or refuse it with these words.
#[track_caller]
fn assert_refusals(case: &str, make: impl Fn() -> Origin, words: [&str; 2]) {
    for (place, client) in clients() {
        let origin = make();
        let (installed, said) = attempt(&origin, client);
        let words = words[place];
        assert_eq!(installed, words.is_empty(), "{client}, {case}: {said}");
        assert!(said.contains(words), "{client}, {case}: {said}");
        origin.assert_no_leaks();
    }
}

/// The same for an origin of [`demo`] where requests of some sort always meet a fault.
#[track_caller]
fn assert_faults(sort: &str, cases: &[(Fault, [&str; 2])]) {
    for (number, (fault, words)) in cases.iter().enumerate() {
        let make = || {
            let origin = Origin::of([demo()]);
            origin.always(at(Door::Front, asks(sort)), fault.clone());
            origin
        };
        assert_refusals(&format!("{sort} {number}"), make, *words);
    }
}

#[test]
fn clients_install_with_a_token_from_services_and_signed_urls_elsewhere() {
    for (_, client) in clients() {
        let origin = Setup::new([demo()])
            .token("sesame")
            .service_at(Door::Elsewhere)
            .files_at(Door::Elsewhere)
            .signed_urls()
            .start();
        let address = origin.address("acme/demo");
        let run = init(&scene(&origin, &address, ""), client).exits(1);
        run.tells("requires authentication");
        origin.forget();
        let scene = scene(&origin, &address, &credentials(&origin, "sesame"));
        let run = init(&scene, client).succeeds();
        let fingerprint = Signer::acme().fingerprint();
        assert!(run.stdout.contains(&fingerprint[24..]), "{}", run.stdout);
        let lock = fs::read_to_string(scene.path("project/.terraform.lock.hcl")).unwrap();
        for platform in [here().as_str(), "plan9_mips"] {
            let zip = origin.zip("acme/demo", "1.0.0", platform);
            assert!(lock.contains(&format!("zh:{}", sha256(&zip))), "{lock}");
        }
        let packages = origin.count(asks("package"));
        let counters = "1 discovery, 1 versions, 1 download, 1 document, 1 signature";
        assert_eq!(origin.counters(), format!("{counters}, {packages} package"));
        origin.assert_no_leaks();
    }
}

#[test]
fn a_host_block_makes_the_origin_replace_another_host() {
    for (_, client) in clients() {
        let origin = Origin::of([demo()]);
        let (host, address) = ("registry.example.com", "registry.example.com/acme/demo");
        let scene = scene(&origin, address, &origin.host_block(host));
        init(&scene, client).succeeds();
        assert_eq!(origin.count(asks("discovery")), 0);
    }
}

#[test]
fn clients_mirror_the_published_packages() {
    for (_, name) in clients() {
        let origin = Origin::of([demo()]);
        let address = origin.address("acme/demo");
        let scene = scene(&origin, &address, "");
        let platform = here();
        let [one, other] = [&platform, "plan9_mips"].map(|one| format!("-platform={one}"));
        let arguments = ["providers", "mirror", &one, &other, "../mirror"];
        client(&scene, name, &arguments).succeeds();
        let folder = scene.path(format!("mirror/{address}"));
        for platform in [&platform, "plan9_mips"] {
            let file = format!("terraform-provider-demo_1.0.0_{platform}.zip");
            let zip = fs::read(folder.join(file)).unwrap();
            assert!(zip == origin.zip("acme/demo", "1.0.0", platform), "{name}");
        }
        assert_eq!(origin.count(asks("download acme/demo 1.0.0")), 2);
        origin.assert_no_leaks();
    }
}

#[test]
fn clients_install_from_the_network_mirror() {
    for (_, client) in clients() {
        let origin = Setup::new([demo()]).mirror_token("sesame").start();
        let url = origin.mirror_url();
        let print = format!("cli-config --url {url} --client {client}");
        let mirror = Scene::new().line(&print).succeeds().stdout;
        let address = "registry.example.com/acme/demo";
        let run = init(&scene(&origin, address, &mirror), client).exits(1);
        run.tells("credentials");
        origin.forget();
        let configuration = mirror + &credentials(&origin, "sesame");
        init(&scene(&origin, address, &configuration), client).succeeds();
        let packages = origin.count(asks("package"));
        let counters = format!("{packages} package, 1 mirror-index, 1 mirror-version");
        assert_eq!(origin.counters(), counters);
        origin.assert_no_leaks();
    }
}

#[test]
fn clients_report_faults_of_discovery_and_lists() {
    assert_faults(
        "discovery",
        &[
            (Fault::RedirectElsewhere, ["", ""]),
            (
                Fault::with("content-type", "text/html"),
                ["unsupported Content-Type"; 2],
            ),
            (lie::padded(2 << 20), ["response is too large"; 2]),
            (
                lie::says("providers.v1", "/v1/providers"),
                ["does not have a provider named"; 2],
            ),
            (
                lie::renames("providers.v1", "providers.v2"),
                ["compatible with a different"; 2],
            ),
            (lie::lacks("providers.v1"), ["does not offer a"; 2]),
            (
                lie::says("providers.v1", "https://a:b@localhost/"),
                ["embedded username/password"; 2],
            ),
        ],
    );
    let number = lie::says("versions/0/version", "x");
    assert_faults("versions", &[(number, ["invalid version string"; 2])]);
}

#[test]
fn clients_refuse_metadata_that_does_not_match() {
    let platform = here();
    let size = format!("packages/{platform}/package_size");
    let issuer = "signature from unknown issuer";
    assert_faults(
        "download",
        &[
            (
                lie::says("shasum", "0".repeat(64)),
                ["checksum list has unexpected", "expected sha256sum is"],
            ),
            (lie::says("os", "beos"), ["incorrect target"; 2]),
            (
                lie::says("download_url", "ftp://a/x.zip"),
                ["must use http or https"; 2],
            ),
            (lie::lacks("signing_keys"), [issuer; 2]),
            (lie::broken_first_key(), ["error decoding signing key"; 2]),
            (lie::says(&size, 1), ["", "indicates a package of size 1"]),
            (
                lie::says("protocols", serde_json::json!(["4.0"])),
                ["not compatible"; 2],
            ),
            (Fault::status(404), ["does not have a package available"; 2]),
            (Fault::too_many_requests("1"), ["429 Too Many Requests"; 2]),
        ],
    );
}

#[test]
fn clients_refuse_wrong_packages() {
    assert_faults(
        "package",
        &[
            (Fault::RedirectElsewhere, ["", ""]),
            (Fault::RedirectPlain, ["", ""]),
            (Fault::chunked(), ["", ""]),
            (Fault::wrong_bytes(), ["incorrect checksum"; 2]),
            (
                Fault::shorter_body(),
                ["incorrect checksum", "received a package of size"],
            ),
            (Fault::cut_body(100), ["unexpected EOF"; 2]),
            (Fault::status(403), ["403"; 2]),
        ],
    );
}

#[test]
fn clients_accept_and_refuse_forms_of_checksum_documents() {
    let absent = "checksum list has no SHA-256 hash";
    for form in Form::ALL {
        let words = match form {
            Form::Starred | Form::UpperCaseNames => [absent; 2],
            Form::BlankLine => ["panic"; 2],
            _ => ["", ""],
        };
        let make = || only(folder().document(move |text| form.of(text)));
        assert_refusals(&format!("{form:?}"), make, words);
    }
}

#[test]
fn clients_accept_and_refuse_signatures_and_keys() {
    let (issuer, broken) = ("signature from unknown issuer", "tag byte");
    for (mistake, words) in [
        (Mistake::ZipsAltered, "checksum list has unexpected"),
        (Mistake::ZipsUnlisted, "checksum list has no SHA-256 hash"),
        (Mistake::DocumentAltered, "verification failure"),
        (Mistake::SignatureBroken, broken),
        (Mistake::SignatureArmored, broken),
        (Mistake::SignatureByStranger, issuer),
        (Mistake::SignatureMissing, "404"),
    ] {
        let make = || only(folder().mistake(mistake));
        assert_refusals(&format!("{mistake:?}"), make, [words; 2]);
    }
    for (signer, words) in [
        (Signer::stranger(), ""),
        (Signer::expired_since(), ""),
        (Signer::expired_before(), ""),
        (Signer::revoked(), "revoked key"),
    ] {
        let make = || only(folder().signed_by(signer));
        assert_refusals(&signer.fingerprint(), make, [words; 2]);
    }
    let both = || only(Release::from(folder()).signers(&[Signer::stranger(), Signer::acme()]));
    assert_refusals("second", both, [""; 2]);
    let none = || only(Release::from(folder()).keys(&[]));
    assert_refusals("none", none, [issuer; 2]);
}

#[test]
fn clients_request_a_short_version_in_full_and_do_not_find_it() {
    let make = || Origin::of([Provider::new("acme/demo").version("0.50", &[&here()])]);
    let words = "v0.50.0 does not have a package available";
    assert_refusals("short", make, [words; 2]);
}

#[test]
fn clients_mirror_packages_with_a_netrc() {
    for (_, name) in clients() {
        let origin = Setup::new([demo()])
            .package_login("robot", "secret")
            .start();
        let scene = scene(&origin, &origin.address("acme/demo"), "");
        let mirror = ["providers", "mirror", "../mirror"];
        client(&scene, name, &mirror).exits(1);
        // With the port, as these clients look for it.
        let machine = origin.host();
        let netrc = format!("machine {machine} login robot password secret\n");
        scene.write(".netrc", netrc);
        client(&scene, name, &mirror).succeeds();
        origin.assert_no_leaks();
    }
}
