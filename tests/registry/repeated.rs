//! Registries, proxies and token servers that repeat the secret of a request. It is not shown, however they spell it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tfoci::credentials::{Credential, CredentialKind};

use super::taint::{PROVIDER, run};
use super::{User, start};
use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Personality, Seen, matching};

const SECRET: &str = "hunter2&<x>\"/q+Z?long";
const IN_URLS: &str = "hunter2%26%3Cx%3E%22%2Fq%2BZ%3Flong";
const IN_HTML: &str = "hunter2&amp;&lt;x&gt;&quot;/q+Z?long";
const IN_JSON: &str = r#"\u0068unter2\u0026<x>\"\/q+Z?long"#;

fn is_authorized(seen: &Seen) -> bool {
    seen.authorization().is_some()
}

/// What `tfoci` says of a registry with basic authentication that has these faults.
#[track_caller]
fn said(arguments: &str, faults: impl IntoIterator<Item = (&'static str, Fault)>) -> String {
    let registry = start(Personality::Ecr);
    let mut user = User::of(&registry, "acme/demo");
    user.credential = Some(Credential::typed("me", SECRET.into()));
    for (path, fault) in faults {
        let asks = move |seen: &Seen| is_authorized(seen) && seen.path.contains(path);
        registry.always(asks, fault);
    }
    let run = run(&registry, &user, &format!("{arguments} -vv")).exits(1);
    assert_ne!(registry.count(is_authorized), 0);
    run.omits("unter2");
    run.stderr
}

fn versions() -> String {
    format!("versions {PROVIDER} --from STORE")
}

#[test]
fn credentials_in_the_text_of_an_error_are_not_shown() {
    let pair = STANDARD.encode(format!("me:{SECRET}"));
    let message = |detail: String| {
        let error = format!(r#"{{"code":"DENIED","message":"no {IN_JSON}","detail":{detail}}}"#);
        format!(r#"{{"errors":[{error}]}}"#)
    };
    for (body, shown) in [
        (SECRET.to_owned(), "…"),
        (format!("Authorization: Basic {pair}"), "Basic …"),
        (message(r#"{"x":1e999}"#.to_owned()), "DENIED: no …"),
        (message("[".repeat(200) + &"]".repeat(200)), "DENIED: no …"),
        (format!("password={IN_URLS}&x"), "password=…&x"),
        (format!("no <b>{IN_HTML}</b>"), "no <b>…</b>"),
        // The end of a text that is too long does not show half of it.
        (format!("{} {SECRET}", "x".repeat(190)), "x …"),
    ] {
        let fault = Fault::Answer(Answer::new(400).body(body));
        let said = said(&versions(), [("/tags/list", fault)]);
        assert!(said.contains(&format!("{shown})\n")), "{said}");
    }
}

#[test]
fn credentials_in_a_value_of_a_wrong_type_are_not_shown() {
    let body = format!(r#"{{"tags":"{IN_JSON}"}}"#);
    let fault = Fault::Answer(Answer::new(200).body(body));
    let said = said(&versions(), [("/tags/list", fault)]);
    assert!(said.contains("`tags`: expected "), "{said}");
}

#[test]
fn credentials_in_the_path_of_a_url_are_not_shown() {
    let list = || Answer::new(200).body("{\"tags\":[]}");
    let challenge = |realm: &str| {
        let realm = format!("Bearer realm=\"{realm}/{IN_URLS}\"");
        Fault::Answer(Answer::new(401).header("www-authenticate", &realm))
    };
    let location = format!("/v2/acme/{IN_URLS}");
    let absent = || Fault::Answer(Answer::new(404));
    let refusal = || ("hunter2", Fault::status(400));
    let linked = |url: &str| Fault::Answer(list().header("link", &format!("<{url}>")));
    for (fault, shown) in [
        (
            Fault::redirect(&location),
            "from http://[REGISTRY]/v2/acme/…",
        ),
        (
            Fault::redirect(&format!("https://[{IN_URLS}")),
            "received https://[…",
        ),
        (challenge("ftp://a.example"), "received ftp://a.example/…"),
        (
            challenge("http://a.example"),
            "received http://a.example/…?…",
        ),
        (linked(&location), "from http://[REGISTRY]/v2/acme/…"),
        (
            linked(&format!("http://a.example/{IN_URLS}")),
            "received http://a.example/…",
        ),
    ] {
        let said = said(&versions(), [("/tags/list", fault), refusal()]);
        assert!(said.contains(&format!("  {shown}\n")), "{said}");
    }
    let begun = Answer::new(202).header("location", &location);
    let faults = [
        ("/tags/list", Fault::Answer(list())),
        ("/manifests/", absent()),
        ("/blobs/sha256", absent()),
        ("/uploads/", Fault::Answer(begun)),
        refusal(),
    ];
    let push = format!("push dist --provider {PROVIDER} --key acme.asc --to STORE");
    let said = said(&push, faults);
    assert!(
        said.contains("  from http://[REGISTRY]/v2/acme/…?…\n"),
        "{said}"
    );
}

#[test]
fn an_identity_token_that_a_token_server_repeats_is_not_shown() {
    let registry = start(Personality::Acr);
    let mut user = User::of(&registry, "acme/demo").identity();
    if let Some(credential) = &mut user.credential {
        credential.kind = CredentialKind::IdentityToken(SECRET.into());
    }
    let body = format!("bad request: refresh_token={IN_URLS}&scope=x");
    let fault = Fault::Answer(Answer::new(400).body(body));
    registry.always(matching("POST", "/"), fault);
    let run = run(&registry, &user, &versions()).exits(1);
    run.tells("  answered 400 (bad request: refresh_token=…&scope=x)\n");
}
