use super::*;

#[test]
fn names_and_passwords_are_found_and_nothing_else() {
    for (text, user) in [
        ("https://me:hunter2@h.example/x", Some("me:hunter2")),
        ("network-mirror:https://me:h@h", Some("me:h")),
        ("oci-layout:https://me:h@h", Some("me:h")),
        ("me:hun/t@er2@h.example/x", Some("me:hun/t@er2")),
        ("me:123@h.example/x", Some("me:123")),
        ("network-mirror:me:h@h", Some("me:h")),
        ("//me:h@h.example/x", Some("me:h")),
        (":h@h.example/x", Some(":h")),
        ("h.example:8443/acme/demo@1.0.0", None),
        ("h.example:8443/demo@sha256:00", None),
        ("h.example:8443/tofu/h.example/acme/demo@1.0.0", None),
        ("me:123/x@10.0.0.1", Some("me:123/x")),
        ("acme/demo@1.0.0", None),
        ("oci-layout:/home/me@work", None),
        ("/home/a:b@c", None),
        ("h.example:8443/x", None),
    ] {
        assert_eq!(userinfo(text), user, "{text}");
    }
}

#[test]
fn secrets_are_hidden_in_the_path_and_do_not_hide_the_host() {
    let long = "x".repeat(190);
    for (text, shown) in [
        (
            "https://hunter2.example/a/hunter2/b",
            "https://hunter2.example/a/…/b",
        ),
        (
            "https://h.example/%68unter2?hunter2",
            "https://h.example/…?…",
        ),
        (&format!("/{long}/hunter2"), &format!("/{long}/…")),
        ("/hunter2?hunter2", "/…"),
    ] {
        let hidden = Shown::hiding(&["hunter2".into()], text);
        assert_eq!(hidden.to_string(), shown);
    }
}

#[test]
fn nothing_that_may_be_secret_is_left() {
    for (text, shown) in [
        (
            "https://h.example/v2/a?token=hunter2",
            "https://h.example/v2/a?…",
        ),
        (
            "https://me:hunter2@h.example/a#hunter2",
            "https://…@h.example/a",
        ),
        ("https://me@h.example/", "https://…@h.example/"),
        ("https://h.example:5000/", "https://h.example:5000/"),
    ] {
        let url: Url = text.parse().unwrap();
        assert_eq!(Shown::from(url).to_string(), shown);
        assert_eq!(Shown::from(text).to_string(), shown);
    }
    for (text, shown) in [
        ("//me:hunter2@[h/a?b", "…@[h/a"),
        ("https://[h/a?b", "https://[h/a"),
        ("a/b#c", "a/b"),
        ("https://me:hunter2@/", "…@/"),
        ("x:https://me:hunter2@h.example/", "…@h.example/"),
        ("https://me:hunt?er2@h.example/", "…"),
        ("h.example/a?token=hun@ter2", "…"),
        ("oci-layout:directory", "oci-layout:directory"),
    ] {
        assert_eq!(Shown::from(text).to_string(), shown);
    }
}
