//! Secrets go to the registry, and to the token server that it names itself. No answer of another host changes that.

use futures_util::StreamExt as _;
use tfoci::credentials::Credential;
use tfoci::store::Lookup;

use super::{User, length, noise, start};
use crate::support::author::Author;
use crate::support::dice::Dice;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Door, Fault, Personality, Registry, Seen, Setup, matching};
use crate::support::scene::Run;

pub(super) const PROVIDER: &str = "registry.example.net/acme/demo";
const SEEDS: u64 = 200;
/// How many seeds run at once: most of the time passes in pauses before retries.
const ABREAST: usize = 12;

/// The path of another host's token server.
const TRAP: &str = "/trap";

fn elsewhere(seen: &Seen) -> bool {
    seen.door == Door::Elsewhere
}

/// A refusal that requests credentials of every kind for its own host.
fn trap(registry: &Registry) -> Answer {
    let realm = format!("{}{TRAP}", registry.doors().elsewhere);
    let challenge = format!("Bearer realm=\"{realm}\",service=\"registry\",scope=\"everything\"");
    Answer::error(401, "UNAUTHORIZED", "who are you?").header("www-authenticate", &challenge)
}

/// A registry that requires a token, with a release in it.
async fn filled() -> (Registry, User) {
    let registry = start(Personality::Quay);
    let user = User::of(&registry, "acme/demo");
    user.push().await.unwrap();
    (registry, user)
}

/// Runs `tfoci` as a user, with the hosts of the registry by name.
pub(super) fn run(registry: &Registry, user: &User, arguments: &str) -> Run {
    let mut author = Author::new();
    if registry.proxy() != registry.url("") {
        author.scene = author.scene.env("http_proxy", registry.proxy());
        author.scene = author.scene.env("https_proxy", registry.proxy());
    }
    author.scene.write("auth.json", user.authfile());
    author.with_release_in_place();
    let host = registry.host();
    let arguments =
        format!("{arguments} --exact-repository --authfile auth.json --plain-http 127.0.0.1")
            .replace("STORE", &format!("{host}/acme/demo"));
    let mut run = author.line(arguments);
    let (_, other) = registry.doors().elsewhere.split_once("://").unwrap();
    for text in [&mut run.stdout, &mut run.stderr] {
        *text = text.replace(host, "[REGISTRY]").replace(other, "[OTHER]");
    }
    run
}

#[track_caller]
fn assert_untouched(registry: &Registry) {
    assert_ne!(registry.count(elsewhere), 0);
    assert_eq!(registry.count(|seen| seen.path == TRAP), 0);
    registry.assert_no_leaks();
}

#[tokio::test]
async fn a_redirect_target_cannot_request_the_password() {
    for (path, command, version, what) in [
        ("/tags/list", "versions", "", "list of tags"),
        ("/manifests/1.0.0", "inspect", "@1.0.0", "manifest"),
    ] {
        for status in [401, 403] {
            let (registry, user) = filled().await;
            let target = format!("{}/storage", registry.doors().elsewhere);
            registry.always(matching("GET", path), Fault::redirect(&target));
            let mut answer = trap(&registry);
            answer.status = status;
            registry.always(elsewhere, Fault::Answer(answer));
            let line = format!("{command} {PROVIDER}{version} --from STORE");
            let of = format!("{PROVIDER}{}", version.replace('@', " "));
            run(&registry, &user, &line).exits(1).says(&format!(
                "error {of} [REGISTRY]/acme/demo {what} http://[OTHER]/storage {status} UNAUTHORIZED"
            ));
            assert_untouched(&registry);
        }
    }
}

#[tokio::test]
async fn an_upload_host_cannot_request_the_password() {
    let registry = start(Personality::Quay);
    let user = User::of(&registry, "acme/demo");
    let target = format!("{}/upload", registry.doors().elsewhere);
    let posts = matching("POST", "/uploads/");
    registry.always(posts, Fault::with("location", target));
    registry.always(elsewhere, Fault::Answer(trap(&registry)));
    let push = format!("push dist --provider {PROVIDER} --key acme.asc --to STORE");
    let told = run(&registry, &user, &push).exits(1);
    told.says("error [REGISTRY]/acme/demo http://[OTHER]/upload?… 401 UNAUTHORIZED");
    assert_untouched(&registry);
}

