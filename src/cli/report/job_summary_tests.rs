use super::*;
use crate::cli::error::CommandError;
use crate::cli::report::Destination;

#[test]
fn text_is_no_markup() {
    for (given, expected) in [
        (
            "registry.opentofu.org/acme/demo",
            "registry.opentofu.org/acme/demo",
        ),
        ("2.0.0-rc.1+build_5", "2.0.0-rc.1&#43;build&#95;5"),
        ("a|b\n| c", "a&#124;b &#124; c"),
        (
            "<b>&lt;`*_~",
            "&#60;b&#62;&#38;lt&#59;&#96;&#42;&#95;&#126;",
        ),
        ("[x](https://h)", "&#91;x&#93;(https&#58;//h)"),
        ("a\u{202e}b", "a\u{fffd}b"),
        ("www.h.example", "www&#46;h.example"),
    ] {
        assert_eq!(escaped(given), expected);
    }
}

fn failure(_: usize) -> Row {
    let provider = "example.com/acme/demo".parse().unwrap();
    let error = CommandError::usage("no provider is named");
    Row::failed(
        Subject::provider(&provider),
        error,
        &Destination::Directory(None),
    )
}

#[test]
fn versions_that_are_left_out_are_counted() {
    let text = table("mirror", &[failure(0)], 3);
    assert!(text.contains("**1 of 4 failed.**"), "{text}");
}

#[test]
fn a_long_table_says_how_many_rows_it_lacks() {
    let of = |count| table("mirror", &(0..count).map(failure).collect::<Vec<_>>(), 0);
    assert!(!of(MOST_ROWS).contains("more are not shown"));
    assert!(of(MOST_ROWS + 3).ends_with("\n\n3 more are not shown.\n\n"));
}
