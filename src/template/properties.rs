//! Properties of all templates.

use proptest::prelude::*;

use super::tests::{BOOKS, OPENTOFU, provider, repository};
use super::{Error, RepositoryTemplate};

/// A part of a template in the clients' form. Some parts contain a refused construct.
fn part() -> impl Strategy<Value = String> {
    const TERMS: [&str; 8] = [
        "hostname",
        "namespace",
        "type",
        "\"a\"",
        "1",
        "null",
        "[type][0]",
        "{ a = type }.a",
    ];
    let expression = proptest::sample::select(TERMS.as_slice())
        .prop_map(str::to_owned)
        .prop_recursive(3, 12, 3, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                pair.clone().prop_map(|(a, b)| format!("({a} == {b})")),
                pair.clone().prop_map(|(a, b)| format!("({a} && {b})")),
                pair.clone().prop_map(|(a, b)| format!("({a} < {b})")),
                pair.clone().prop_map(|(a, b)| format!("[{a}][{b}]")),
                pair.clone().prop_map(|(a, b)| format!("{a}[{b}]")),
                pair.clone()
                    .prop_map(|(a, b)| format!("(type == \"demo\" ? {a} : {b})")),
                pair.prop_map(|(a, b)| format!("{{ (type) = {a} }}[{b}]")),
                inner.clone().prop_map(|a| format!("{a}.a")),
                inner.prop_map(|a| format!("\"a${{{a}}}\"")),
            ]
        });
    prop_oneof![
        "[a-z0-9/._-]{1,4}",
        expression.clone().prop_map(|text| format!("${{{text}}}")),
        expression
            .clone()
            .prop_map(|text| format!("%{{ if {text} ~}} a%{{ else }}b%{{ endif }}")),
        expression.prop_map(|text| format!("%{{ for x in [{text}] }}a%{{ endfor }}")),
    ]
}

fn everything(text: &str) -> Vec<Result<String, Error>> {
    [
        "example.com/acme/demo",
        OPENTOFU,
        BOOKS,
        "localhost:9999/a/1",
    ]
    .map(|address| repository(text, address))
    .to_vec()
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,40}|([a-z0-9/.${}%~\\[\\]()\"?:=!+*\n -]|hostname|type|for|in|if|end|else){0,30}") {
        if let Ok(template) = RepositoryTemplate::parse(&text) {
            let _ = template.check(&[]);
            let _ = template.repository(&provider(OPENTOFU));
            let _ = (template.uri(), template.accepts(&provider(BOOKS)));
        }
    }

    #[test]
    fn templates_of_parts_print_and_mean_the_same(parts in proptest::collection::vec(part(), 1..5)) {
        let text = format!("reg.io/{}", parts.concat());
        if let Ok(template) = RepositoryTemplate::parse(&text) {
            let _ = template.check(&[]);
            prop_assert_eq!(everything(template.hcl()), everything(&text));
        } else {
            prop_assert!(text.contains("%{ for "), "{}", text);
        }
    }

    #[test]
    fn both_spellings_mean_the_same(parts in proptest::collection::vec("[a-z0-9/._-]{0,4}|\\{(hostname|namespace|type)\\}", 1..6)) {
        let text = parts.concat();
        let template = RepositoryTemplate::parse(&text).unwrap();
        prop_assert_eq!(template.uri(), Some(text.clone()));
        let names = |text: &str| everything(text).into_iter().map(Result::ok).collect::<Vec<_>>();
        prop_assert_eq!(names(template.hcl()), names(&text));
    }
}
