//! Credential helpers that work, and some that fail.

use std::time::{Duration, Instant};

use super::*;

const ANSWERS: &str = r#"echo "$1" >> "$0.log"; read -r server; echo "$server" >> "$0.log"
case "$server" in
  https://domain.example.com) echo '{"ServerURL":"x","Username":"me","Secret":"full"}' ;;
  bare.example.com) echo '{"Username":"me","Secret":"bare"}' ;;
  https://index.docker.io/v1/) echo '{"Username":"me","Secret":"hub"}' ;;
  https://token.example.com) echo '{"Username":"<token>","Secret":"refresh"}' ;;
  https://nameless.example.com) echo '{"Username":"","Secret":"hunter2"}' ;;
  https://garbage.example.com) echo 'hunter2' ;;
  https://fails.example.com) echo 'hunter2'; echo 'hunter2' >&2; exit 3 ;;
  https://huge.example.com) yes hunter2 ;;
  https://deaf.example.com) exec sleep 60 ;;
  *) echo 'credentials not found in native keychain'; exit 1 ;;
esac"#;

#[test]
fn helpers_answer_for_what_they_know() {
    let home = HomeDirectory::new();
    home.helper("good", ANSWERS);
    home.write(
        ".docker/config.json",
        r#"{"credsStore": "good", "credHelpers": {"domain.example.com": "good", "absent.example.com": "absent"}}"#,
    );
    let credentials = home.credentials();
    for (host, wanted) in [
        ("domain.example.com/a", "me:full"),
        ("domain.example.com/b", "me:full"),
        ("bare.example.com", "me:bare"),
        ("docker.io", "me:hub"),
        ("token.example.com", "identity refresh"),
        ("nameless.example.com", "none"),
        ("unknown.example.com", "none"),
    ] {
        assert_eq!(found(&credentials, host), wanted, "{host}");
    }
    let log = fs::read_to_string(home.path("bin/docker-credential-good.log")).unwrap();
    let questions = log.matches("domain.example.com\n").count();
    assert_eq!(questions, 1, "asked once for one registry:\n{log}");
    let credential = find(&credentials, "token.example.com").unwrap().unwrap();
    let found_in = credential
        .found_in
        .to_string()
        .replace(home.0.path().to_str().unwrap(), "~");
    assert_eq!(
        found_in,
        "docker-credential-good, named by ~/.docker/config.json (credsStore)"
    );
}

#[test]
fn faulty_helpers_are_named_and_nothing_they_write_is_shown() {
    let home = HomeDirectory::new();
    home.helper("bad", ANSWERS);
    home.write(
        ".docker/config.json",
        r#"{"credsStore": "bad", "credHelpers": {"absent.example.com": "absent", "path.example.com": "../x"}}"#,
    );
    let start = Instant::now();
    let credentials = home.credentials();
    for (host, wanted) in [
        (
            "garbage.example.com",
            "docker-credential-bad answered with something other than credentials",
        ),
        (
            "fails.example.com",
            "docker-credential-bad failed: exit status: 3",
        ),
        (
            "huge.example.com",
            "docker-credential-bad answered with something other than credentials",
        ),
        (
            "deaf.example.com",
            "docker-credential-bad failed: no answer in 1 seconds",
        ),
        ("path.example.com", "it does not name a credential helper"),
    ] {
        let error = find(&credentials, host).unwrap_err();
        let shown = format!("{error}\n{error:?}");
        assert!(shown.contains(wanted), "{host}: {shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    // The domain's helper is not installed, and the default helper has no credentials: that is no reason not to ask the registry.
    assert_eq!(found(&credentials, "absent.example.com"), "none");
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_helper_that_fails_hides_no_file() {
    let home = HomeDirectory::new();
    home.helper("bad", ANSWERS);
    home.write(
        "run/containers/auth.json",
        r#"{"credHelpers": {"fails.example.com": "bad", "unknown.example.com": "bad"}}"#,
    );
    home.write(
        ".docker/config.json",
        &file(&[
            ("fails.example.com", "me:good"),
            ("unknown.example.com", "me:known"),
        ]),
    );
    let credentials = home.credentials();
    assert_eq!(found(&credentials, "fails.example.com"), "me:good");
    assert_eq!(found(&credentials, "unknown.example.com"), "me:known");
}
