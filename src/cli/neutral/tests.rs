use super::*;

#[test]
fn no_line_is_a_command() {
    for (given, expected) in [
        ("::error::x", "\\::error::x"),
        (
            "a\n \t::set-output name=x::y\nb",
            "a\n \t\\::set-output name=x::y\nb",
        ),
        ("\u{a0}::x", "\u{a0}\\::x"),
        ("\r::x", "\u{fffd}\\::x"),
        ("\u{2028}::x", "\u{fffd}\\::x"),
        ("a ::b", "a ::b"),
        ("a##[command]b", "a##\\[command]b"),
        (
            "##vso[task]##[x] ###[ # #[ ##",
            "##vso\\[task]##\\[x] ###\\[ # #[ ##",
        ),
        ("##teamcity[x", "##teamcity\\[x"),
        ("[::1]", "[::1]"),
        ("\x1b[2K\u{202e}\u{200b}", "\u{fffd}[2K\u{fffd}\u{fffd}"),
        (
            "section_start:1:x\r\x1b[0K",
            "section_start:1:x\u{fffd}\u{fffd}[0K",
        ),
        ("1\t2", "1\t2"),
    ] {
        assert_eq!(text(given), expected);
    }
}

#[test]
fn json_keeps_its_value() {
    for given in [
        "::error::x",
        " ::x",
        "a::b",
        "##[command] ##vso[x] [::1]",
        "\u{7f}\u{9b}\u{202e}\u{feff}\u{2028}\n\r\x1b",
        "\u{e0041}\"\\##[",
        "\"::",
        "a\n::b",
    ] {
        let document = serde_json::json!({"a": [given], given: 1});
        let printed = json(&serde_json::to_string_pretty(&document).unwrap());
        let read: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(read, document, "{printed}");
        assert!(
            !printed.contains("##[") && !printed.contains("##vso["),
            "{printed}"
        );
        assert!(!printed.contains("\"::"), "{printed}");
        assert!(
            !printed.chars().any(|c| c != '\n' && is_deceptive(c)),
            "{printed}"
        );
    }
}

#[test]
fn quotations_are_short_and_without_passwords() {
    assert_eq!(
        quoted("1 | to = \"me:hunter2@h.example/x\""),
        "1 | to = \"…@h.example/x\""
    );
    assert_eq!(quoted(&"x".repeat(5000)).chars().count(), 1001);
}

#[test]
fn no_url_keeps_its_user() {
    for (given, expected) in [
        ("at https://me:hunter2@h/a, x@y", "at https://…@h/a, x@y"),
        ("`http://a@b:c@h`", "`http://…@h`"),
        (
            "https://h/a@1.0 https://me@h",
            "https://h/a@1.0 https://…@h",
        ),
    ] {
        assert_eq!(text(given), expected);
        assert_eq!(json(&format!("\"{given}\"")), format!("\"{expected}\""));
    }
}
