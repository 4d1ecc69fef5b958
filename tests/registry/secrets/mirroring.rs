use super::{WRONG, forms, secrets, shows_secrets};
use crate::support::origin::{self, Origin, Provider, SECRET, asks, lie};
use crate::support::registry::{Fault, Personality, Registry, Seen, Setup, matching};
use crate::support::scene::{Run, Scene};

/// The token that the origin requires.
const TOKEN: &str = "token-of-the-origin";
/// A token from a source that has lower precedence.
const OTHER: &str = "token-of-another-file";
/// The password of `robot` that downloads of packages require.
const LOGIN: &str = "password-of-packages";
/// A secret that an origin puts into an error message by mistake.
const SLIP: &str = "a-slip-of-the-origin";

/// An origin and a registry that require credentials, and a user who has them.
struct MirrorScene {
    origin: Origin,
    registry: Registry,
    scene: Scene,
}

/// Where the user keeps the origin's token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Variable,
    Block,
    File,
}

impl MirrorScene {
    fn new(kept: Kept, token: &str) -> Self {
        let origin = origin::Setup::new([Provider::demo(&["darwin_arm64", "linux_amd64"])])
            .token(TOKEN)
            .mirror_token(TOKEN)
            .package_login("robot", LOGIN)
            .signed_urls()
            .start();
        let setup = Setup::of(Personality::Harbor).create("acme");
        let registry = setup.quirks(shows_secrets).start();
        let scene = Scene::new()
            .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
            .env("TF_PROVIDER_DOWNLOAD_RETRY", "1");
        origin.write_ca(&scene);
        scene.write("auth.json", registry.authfile());
        let netrc = format!("machine localhost login robot password {LOGIN}\n");
        scene.write(".netrc", netrc);
        let host = origin.host();
        let keep = |place| if kept == place { token } else { OTHER };
        let block = keep(Kept::Block);
        let block = format!("credentials \"{host}\" {{ token = \"{block}\" }}\n");
        scene.write(".tofurc", block);
        if kept != Kept::Block {
            let entry = serde_json::json!({host: {"token": keep(Kept::File)}});
            let file = serde_json::json!({"credentials": entry});
            scene.write(".terraform.d/credentials.tfrc.json", file.to_string());
        }
        let scene = match kept {
            Kept::Variable => scene.env(&format!("TF_TOKEN_{host}"), token),
            _ => scene,
        };
        Self {
            origin,
            registry,
            scene,
        }
    }

    /// Mirrors with every output format, and searches the output for secrets.
    fn mirror(&self, arguments: &str) -> [Run; 2] {
        ["text", "json"].map(|format| {
            let to = format!("{}/{{namespace}}/{{type}}", self.registry.host());
            let more = "--ca-file ca.pem --authfile auth.json --plain-http 127.0.0.1 -vv";
            let line = format!("mirror {arguments} --to {to} {more} --format {format}");
            let run = self.scene.line(line);
            let user = self.registry.user().unwrap();
            let mut wanted = secrets(user);
            wanted.extend([SECRET, SLIP].map(str::to_owned));
            for secret in [TOKEN, OTHER, LOGIN] {
                wanted.extend(forms("robot", secret));
            }
            let wanted = wanted.iter();
            wanted.fold(run, |run, secret| run.hides(secret))
        })
    }

    fn demo(&self, more: &str) -> [Run; 2] {
        let address = self.origin.address("acme/demo");
        self.mirror(&format!("{address} {more}"))
    }
}

#[test]
fn secrets_stay_hidden_in_successful_runs() {
    for (kept, source) in [
        (Kept::Variable, "Using TF_TOKEN_localhost:"),
        (Kept::Block, "Using [TMP]/.tofurc (credentials \""),
        (Kept::File, "Using [TMP]/.terraform.d/credentials.tfrc.json"),
    ] {
        let scene = MirrorScene::new(kept, TOKEN);
        for planned in scene.demo("--dry-run") {
            planned.succeeds();
        }
        let [copied, present] = scene.demo("").map(Run::succeeds);
        for wanted in [
            source,
            "Using [TMP]/.netrc (machine localhost)",
            "Using auth.json (",
            "Requested GET https://localhost:",
            "linux_amd64.zip?…: 200",
        ] {
            copied.tells(wanted);
        }
        present.shows("\"status\": \"present\"");
        // Every secret was sent.
        let seen = scene.origin.seen();
        let token = format!("Bearer {TOKEN}");
        let sorts: [&dyn Fn(&Seen) -> bool; 3] = [
            &|seen| seen.authorization() == Some(&token),
            &|seen| seen.authorization().unwrap_or("").starts_with("Basic "),
            &|seen| seen.parameter("X-Signature") == Some(SECRET),
        ];
        for (number, sends) in sorts.iter().enumerate() {
            assert!(seen.iter().any(sends), "secret {number}");
        }
        scene.origin.assert_no_leaks();
        scene.registry.assert_no_leaks();
    }
}

