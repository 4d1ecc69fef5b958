//! Tokens and passwords go only to the host that they are for. No answer of another host changes that.

use super::origin_scene::OriginScene;
use super::{demo, scene};
use crate::support::dice::Dice;
use crate::support::origin::{Door, Fault, Origin, Seen, Setup, asks, at};
use crate::support::server::answer::Answer;

const TOKEN: &str = "sesame";
const SEEDS: u64 = 60;
/// How many seeds are tried at once.
const ABREAST: u64 = 4;

/// An origin that requires a token and a password, and a user who has both.
fn with_secrets() -> OriginScene {
    with(|setup| setup)
}

fn with(alter: impl FnOnce(Setup) -> Setup) -> OriginScene {
    let setup = Setup::new([demo()]).token(TOKEN).mirror_token(TOKEN);
    let origin = alter(setup.package_login("robot", "hunter2")).start();
    let scene = scene(&origin).env(&format!("TF_TOKEN_{}", origin.host()), TOKEN);
    scene.write(".netrc", "machine localhost login robot password hunter2");
    OriginScene { scene, origin }
}

fn is_stranger(seen: &Seen) -> bool {
    seen.door != Door::Front
}

/// Requests of a kind are redirected to a host that requests credentials of every kind.
fn redirected(sort: &str, status: u16) -> OriginScene {
    let scene = with_secrets();
    let front = at(Door::Front, asks(sort));
    scene.origin.always(front, Fault::RedirectElsewhere);
    let realm = format!("{}/trap", scene.origin.doors().elsewhere);
    let challenge = format!("Basic realm=\"x\", Bearer realm=\"{realm}\"");
    let trap = Answer::new(status).header("www-authenticate", &challenge);
    scene.origin.always(is_stranger, Fault::Answer(trap));
    scene
}

/// Requests of strangers with a secret.
fn leaks(origin: &Origin) -> Vec<Seen> {
    let sees = |seen: &Seen| is_stranger(seen) && seen.authorization().is_some();
    origin.seen().into_iter().filter(sees).collect()
}

#[track_caller]
fn assert_no_secrets_at_strangers(origin: &Origin) {
    let leaks = leaks(origin);
    assert!(leaks.is_empty(), "{leaks:#?}");
    assert_eq!(origin.count(|seen| seen.path == "/trap"), 0);
}

/// Debugging proxies and gateways repeat the request in the text of an error.
#[test]
fn credentials_that_a_host_repeats_are_not_shown() {
    let scene = with_secrets();
    let answer = Answer::new(403).body(format!("denied: Authorization: Bearer {TOKEN}"));
    let versions = at(Door::Front, asks("versions"));
    scene.origin.always(versions, Fault::Answer(answer));
    for more in ["-vv", "--format json"] {
        let shown = "error 403 denied Authorization Bearer …";
        scene.demo(more).hides(TOKEN).says(1, shown);
    }
}

