//! Templates and what comes of them, row by row.

use proptest::prelude::*;

use super::*;
use crate::error::Category;
use crate::oci::reference::RepositoryErrorKind;

const OPENTOFU: &str = "registry.opentofu.org/acme/random";
const BOOKS: &str = "bücher.example/hashicorp/google-beta";

fn provider(text: &str) -> ProviderAddr {
    text.parse().unwrap()
}

fn check(text: &str, providers: &[&str]) -> Result<(), Error> {
    let providers: Vec<_> = providers.iter().map(|text| provider(text)).collect();
    RepositoryTemplate::parse(text)?.check(&providers)
}

/// The problems of a template for one provider.
fn problems(text: &str) -> Vec<TemplateProblem> {
    match check(text, &["example.com/acme/demo"]) {
        Ok(()) => Vec::new(),
        Err(Error::Template { problem, .. }) => vec![problem],
        Err(other) => panic!("{text}: {other}"),
    }
}

fn repository(text: &str, address: &str) -> Result<String, Error> {
    let repository = RepositoryTemplate::parse(text)?.repository(&provider(address))?;
    Ok(repository.to_string())
}

/// Templates, and the repositories that the clients' own code gives for the providers `OPENTOFU` and `BOOKS`.
const RESULTS: &str = r#"
reg.io/${hostname}/${namespace}/${type} ==> reg.io/registry.opentofu.org/acme/random ==> reg.io/xn--bcher-kva.example/hashicorp/google-beta
reg.io/{hostname}/{namespace}/{type} ==> reg.io/registry.opentofu.org/acme/random ==> reg.io/xn--bcher-kva.example/hashicorp/google-beta
docker.io/acme/${namespace}-${type} ==> docker.io/acme/acme-random ==> docker.io/acme/hashicorp-google-beta
[::1]:5000/${type} ==> [::1]:5000/random ==> [::1]:5000/google-beta
${"reg.io/${type}"} ==> reg.io/random ==> reg.io/google-beta
x/${type == "random" ? "1" : "a"} ==> x/1 ==> x/a
x/${namespace == "acme" && type == "random"} ==> x/true ==> x/false
x/${namespace != "acme" || !(type == "random")} ==> x/false ==> x/true
x/${"${namespace == "acme"}" ? "a" : "b"} ==> x/a ==> x/b
x/%{ if namespace == "acme" }a%{ else }${namespace}%{ endif }/${type} ==> x/a/random ==> x/hashicorp/google-beta
x/a%{ if type == "random" }b%{ endif } ==> x/ab ==> x/a
x/${type == "\u0072andom" ? "a" : "b"} ==> x/a ==> x/b
"#;

/// `tofu` 1.12.6 (the code of its CLI configuration) and an earlier evaluator were compared on 48,000 templates from a grammar, and that one
/// with this on 200,000: whether the template is accepted, and which repositories it gives. Apart from what is refused ([`WRONG`]), the known
/// differences are:
///
/// - results that tfoci refuses and the client accepts: no slash, a registry that is no host, an empty tag or digest;
/// - what hcl-edit does not parse: a line break beside an operator in `%{ if }`;
/// - text that Unicode normalises, which the client does and no repository has in its name.
#[test]
fn results_are_those_of_clients() {
    for row in RESULTS.trim().lines() {
        let columns: Vec<_> = row.split(" ==> ").collect();
        let [template, opentofu, books] = columns[..] else {
            panic!("{row}");
        };
        assert_eq!(repository(template, OPENTOFU).unwrap(), opentofu);
        assert_eq!(repository(template, BOOKS).unwrap(), books);
    }
}

/// Templates, and what is refused of them.
const WRONG: &str = r#"
x/${upper(type)} ==> upper(type)
x/${true ? "a" : a::b(foo)} ==> a::b(foo)
x/%{ for a in [1] }${a}%{ endfor } ==> %{ for }
x/${[for a in [1]: a][0]} ==> [for a in [1]: a][0]
x/${["a"].*.b} ==> ["a"].*.b
x/${type + 1} ==> type + 1
x/${-1} ==> -1
x/${type < "b"} ==> type < "b"
x/${1} ==> 1
x/${null} ==> null
x/${["a"]} ==> ["a"]
x/${{ "a.example" = "a" }[hostname]} ==> { "a.example" = "a" }[hostname]
x/${hostname[1]} ==> hostname[1]
x/${type.x} ==> type.x
x/${!"true"} ==> "true"
x/${type ? "a" : "b"} ==> type
x/%{ if type }a%{ endif } ==> type
x/${type && true} ==> type
x/${true ? true : "a"} ==> true ? true : "a"
x/${true == "true"} ==> true == "true"
x/ ${~ type ~} /y ==> ~
x/%{ if true ~}a%{ endif } ==> ~
x/%{ if true }a%{ else ~}b%{ endif } ==> ~
x/%{ if true }a%{~ endif } ==> ~
"#;

