//! Templates and what comes of them, row by row.

use super::*;
use crate::error::Category;
use crate::oci::repository_name::RepositoryErrorKind;

pub(super) fn provider(text: &str) -> ProviderAddr {
    text.parse().unwrap()
}

fn check(text: &str, providers: &[&str]) -> Result<(), Error> {
    let providers: Vec<_> = providers.iter().map(|text| provider(text)).collect();
    RepositoryTemplate::parse(text)?.check(&providers)
}

/// The problems of a template for one provider, each on a line.
fn problems(text: &str) -> String {
    match check(text, &["example.com/acme/demo"]) {
        Ok(()) => String::new(),
        Err(error @ Error::Template { .. }) => {
            assert_eq!(error.category(), Category::Usage);
            let lines = error.to_string();
            lines
                .lines()
                .skip(1)
                .map(str::trim)
                .collect::<Vec<_>>()
                .join("; ")
        }
        Err(other) => panic!("{other}"),
    }
}

pub(super) fn repository(text: &str, address: &str) -> Result<String, Error> {
    let template = RepositoryTemplate::parse(text)?;
    template
        .repository(&provider(address))
        .map(|repository| repository.to_string())
}

/// The repository, or why there is none for this provider.
fn result(text: &str, address: &str) -> String {
    match repository(text, address) {
        Ok(repository) => repository,
        Err(Error::Provider { problem, .. }) => problem.to_string(),
        Err(other) => other.to_string(),
    }
}

pub(super) const OPENTOFU: &str = "registry.opentofu.org/acme/random";
pub(super) const BOOKS: &str = "bücher.example/hashicorp/google-beta";

/// Templates, and the repositories or problems of the providers `OPENTOFU` and `BOOKS`: those of the clients' own code.
const RESULTS: &str = r#"
reg.io/${hostname}/${namespace}/${type} ==> reg.io/registry.opentofu.org/acme/random ==> reg.io/xn--bcher-kva.example/hashicorp/google-beta
reg.io/{hostname}/{namespace}/{type} ==> reg.io/registry.opentofu.org/acme/random ==> reg.io/xn--bcher-kva.example/hashicorp/google-beta
docker.io/acme/${namespace}-${type} ==> docker.io/acme/acme-random ==> docker.io/acme/hashicorp-google-beta
[::1]:5000/${type} ==> [::1]:5000/random ==> [::1]:5000/google-beta
${"reg.io/${type}"} ==> reg.io/random ==> reg.io/google-beta
x/${type == "random" ? 1 : "a"} ==> x/1 ==> x/a
x/${namespace == "acme" && type == "random"} ==> x/true ==> x/false
x/%{ if namespace == "acme" }a%{ else }${namespace}%{ endif }/${type} ==> x/a/random ==> x/hashicorp/google-beta
x/a%{ if type == "random" }b%{ endif } ==> x/ab ==> x/a
x/ ${~ type ~} /y ==> x/random/y ==> x/google-beta/y
x/%{ if true ~} a %{~ else ~} b %{~ endif ~} /c ==> x/a/c ==> x/a/c
x/${{ (type) = "b" }[type]} ==> x/b ==> x/b
x/${{ type = "b" }.type} ==> x/b ==> x/b
x/${{ "1" = "b" }[1]} ==> x/b ==> x/b
x/${["a", "b"].1} ==> x/b ==> x/b
x/${["a", "b"]["0"]} ==> x/a ==> x/a
x/${{ (type) = "b", random = type }["random"]} ==> x/random ==> x/google-beta
x/${"2" < 10 && 3 >= "3"} ==> x/true ==> x/true
x/${!(type == "random") || "1"} ==> x/true ==> x/true
x/${type == "random" ? (true ? null : "a") == null : "b"} ==> x/true ==> x/b
x/${1 == "1" || null == null} ==> x/true ==> x/true
x/${null && type == "a"}${true && null}${null || true} ==> x/falsefalsetrue ==> x/falsefalsetrue
x/${{ null = "a", true = "b" }["null"]} ==> x/a ==> x/a
x/${true ? "a" : hostname[1]} ==> x/a ==> x/a
x/${hostname[1] || true} ==> x/true ==> x/true
x/${{ "registry.opentofu.org" = "a" }[hostname]} ==> x/a ==> `{ "registry.opentofu.org" = "a" }[hostname]` has no element `xn--bcher-kva.example`
${type == "random" ? "a/b" : null} ==> a/b ==> the template is null
x/${["a", null][type == "random" ? 0 : 1]} ==> x/a ==> `["a", null][type == "random" ? 0 : 1]` is null
"#;