#[test]
fn secrets_stay_hidden_when_the_token_is_wrong() {
    for kept in [Kept::Variable, Kept::Block, Kept::File] {
        for run in MirrorScene::new(kept, WRONG).demo("") {
            run.exits(1).tells("  tried ");
        }
    }
}

/// A URL with every part that a URL can have.
fn slip(beginning: &str) -> String {
    format!("{beginning}//robot:{SLIP}@example.com/x?X-Signature={SECRET}#{SLIP}")
}

/// Asserts that nothing is mirrored.
#[track_caller]
fn fails(sort: &'static str, fault: Fault) {
    let scene = MirrorScene::new(Kept::Variable, TOKEN);
    scene.origin.always(asks(sort), fault);
    for run in scene.demo("") {
        let is_refused = [Some(1), Some(3)].contains(&run.status);
        assert!(is_refused, "{sort}: {}", run.stderr);
    }
}

#[test]
fn secrets_in_urls_of_the_origin_stay_hidden() {
    for beginning in ["ftp:", "http:", "https://["] {
        for (sort, field) in [
            ("discovery", "providers.v1"),
            ("download", "download_url"),
            ("download", "shasums_url"),
            ("download", "shasums_signature_url"),
        ] {
            fails(sort, lie::says(field, slip(beginning)));
        }
    }
    for sort in ["versions", "download"] {
        fails(sort, Fault::body(format!("{{\"{SLIP}")));
    }
}

#[test]
fn secrets_stay_hidden_when_the_origin_fails() {
    let faults = [
        Fault::status(404),
        Fault::denied(),
        Fault::RedirectLoop,
        Fault::RedirectPlain,
        Fault::redirect(&slip("ftp:")),
        Fault::redirect(&slip("https://[")),
    ];
    for sort in ["versions", "download", "document", "package"] {
        for fault in &faults {
            fails(sort, fault.clone());
        }
    }
    fails("package", Fault::Reset);
    for sort in ["document", "signature", "package"] {
        fails(sort, Fault::wrong_bytes());
    }
}

#[test]
fn secrets_stay_hidden_when_the_registry_fails() {
    for fault in [
        Fault::denied(),
        Fault::with("location", format!("https://me:{SLIP}@[/?signature=1")),
    ] {
        let scene = MirrorScene::new(Kept::Block, TOKEN);
        scene.registry.always(matching("POST", "/uploads/"), fault);
        for run in scene.demo("") {
            run.exits(1);
        }
    }
}

#[test]
fn secrets_stay_hidden_with_a_network_mirror() {
    let allowed = "example.com/acme/demo --allow-unsigned example.com/acme/*";
    let from = |scene: &MirrorScene, url: &str, code| {
        let runs = scene.mirror(&format!("{allowed} --from network-mirror:{url}"));
        runs.map(|run| run.exits(code))
    };
    let scene = MirrorScene::new(Kept::Variable, TOKEN);
    let url = scene.origin.mirror_url();
    let [run, _] = from(&scene, &url, 0);
    run.tells("Using TF_TOKEN_localhost:");
    scene.origin.assert_no_leaks();
    let (scheme, rest) = url.split_once("://").unwrap();
    for url in [
        format!("{scheme}://robot:{SLIP}@{rest}"),
        format!("{url}?token={SLIP}"),
        format!("{url}#{SLIP}"),
        format!("{scheme}://:{SLIP}@{rest}"),
    ] {
        from(&scene, &url, 2);
    }
    let slip = format!("ftp://robot:{SLIP}@example.com/x?X-Signature={SECRET}");
    let scene = MirrorScene::new(Kept::File, TOKEN);
    let lie = lie::says("archives/linux_amd64/url", slip);
    scene.origin.always(asks("mirror-version"), lie);
    from(&scene, &scene.origin.mirror_url(), 3);
    let scene = MirrorScene::new(Kept::File, WRONG);
    from(&scene, &scene.origin.mirror_url(), 1);
}