#[test]
fn wrong_templates_are_told_before_they_are_used() {
    for row in WRONG.trim().lines() {
        let (template, part) = row.split_once(" ==> ").unwrap();
        let part = part.to_owned();
        assert_eq!(problems(template), [TemplateProblem::Refused { part }]);
    }
    let heredoc = problems("x/${<<END\n${type}\nEND\n}");
    assert!(matches!(heredoc[..], [TemplateProblem::Refused { .. }]));
    for template in ["x/${foo}/${type}", "x/{foo}", "x/{", "x/{foo}/{type"] {
        let [TemplateProblem::Symbol { name }] = &problems(template)[..] else {
            panic!("{template}");
        };
        assert!(matches!(name.as_str(), "foo" | ""));
    }
    for template in ["x/${", "x/${hostname/${type}", "x/${a b}", "x/%{ if true }"] {
        let problems = problems(template);
        assert!(matches!(problems[..], [TemplateProblem::Syntax { .. }]));
    }
    for template in [
        "reg.io",
        "reg.io/${type}/",
        "reg.io/Acme/${type}",
        "reg.io/${type}:1",
        "https://reg.io/${type}",
        "x/${namespace}/{type}",
        "x/{type}}",
    ] {
        assert!(
            matches!(problems(template)[..], [TemplateProblem::Repository(_)]),
            "{template}"
        );
    }
}

#[test]
fn providers_must_not_share_a_repository() {
    let three = [
        "a.example/acme/one",
        "a.example/acme/two",
        "b.example/acme/two",
    ];
    let missing = |providers: &[&str]| match check("reg.io/x", providers) {
        Ok(()) => Vec::new(),
        Err(Error::Template { problem, .. }) => vec![problem],
        Err(other) => panic!("{other}"),
    };
    let of = |symbols: &[Symbol]| {
        let missing = symbols.iter();
        let missing = missing.map(|symbol| TemplateProblem::Missing { symbol: *symbol });
        missing.collect::<Vec<_>>()
    };
    assert_eq!(missing(&["a.example/acme/one"]), []);
    assert_eq!(missing(&three), of(&[Symbol::Hostname]));
    assert_eq!(missing(&[]), of(&[Symbol::Hostname]));
    assert!(check("reg.io/${hostname}/${type}", &three).is_ok());
    // A name in a branch is a reference.
    assert!(check("reg.io/${hostname}/%{ if false }${type}%{ endif }x", &three).is_ok());
}

#[test]
fn names_that_oci_cannot_hold_say_whose_they_are() {
    for (text, address) in [
        ("reg.io/${type}", "example.com/ünï/demo"),
        ("reg.io/${hostname}/${type}", "localhost:9999/acme/demo"),
    ] {
        let error = repository(text, address).unwrap_err();
        assert!(error.to_string().contains(address), "{error}");
        assert_eq!(error.category(), Category::Unsupported);
    }
    assert_eq!(
        repository("${hostname}/${type}", "localhost:9999/acme/demo").unwrap(),
        "localhost:9999/demo"
    );
}

#[test]
fn a_symbol_that_a_shell_has_replaced_leaves_an_empty_component() {
    for text in ["reg.io//x", "reg.io/acme/"] {
        let is_empty = |problem: &TemplateProblem| matches!(problem, TemplateProblem::Repository(error) if error.kind == RepositoryErrorKind::Component(String::new()));
        assert!(problems(text).iter().any(is_empty), "{text}");
    }
}

#[test]
fn one_repository_is_for_the_provider_that_it_is_named_after() {
    let accepts = |text: &str| {
        let template = RepositoryTemplate::parse(text).unwrap();
        template.accepts(&provider(OPENTOFU))
    };
    for text in [
        "reg.io/random",
        "reg.io/acme/terraform-provider-random",
        "reg.io/${\"random\"}",
    ] {
        assert!(RepositoryTemplate::parse(text).unwrap().is_constant());
        assert!(accepts(text), "{text}");
    }
    for text in [
        "reg.io/pseudorandom",
        "reg.io/random/x",
        "reg.io/random-x",
        "reg.io",
    ] {
        assert!(!accepts(text), "{text}");
    }
    // Clients refuse a template without the type, which would mix the providers of a namespace.
    assert!(!accepts("reg.io/${namespace}"));
    assert!(accepts("reg.io/${type}"));
}

#[test]
fn both_spellings() {
    for (text, hcl, uri) in [
        (
            "reg.io/${namespace}/${ type }",
            "reg.io/${namespace}/${ type }",
            Some("reg.io/{namespace}/{type}"),
        ),
        (
            "reg.io/{namespace}/{type}",
            "reg.io/${namespace}/${type}",
            Some("reg.io/{namespace}/{type}"),
        ),
        ("reg.io/x", "reg.io/x", Some("reg.io/x")),
        (
            "reg.io/%{ if true }x%{ endif }",
            "reg.io/%{ if true }x%{ endif }",
            None,
        ),
        ("reg.io/${\"x\"}", "reg.io/${\"x\"}", None),
    ] {
        let template = RepositoryTemplate::parse(text).unwrap();
        assert_eq!((template.hcl(), template.uri().as_deref()), (hcl, uri));
        assert_eq!(template.to_string(), text);
    }
}