#[tokio::test]
async fn answers_of_another_host_do_not_change_the_registrys_authentication() {
    use tfoci::blob::BlobSource as _;
    let (registry, user) = filled().await;
    let destination = user.destination();
    destination.tags().await.unwrap().unwrap();
    let tokens = registry.count(|seen| seen.path == "/token");
    let target = format!("{}/storage", registry.doors().elsewhere);
    registry.always(matching("GET", "/blobs/"), Fault::redirect(&target));
    registry.always(elsewhere, Fault::Answer(trap(&registry)));
    let expected = tfoci::release::Expected::of(b"anything");
    assert!(destination.blob(expected).open(0).await.is_err());
    registry.forget();
    destination.tags().await.unwrap().unwrap();
    let statuses: Vec<_> = registry.seen().iter().map(|seen| seen.status).collect();
    assert_eq!(statuses, [Some(200)], "the token is still good");
    assert_ne!(tokens, 0);
}

#[tokio::test]
async fn a_token_server_that_refuses_is_named() {
    let registry = start(Personality::Hub);
    let mut user = User::of(&registry, "acme/demo");
    let name = registry.user().unwrap();
    user.credential = Some(Credential::typed(name, "wrong".into()));
    let push = format!("push dist --provider {PROVIDER} --key acme.asc --to STORE");
    let told = run(&registry, &user, &push).exits(1);
    told.tells("\n  registry [REGISTRY]\n  token server [OTHER]\n  answered 401");
}

#[tokio::test]
async fn an_upload_host_cannot_choose_what_is_written_to_the_registry() {
    let setup = Setup::of(Personality::Quay);
    let setup = setup.quirks(|quirks| quirks.uploads_elsewhere = true);
    let registry = setup.start();
    let whole = |seen: &Seen| seen.method == "PUT" && length(seen) > 0;
    registry.always(whole, Fault::status(413));
    let victim = registry.url("/v2/acme/victim/manifests/latest");
    let chunk = |seen: &Seen| elsewhere(seen) && seen.method == "PATCH";
    registry.always(chunk, Fault::with("location", victim));
    let user = User::of(&registry, "acme/demo");
    let destination = user.destination();
    let blob = tfoci::blob::Memory::new(noise(200 << 10));
    let _fails_or_not = destination.put_blob(&blob, Lookup::First).await;
    assert_ne!(registry.count(chunk), 0);
    assert_eq!(registry.count(|seen| seen.path.contains("victim")), 0);
    registry.assert_no_leaks();
}

/// Private addresses in every spelling.
const PRIVATE: [&str; 6] = [
    "127.0.0.1:8443",
    "169.254.169.254",
    "2130706433",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:7f00:1::]",
];

#[test]
fn urls_named_by_a_registry_never_lead_to_a_private_address() {
    let versions = format!("versions {PROVIDER} --from STORE");
    let push = format!("push dist --provider {PROVIDER} --key acme.asc --to STORE");
    for private in PRIVATE {
        let url = format!("https://{private}/x");
        let realm = format!("Bearer realm=\"{url}\"");
        let challenge = Answer::new(401).header("www-authenticate", &realm);
        for (method, path, fault, arguments) in [
            ("GET", "/tags/list", Fault::redirect(&url), &versions),
            ("GET", "/tags/list", Fault::Answer(challenge), &versions),
            ("POST", "/uploads/", Fault::with("location", &*url), &push),
        ] {
            let setup = Setup::of(Personality::Quay);
            let registry = setup.host("registry.example.net").start();
            registry.always(matching(method, path), fault);
            let user = User::of(&registry, "acme/demo");
            let more = format!("{arguments} --plain-http registry.example.net");
            let told = run(&registry, &user, &more).exits(1);
            told.tells("private address");
            // Only the proxy is reachable, and it received only requests for the registry.
            let ours = |seen: &Seen| seen.header("host") == Some("registry.example.net");
            assert_ne!(registry.seen().len(), 0);
            assert_eq!(registry.count(|seen| !ours(seen)), 0, "{url}");
        }
    }
}