/// The forms in which they may repeat it, in answers of every kind.
#[test]
fn credentials_are_not_shown_in_other_spellings() {
    const SECRET: &str = "hunter2&<x>\"/q+Z?long";
    const IN_URLS: &str = "hunter2%26%3Cx%3E%22%2Fq%2BZ%3Flong";
    const IN_HTML: &str = "hunter2&amp;&lt;x&gt;&quot;/q+Z?long";
    const IN_JSON: &str = r#"\u0068unter2\u0026<x>\"\/q+Z?long"#;
    let refusal = |body: String| Fault::Answer(Answer::new(403).body(body));
    let list = format!(r#"{{"versions":"{IN_JSON}"}}"#);
    let list = Answer::new(200)
        .header("content-type", "application/json")
        .body(list);
    let deep = "[".repeat(200) + &"]".repeat(200);
    let errors = format!(r#"{{"errors":["no {IN_JSON}"],"x":{deep},"y":1e999}}"#);
    for (fault, shown) in [
        (refusal(errors), "403"),
        (refusal(format!("no {IN_URLS}")), "403 no …"),
        (refusal(format!("no {IN_HTML}")), "403 no …"),
        (Fault::Answer(list), "versions expected"),
        (
            Fault::redirect(&format!("/v1/{IN_URLS}")),
            "https://[ORIGIN]/v1/…",
        ),
    ] {
        let origin = Setup::new([demo()]).token(SECRET).start();
        let scene = scene(&origin).env(&format!("TF_TOKEN_{}", origin.host()), SECRET);
        let scene = OriginScene { scene, origin };
        scene
            .origin
            .always(at(Door::Front, asks("versions")), fault);
        let away = |seen: &Seen| seen.path.contains("unter2");
        scene.origin.always(away, refusal(String::new()));
        let told = scene.demo("-vv").hides("unter2");
        told.says(1, &format!("error {shown}"));
    }
}

#[test]
fn a_redirect_target_is_named_and_gets_no_secret() {
    let about = "1.0.0 linux_amd64 [ORIGIN]";
    let path = "v1/providers/acme/demo";
    let zip = "files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip";
    for (sort, about, path) in [
        ("discovery", "", ".well-known/terraform.json"),
        ("versions", "", &*format!("{path}/versions")),
        (
            "download",
            about,
            &format!("{path}/1.0.0/download/linux/amd64"),
        ),
        ("package", about, zip),
    ] {
        for status in [401, 403] {
            let scene = redirected(sort, status);
            let says =
                format!("error [ORIGIN]/acme/demo {about} https://[ELSEWHERE]/{path}?… {status}");
            scene.demo("--platform linux_amd64").says(1, &says);
            assert_no_secrets_at_strangers(&scene.origin);
        }
    }
}

#[test]
fn a_service_named_by_a_redirect_target_gets_no_token() {
    let scene = with_secrets();
    let front = at(Door::Front, asks("discovery"));
    scene.origin.always(front, Fault::RedirectElsewhere);
    scene.demo("").says(
        1,
        "error [ORIGIN]/acme/demo [ORIGIN] https://[ELSEWHERE]/v1/providers/acme/demo/versions 401",
    );
    assert_no_secrets_at_strangers(&scene.origin);
    // The host itself may name any token server.
    let scene = with(|setup| setup.service_at(Door::Elsewhere));
    scene.demo("-q").ends(0);
}

/// Arguments that mirror from the origin's network mirror.
fn from_mirror(origin: &Origin) -> String {
    let url = origin.mirror_url();
    format!("example.com/acme/demo --from network-mirror:{url} --allow-unsigned example.com/*/*")
}

#[test]
fn a_redirect_of_a_network_mirror_does_not_carry_the_token() {
    for (status, sort, file) in [
        (401, "mirror-index", "index.json"),
        (403, "mirror-index", "index.json"),
        (401, "mirror-version", "1.0.0.json"),
        (403, "mirror-version", "1.0.0.json"),
    ] {
        let scene = redirected(sort, status);
        let told = scene.mirror(&from_mirror(&scene.origin));
        let url = format!("https://[ELSEWHERE]/mirror/example.com/acme/demo/{file}?…");
        told.says(1, &format!("error {url} {status}"));
        assert_no_secrets_at_strangers(&scene.origin);
    }
}

/// An answer that redirects to another host, or requests credentials.
fn hostile(dice: &mut Dice, origin: &Origin, is_stranger: bool) -> Answer {
    let doors = origin.doors();
    let (front, elsewhere, plain) = (&doors.front, &doors.elsewhere, &doors.plain);
    let places = [
        format!("{elsewhere}/trap"),
        format!("{elsewhere}/.well-known/terraform.json"),
        format!("{elsewhere}/v1/providers/acme/demo/versions"),
        format!("{elsewhere}/v1/providers/acme/demo/1.0.0/download/linux/amd64"),
        format!("{front}/v1/providers/acme/demo/versions"),
        format!("{plain}/trap"),
        "https://robot:hunter3@127.0.0.1:1/".to_owned(),
        "/v1/providers/acme/demo/versions".to_owned(),
        "https://[".to_owned(),
    ];
    if !is_stranger {
        return Answer::new(dice.pick(&[301, 302, 303, 307, 308]))
            .header("location", &dice.pick(&places));
    }
    let service = format!("{{\"providers.v1\":\"{elsewhere}/v1/providers/\"}}");
    let bodies = [
        String::new(),
        "{}".to_owned(),
        service,
        "{\"versions\":[{\"version\":\"1.0.0\"}]}".to_owned(),
    ];
    let status = dice.pick(&[
        200, 200, 204, 206, 301, 302, 307, 308, 400, 401, 401, 401, 403, 404, 416,
    ]);
    let mut answer = Answer::new(status)
        .header("content-type", "application/json")
        .body(dice.pick(&bodies));
    if dice.roll(2) == 0 {
        answer.set("location", &dice.pick(&places));
    }
    if dice.roll(3) > 0 {
        let realm = dice.pick(&places);
        let bearer = format!("Bearer realm=\"{realm}\"");
        let challenge = dice.pick(&[&*bearer, "Basic realm=\"x\""]);
        answer.set("www-authenticate", challenge);
    }
    answer
}

fn journey(seed: u64) {
    let mut dice = Dice::new(seed);
    let scene = with(|setup| setup.files_at(dice.pick(&[Door::Front, Door::Elsewhere])));
    for number in 1..=20 {
        for (at_stranger, hits) in [(false, dice.roll(4) == 0), (true, dice.roll(3) > 0)] {
            if hits {
                let answer = hostile(&mut dice, &scene.origin, at_stranger);
                let sort = move |seen: &Seen| is_stranger(seen) == at_stranger;
                scene.origin.fault(number, sort, Fault::Answer(answer));
            }
        }
    }
    let _outcome = match dice.roll(3) {
        0 => scene.mirror(&from_mirror(&scene.origin)),
        _ => scene.demo(""),
    };
    let leaks = leaks(&scene.origin);
    assert!(leaks.is_empty(), "seed {seed}: {leaks:#?}");
}

#[test]
fn hostile_answers_obtain_no_secret() {
    std::thread::scope(|scope| {
        for first in 0..ABREAST {
            scope.spawn(move || (first..SEEDS).step_by(ABREAST as usize).for_each(journey));
        }
    });
}