/// Text that nests or multiplies. The threads of tests have a stack of 2 MiB, as the threads of the program have.
#[test]
fn hostile_templates_are_refused_in_time() {
    let nested = |open: &str, core: &str, close: &str, depth: usize| {
        format!("x/${{{}{core}{}}}", open.repeat(depth), close.repeat(depth))
    };
    // Every quoted text may nest as deeply as the whole.
    let wide = |inner: &str| format!("{}{inner}{}", "!(".repeat(31), ")".repeat(31));
    let chain = |inner: &str| format!("\"${{{}}}\"{}", wide(inner), " && true".repeat(40));
    for text in [
        nested("[", "1", "]", 62),
        nested("{for a in ", "[1]", ": 1 => a}", 62),
        nested("\"${", "1", "}\"", 63),
        nested("!", "true", "", 2000),
        nested("true ? 1 : ", "1", "", 63),
        nested("true == (", "1", ") ", 63),
        nested("", "true", &" && true".repeat(256), 1),
        nested("", "[1]", &"[*]".repeat(1000), 1),
        nested("[", "1", "]", 2000),
        nested("(", "true", ")", 2000),
        nested("/*", "", "", 2000),
        format!(
            "x/${{{}}}",
            (0..7).fold("true".to_owned(), |inner, _| chain(&inner))
        ),
        format!("x/{}a{}", "%{if true}".repeat(63), "%{endif}".repeat(63)),
        format!(
            "x/{}{}",
            "%{for a in [1]}".repeat(62),
            "%{endfor}".repeat(62)
        ),
        nested("{ a = ", "1", "}.a", 62),
        format!("x/${{\"{}\"}}", "a".repeat(4000)),
        format!("x/${{{}}}", "9".repeat(4000)),
        "x/${1e999999999}".to_owned(),
        "{".repeat(4096),
        "${type}".repeat(585),
        "a".repeat(4097),
        "\"${a == ".repeat(500),
    ] {
        let started = std::time::Instant::now();
        let refused = repository(&text, "example.com/acme/demo").and(check(&text, &[]));
        assert!(refused.is_err(), "{text}");
        assert!(started.elapsed().as_secs() < 5, "{text}");
    }
    assert_eq!(problems(&"a".repeat(4097)), [TemplateProblem::TooLarge]);
}

/// A part of a template in the clients' form. Some parts contain a refused expression.
fn part() -> impl Strategy<Value = String> {
    const TERMS: [&str; 6] = [
        "hostname",
        "namespace",
        "type",
        "\"a\"",
        "true",
        "[type][0]",
    ];
    let expression = proptest::sample::select(TERMS.as_slice())
        .prop_map(str::to_owned)
        .prop_recursive(3, 12, 3, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                pair.clone().prop_map(|(a, b)| format!("({a} == {b})")),
                pair.clone().prop_map(|(a, b)| format!("({a} && {b})")),
                pair.prop_map(|(a, b)| format!("(type == \"demo\" ? {a} : {b})")),
                inner.prop_map(|a| format!("\"a${{{a}}}\"")),
            ]
        });
    prop_oneof![
        "[a-z0-9/._-]{1,4}",
        expression.clone().prop_map(|text| format!("${{{text}}}")),
        expression.prop_map(|text| format!("%{{ if {text} }}a%{{ else }}b%{{ endif }}")),
    ]
}

fn names(text: &str) -> Vec<Option<String>> {
    let addresses = ["example.com/acme/demo", OPENTOFU, BOOKS, "localhost:9/a/1"];
    let names = addresses.map(|address| repository(text, address).ok());
    names.to_vec()
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

    /// A template that is parsed has a value for every provider.
    #[test]
    fn only_the_name_of_the_repository_can_be_wrong(parts in proptest::collection::vec(part(), 1..5)) {
        let text = format!("reg.io/{}", parts.concat());
        if let Ok(template) = RepositoryTemplate::parse(&text) {
            for address in [OPENTOFU, BOOKS] {
                let problem = template.repository(&provider(address)).err();
                let is_name = matches!(problem, None | Some(Error::Provider { problem: TemplateProblem::Repository(_), .. }));
                prop_assert!(is_name, "{} {:?}", text, problem);
            }
            prop_assert_eq!(names(template.hcl()), names(&text));
        }
    }

    #[test]
    fn both_spellings_mean_the_same(parts in proptest::collection::vec("[a-z0-9/._-]{0,4}|\\{(hostname|namespace|type)\\}", 1..6)) {
        let text = parts.concat();
        let template = RepositoryTemplate::parse(&text).unwrap();
        prop_assert_eq!(template.uri(), Some(text.clone()));
        prop_assert_eq!(names(template.hcl()), names(&text));
    }
}
