use super::*;
use proptest::prelude::*;

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

/// The expected results come from the clients' own parser.
#[test]
fn what_clients_take_is_read_and_printed_canonically() {
    for (text, canonical) in [
        ("1.2.3", "1.2.3"),
        ("1", "1.0.0"),
        ("0.50", "0.50.0"),
        ("01.2", "1.2.0"),
        ("0000000000000000000000001", "1.0.0"),
        ("2.", "2.0.0"),
        ("1.2.3.", "1.2.3"),
        ("2.0.0-", "2.0.0"),
        ("2.0.0+", "2.0.0"),
        ("2.0.0-a+", "2.0.0-a"),
        ("1-beta", "1.0.0-beta"),
        ("1.2+5", "1.2.0+5"),
        ("1.0.0--", "1.0.0--"),
        ("1.0.0-.", "1.0.0-."),
        ("1.0.0-a..b", "1.0.0-a..b"),
        ("1.0.0-007", "1.0.0-007"),
        ("1.0.0+a-b", "1.0.0+a-b"),
        ("4.14.0-CROC9", "4.14.0-CROC9"),
        ("0.25.35-pre+5515443", "0.25.35-pre+5515443"),
        ("1.0.20230316224912-dev", "1.0.20230316224912-dev"),
        ("0.0.18446744073709551615", "0.0.18446744073709551615"),
    ] {
        assert_eq!(version(text).to_string(), canonical, "{text}");
    }
}

#[test]
fn other_texts_are_refused() {
    for text in [
        "",
        " \t",
        "1.0.0,2.0.0",
        "1.0.0 || 2.0.0",
        ">= 1.0.0",
        "=1.0.0",
        "~> 1",
        " 1.0.0",
        "1.0.0\n",
        "1.0.0 - 2.0.0",
        "\u{a0}1.0.0",
        "v1.0.0",
        "V1",
        "1.0.0.0",
        "1.2.3.x",
        "1.x",
        "*",
        "18446744073709551616",
        "1.0.99999999999999999999-rc1",
        "latest",
        "version",
        "-1",
        "+1",
        "1.+2",
        "1..2",
        "2..",
        ".1",
        "2.-rc1",
        "1.0.0-+b",
        "1.0.0+b+c",
        "1.0.2_foo.1",
        "1.0.0-é",
        "١.٢.٣",
        "sha256-abc.sig",
    ] {
        assert!(text.parse::<Version>().is_err(), "{text:?}");
    }
    for (text, is_too_large) in [
        ("18446744073709551616", true),
        ("1.0.99999999999999999999-rc1", true),
        ("1.0.0.99999999999999999999", false),
        ("x.99999999999999999999", false),
    ] {
        let error = text.parse::<Version>().unwrap_err();
        assert_eq!(error.is_too_large(), is_too_large, "{text:?}");
    }
}

#[test]
fn what_a_terminal_obeys_is_not_shown() {
    let error = "1.0.0\u{1b}[2K".parse::<Version>().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`1.0.0\u{fffd}[2K` is not a version\n")
    );
}

proptest! {
    #[test]
    fn never_panics_and_prints_back(text in "\\PC{0,12}|[0-9xv.+ ~>=-]{0,12}|[0-9]{1,3}(\\.[0-9]{0,22}){0,3}(-[0-9a-zA-Z.-]{0,6})?(\\+[0-9a-zA-Z.-]{0,6})?") {
        if let Ok(version) = text.parse::<Version>() {
            prop_assert_eq!(version.to_string().parse::<Version>(), Ok(version));
        }
    }
}
