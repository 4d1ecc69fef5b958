use proptest::prelude::*;

use super::*;

const SECRET: &str = r#"hünter2&<x>"/q+Z? 'l\g"#;

#[track_caller]
fn assert_hidden(spelled: &str) {
    let hidden = hide(&[SECRET.into()], &format!("é {spelled}, {spelled}\n"));
    assert_eq!(hidden, "é …, …\n", "{spelled}");
}

#[test]
fn secrets_are_hidden_in_every_spelling() {
    assert_hidden(SECRET);
    assert_hidden(r#"h%C3%BCnter2%26%3Cx%3E%22%2Fq%2BZ%3F%20%27l%5Cg"#);
    assert_hidden(r#"h%c3%bcnter2&%3cx%3e%22/q+Z%3f%20'l%5cg"#);
    assert_hidden(r#"h%C3%BCnter2%26%3Cx%3E%22%2Fq%2BZ%3F+%27l%5Cg"#);
    assert_hidden(r#"hünter2&amp;&lt;x&gt;&quot;/q+Z? &#x27;l\g"#);
    assert_hidden(r#"h&#252;nter2&#38;&#60;x&#62;&#34;&#x2F;q+Z? &apos;l\g"#);
    assert_hidden(r#"hünter2&<x>\"/q+Z? 'l\\g"#);
    assert_hidden(r#"h\u00fcnter2\u0026\u003cx\u003E\"\/q+Z? 'l\\g"#);
}

#[test]
fn nothing_else_is_hidden() {
    for text in [
        "",
        "denied",
        "hunter",
        "no, hunt",
        "%",
        "%h%4",
        "&",
        "&#; &unter2;",
        "\\",
        "\\u00",
    ] {
        assert_eq!(hide(&["hunter2".into(), "no".into()], text), text);
    }
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "(\\\\|u|%|&|#|;|[0-9a-fé])*", secret in "(\\\\|u|%|&|#|;|[0-9a-fé]){4,8}") {
        let hidden = hide(&[secret.as_str().into()], &text);
        prop_assert!(!hidden.contains(&secret));
    }
}