/// An answer that leads to another host. Only other hosts request credentials: a token server that the registry itself names is trusted.
fn hostile(dice: &mut Dice, registry: &Registry, is_stranger: bool) -> Answer {
    let statuses: &[u16] = &[
        200, 201, 202, 204, 206, 301, 302, 303, 307, 308, 400, 401, 401, 401, 403, 404, 405, 413,
        416,
    ];
    let mut status = statuses[dice.roll(statuses.len())];
    if !is_stranger && status == 401 {
        status = 307;
    }
    let doors = registry.doors();
    let places = [
        format!("{}{TRAP}", doors.elsewhere),
        format!("{}/v2/acme/demo/blobs/uploads/1?state=x", doors.elsewhere),
        format!("{}/v2/acme/demo/manifests/1.0.0", doors.elsewhere),
        format!("{}/v2/", doors.plain),
        format!("{}/v2/acme/victim/manifests/latest", doors.front),
        format!("{}/v2/acme/demo/tags/list", doors.front),
        "/v2/acme/demo/tags/list?last=x".to_owned(),
        "//user:password@127.0.0.1:1/".to_owned(),
        "https://[".to_owned(),
    ];
    let place = |dice: &mut Dice| places[dice.roll(places.len())].clone();
    let mut answer = Answer::new(status).body(dice.pick(&[
        "",
        "{}",
        "{\"errors\":[]}",
        "{\"tags\":[\"1.0.0\"]}",
        "{\"token\":\"t\"}",
    ]));
    if dice.roll(3) > 0 {
        answer.set("location", &place(dice));
    }
    if dice.roll(3) == 0 {
        answer.set("link", &format!("<{}>; rel=\"next\"", place(dice)));
    }
    if dice.roll(4) == 0 {
        answer.set("range", dice.pick(&["0-1", "0-65535", "0-99999999", "x"]));
    }
    if is_stranger && dice.roll(4) > 0 {
        let realm = place(dice);
        let challenges = [
            format!("Bearer realm=\"{realm}\",service=\"registry\""),
            format!("Basic realm=\"{realm}\""),
            format!("Basic realm=\"x\", Bearer realm=\"{realm}\",scope=\"y\""),
        ];
        answer.set("www-authenticate", &challenges[dice.roll(3)]);
    }
    answer
}

/// Commands against a registry where some answers are hostile, and others are its own.
async fn journey(seed: u64) {
    let mut dice = Dice::new(seed);
    let personality = match dice.roll(4) {
        0 => Personality::Quay,
        1 => Personality::Hub,
        2 => Personality::Ecr,
        _ => Personality::Acr,
    };
    let registry = start(personality);
    let mut user = User::of(&registry, "acme/demo");
    if personality == Personality::Hub && dice.roll(2) == 0 {
        user = user.identity();
    }
    let filled = dice.roll(2) == 0;
    if filled {
        user.push().await.unwrap();
        registry.forget();
    }
    for number in 1..=40 {
        if dice.roll(6) == 0 {
            let own = |seen: &Seen| seen.door == Door::Front && seen.path != "/token";
            let answer = Fault::Answer(hostile(&mut dice, &registry, false));
            registry.fault(number, own, answer);
        }
        let stranger = |seen: &Seen| seen.door != Door::Front && seen.path != "/token";
        let answer = Fault::Answer(hostile(&mut dice, &registry, true));
        registry.fault(number, stranger, answer);
    }
    match filled && dice.roll(2) == 0 {
        true => drop(user.install().await),
        false => drop(user.push().await),
    }
    let leaks: Vec<Seen> = registry.seen().into_iter().filter(taints).collect();
    assert!(leaks.is_empty(), "seed {seed}: {leaks:#?}");
}

/// Whether a request sent a secret to a host that must not receive it. Forms carry identity tokens.
fn taints(seen: &Seen) -> bool {
    let form = seen.header("content-type") == Some("application/x-www-form-urlencoded");
    let trapped = seen.path == TRAP && seen.door != Door::Front;
    crate::support::registry::leaks(seen)
        || trapped && seen.authorization().is_some()
        || (form && seen.path != "/token")
}

#[tokio::test]
async fn hostile_answers_obtain_no_secret() {
    let journeys = futures_util::stream::iter(0..SEEDS).map(journey);
    let done: Vec<()> = journeys.buffer_unordered(ABREAST).collect().await;
    assert_eq!(done.len() as u64, SEEDS);
}