/// `tofu` 1.12.6 (the code of its CLI configuration) and this module were compared on 48,000 more templates from a grammar, a quarter of
/// them with mutations, each for three providers: whether the template is accepted, and which repositories it gives. The known
/// differences, with the number of templates:
///
/// - constructs that are refused by name ([`Construct`]): 3,977, of which the client accepts 52;
/// - an element that does not exist with the placeholder address, which is no reason to refuse here: 790;
/// - results that tfoci refuses and the client accepts: no slash (1,920), a registry that is no host (58), an empty tag or digest
///   (18), numbers that are not whole (9);
/// - what hcl-edit does not parse: a line break beside an operator in `%{ if }`, and a key that is written twice (18). It parses
///   `.0.0` (4);
/// - text that Unicode normalises (51), which the client does and no repository has in its name;
/// - `||` with `"${type}${null}"` beside an operand that decides: the client refuses (1).
#[test]
fn results_are_those_of_clients() {
    for row in RESULTS.lines().skip(1) {
        let columns: Vec<_> = row.split(" ==> ").collect();
        let [template, opentofu, books] = columns[..] else {
            panic!("{row}");
        };
        assert_eq!(result(template, OPENTOFU), opentofu, "{template}");
        assert_eq!(result(template, BOOKS), books, "{template}");
    }
    let lines = "%{ if true ~}\nreg.io/a\n%{~ endif ~}\n";
    assert_eq!(result(lines, OPENTOFU), "reg.io/a");
}

