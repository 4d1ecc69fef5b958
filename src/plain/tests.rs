use super::*;

#[test]
fn no_text_of_the_document_is_told() {
    let cases = [
        (
            "invalid type: string \"SECRET, expected SECRET\", expected a sequence",
            "expected a list",
        ),
        (
            "unknown field `SECRET`, expected one of `match`, `keys`",
            "expected one of `match`, `keys`",
        ),
        ("missing field `match`", "`match` is missing"),
        ("key with no value, expected `=`", "expected `=`"),
        ("`SECRET` is there twice", "it is not as expected"),
        ("duplicate key", "duplicate key"),
    ];
    for (message, expected) in cases {
        assert_eq!(without_text(message, "table"), expected);
    }
}

#[test]
fn no_type_of_rust_is_named() {
    let cases = [
        ("missing field `version`", "`version` is missing"),
        (
            "invalid type: integer `1`, expected a string",
            "expected a text",
        ),
        (
            "invalid type: string \"a, expected b\", expected i64",
            "expected a whole number",
        ),
        (
            "invalid value: integer `-1`, expected u64",
            "expected a whole number from 0",
        ),
        (
            "invalid type: floating point `1.5`, expected a sequence",
            "expected a list",
        ),
        (
            "invalid type: sequence, expected struct Tables",
            "expected an object",
        ),
        (
            "invalid type: map, expected a boolean",
            "expected `true` or `false`",
        ),
        (
            "invalid type: boolean `true`, expected a map",
            "expected an object",
        ),
        (
            "invalid type: null, expected a borrowed string",
            "expected a text",
        ),
        (
            "unknown variant `maybe`, expected `refuse` or `allow`",
            "expected `refuse` or `allow`",
        ),
        ("wanted string or table", "expected a text"),
        ("not base64", "not base64"),
    ];
    for (message, expected) in cases {
        assert_eq!(words(message, "object"), expected);
    }
}