/// Templates, and what is wrong with them. Clients refuse to load them, but for a result without a slash, numbers that are not
/// whole, and what tfoci does not evaluate.
const WRONG: &str = r#"
x/${foo}/${bar} ==> the symbol `foo` is not available, only hostname, namespace and type are; the symbol `bar` is not available, only hostname, namespace and type are
x/${upper(type)} ==> the function `upper` is not available, no function is
x/${a::b(foo)} ==> the function `a::b` is not available, no function is; the symbol `foo` is not available, only hostname, namespace and type are
x/%{ for a in [1] }${a}%{ endfor } ==> tfoci does not evaluate `for` in a template
x/${[for a in [1]: a][0]} ==> tfoci does not evaluate `for` in a template
x/${{ for a in [1]: a => a }[1]} ==> tfoci does not evaluate `for` in a template
x/${["a"].*.b} ==> tfoci does not evaluate a splat in a template
x/${["a"][*]} ==> tfoci does not evaluate a splat in a template
x/${type + 1}${-1} ==> tfoci does not evaluate arithmetic in a template
x/${[]} ==> tfoci does not evaluate a tuple or object without an index in a template
x/${{ a = [1] }.a[0]} ==> tfoci does not evaluate a tuple or object without an index in a template
x/${[1] == [1] ? foo : type} ==> tfoci does not evaluate a tuple or object without an index in a template; the symbol `foo` is not available, only hostname, namespace and type are
x/${hostname[1]}/${type.x} ==> `hostname[1]` is a string, which has no elements; `type.x` is a string, which has no elements
x/${hostname < 1} ==> `hostname` is the string `example.com`, expected a whole number
x/${true < 1} ==> `true` is a bool, expected a whole number
x/${["a"].b} ==> `["a"].b` is an attribute of a tuple, expected an index
x/${!1} ==> `1` is a whole number, expected a bool
x/${type ? 1 : 2} ==> `type` is the string `example-type`, expected a bool
x/${null ? 1 : 2} ==> `null` is null
x/${null || false} ==> `null || false` cannot be evaluated: binary operator `||` is not applicable to `null` and `false`
x/${type == 1 ? "a" : hostname[1]} ==> `hostname[1]` is a string, which has no elements
x/${true ? 1 : false} ==> `true ? 1 : false` is either a whole number or a bool, expected one type
x/${true ? 1 : !"a"} ==> `true ? 1 : !"a"` is either a whole number or a bool, expected one type
x/${null} ==> `null` is null
${null} ==> the template is null
x/${[1, 2][2]} ==> `[1, 2][2]` has no element `2`
x/${{ type.b = 1 }.type} ==> `type.b` is not a key, expected quotes or parentheses around it
x/${1.5} ==> `1.5` is not a whole number of 64 bits
x/${9223372036854775808} ==> `9223372036854775808` is not a whole number of 64 bits
x/${ ==> `${` is not closed, expected `}`
x/${a == "${a == "${a == "${a == "${a == "${a == "${a == "${a == "${a == "b ==> its quoted texts nest deeper than 8
x/{} ==> the symbol `` is not available, only hostname, namespace and type are
x/{name}/{type ==> the symbol `name` is not available, only hostname, namespace and type are; `{` has no partner, expected {hostname}, {namespace} or {type}
x/{type}} ==> `}` has no partner, expected {hostname}, {namespace} or {type}
x/${namespace}/{type} ==> it has `{type}` beside `${` or `%{`, expected one spelling of symbols
reg.io ==> `reg.io` is not a repository: it has no slash, expected REGISTRY/NAME
reg.io/${type}/ ==> `reg.io/example-type/` is not a repository: it has an empty component
reg.io/Acme/${type} ==> `reg.io/Acme/example-type` is not a repository: `Acme` has an upper case letter
reg.io/${type}:1 ==> `reg.io/example-type:1` is not a repository: only the registry may have a port, and neither tag nor digest is allowed: `:1`
https://reg.io/${type} ==> `https://reg.io/example-type` is not a repository: it has a scheme, expected REGISTRY/NAME
"#;

#[test]
fn wrong_templates_are_told_before_they_are_used() {
    for row in WRONG.lines().skip(1) {
        let (template, expected) = row.split_once(" ==> ").unwrap();
        assert_eq!(problems(template), expected, "{template}");
    }
    assert_eq!(
        problems("x/${<<END\n${type}\nEND\n}"),
        "tfoci does not evaluate a heredoc in a template"
    );
}

#[test]
fn what_depends_on_the_provider_is_not_refused_before() {
    for template in [
        "x/${{ \"registry.opentofu.org\" = \"a\" }[hostname]}",
        "x/${type == \"random\" ? null : \"a\"}",
        "x/${hostname == \"a\" ? [type][1] : type}",
        "x/${hostname == \"a\" ? !type[0] : type}",
    ] {
        assert_eq!(problems(template), "", "{template}");
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
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(missing(&["a.example/acme/one"]), "");
    assert_eq!(
        missing(&three),
        "the repository template `reg.io/x` is wrong\n  it does not refer to `hostname`, in which the providers differ\n  it does not refer to `type`, in which the providers differ"
    );
    assert_eq!(
        missing(&[]),
        "the repository template `reg.io/x` is wrong\n  it does not refer to `hostname`, in which the providers can differ\n  it does not refer to `namespace`, in which the providers can differ\n  it does not refer to `type`, in which the providers can differ"
    );
    assert!(check("reg.io/${hostname}/${type}", &three).is_ok());
    // A name in a branch is a reference, a key is none.
    assert!(check("reg.io/${hostname}/%{ if false }${type}%{ endif }x", &three).is_ok());
    assert!(check("reg.io/${hostname}/${{ type = 1 }.type}", &three).is_err());
}

#[test]
fn names_that_oci_cannot_hold_say_whose_they_are() {
    let error = repository("reg.io/${type}", "example.com/ünï/demo").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`example.com/ünï/demo` has characters"),
        "{error}"
    );
    assert_eq!(error.category(), Category::Unsupported);

    let error = repository("reg.io/${hostname}/${type}", "localhost:9999/acme/demo").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the repository template `reg.io/${hostname}/${type}` has no repository for `localhost:9999/acme/demo`\n  `reg.io/localhost:9999/demo` is not a repository: only the registry may have a port, and neither tag nor digest is allowed: `:9999/demo`"
    );
    assert_eq!(error.category(), Category::Unsupported);
    assert_eq!(
        repository("${hostname}/${type}", "localhost:9999/acme/demo").unwrap(),
        "localhost:9999/demo"
    );
}

#[test]
fn a_symbol_that_a_shell_has_replaced_leaves_an_empty_component() {
    for text in ["reg.io//x", "reg.io/acme/", "/acme/x"] {
        let error = check(text, &["example.com/acme/demo"]).unwrap_err();
        let Error::Template { problems, .. } = error else {
            panic!("{error}");
        };
        let is_empty = |problem: &TemplateProblem| matches!(problem, TemplateProblem::Repository(error) if error.kind == RepositoryErrorKind::EmptyComponent);
        assert!(problems.iter().any(is_empty), "{problems:?}");
    }
}

#[test]
fn one_repository_is_for_the_provider_that_it_is_named_after() {
    let accepts = |text: &str| {
        RepositoryTemplate::parse(text)
            .unwrap()
            .accepts(&provider(OPENTOFU))
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
        ("reg.io/ ${~ type }", "reg.io/ ${~ type }", None),
    ] {
        let template = RepositoryTemplate::parse(text).unwrap();
        assert_eq!((template.hcl(), template.uri().as_deref()), (hcl, uri));
        assert_eq!(template.to_string(), text);
    }
}

/// Text that nests or multiplies.
#[test]
fn hostile_templates_are_refused_in_time() {
    let nested = |open: &str, core: &str, close: &str, depth: usize| {
        format!("x/${{{}{core}{}}}", open.repeat(depth), close.repeat(depth))
    };
    for text in [
        nested("[", "1", "]", 62),
        nested("{for a in ", "[1]", ": 1 => a}", 62),
        nested("\"${", "1", "}\"", 63),
        nested("!", "true", "", 63),
        nested("true ? 1 : ", "1", "", 63),
        nested("true == (", "1", ") ", 63),
        nested("", "true", &" && true".repeat(128), 1),
        nested("", "[1]", &"[*]".repeat(1000), 1),
        nested("", "1", &" + 1".repeat(128), 1),
        nested("[", "1", "]", 2000),
        nested("/*", "", "", 2000),
        format!("x/{}a{}", "%{if true}".repeat(63), "%{endif}".repeat(63)),
        format!(
            "x/{}{}",
            "%{for a in [1]}".repeat(62),
            "%{endfor}".repeat(62)
        ),
        nested("{ a = ", "1", "}.a", 62),
        nested("[", "1", "][0]", 62),
        format!("x/${{\"{}\"}}", "a".repeat(4000)),
        format!("x/${{{}}}", "9".repeat(4000)),
        "x/${1e999999999}".to_owned(),
        "{".repeat(4096),
        "${type}".repeat(585),
        "a".repeat(4097),
    ] {
        let started = std::time::Instant::now();
        let refused = repository(&text, "example.com/acme/demo").and(check(&text, &[]));
        assert!(refused.is_err());
        assert!(started.elapsed().as_secs() < 5, "{text}");
    }
    assert!(problems(&"a".repeat(4097)).starts_with("it has 4097 bytes, expected at most 4096"));
}
