use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Body<'_> {
    Body::parse(text.as_bytes()).unwrap()
}

/// The text of the attribute `a`, in a file that must otherwise parse as expected.
fn value(text: &str) -> String {
    let file = format!("a = {text}\nz = 1\n");
    let body = parse(&file);
    assert_eq!(body.attributes["z"].text(), "1", "{text}");
    body.attributes["a"].text().to_owned()
}

#[test]
fn blocks_and_attributes_have_their_lines() {
    let text = "\u{feff}# first\nterraform {\r\n  a = 1 // one\r\n}\n\n/* two\nlines */ resource \"x\" y { b = [\n1] }\n";
    let body = parse(text);
    assert_eq!(body.blocks("terraform").count(), 1);
    let [terraform, resource] = body.blocks.as_slice() else {
        panic!("{body:?}")
    };
    assert_eq!(
        (terraform.line, terraform.body.attributes["a"].line()),
        (2, 3)
    );
    assert_eq!(terraform.body.attributes["a"].text(), "1");
    assert_eq!((resource.line, &*resource.labels), (7, &["x", "y"][..]));
    assert_eq!(resource.body.attributes["b"].text(), "[\n1]");
}

#[test]
fn expressions_end_where_they_end_for_clients() {
    for (text, wanted) in [
        ("1 # b = 2", "1"),
        ("1 /* x\ny */ + 2", "1 /* x\ny */ + 2"),
        ("f(\n# )\n1, // ]\n2)", "f(\n# )\n1, // ]\n2)"),
        (r#""a${"b}${"{"}"}c""#, r#""a${"b}${"{"}"}c""#),
        (r#""\"}${x /* " */ }""#, r#""\"}${x /* " */ }""#),
        (
            r#""$${ %%{ %{ if a }b%{ endif }""#,
            r#""$${ %%{ %{ if a }b%{ endif }""#,
        ),
        ("<<A\n\"{\n A\n", "<<A\n\"{\n A"),
        (
            "<<-A\n${f(\"}\", <<B\n}\nB\n)}\nAA\n  A",
            "<<-A\n${f(\"}\", <<B\n}\nB\n)}\nAA\n  A",
        ),
        ("(x\n ? <<A\n(\nA\n : \"\")", "(x\n ? <<A\n(\nA\n : \"\")"),
        (
            "{\n for k, v in x : k =>\n a\n ? {\n b = 1 }\n : {} }",
            "{\n for k, v in x : k =>\n a\n ? {\n b = 1 }\n : {} }",
        ),
        ("a < 1 ? x[\"y\"] : z.*.w", "a < 1 ? x[\"y\"] : z.*.w"),
        ("a == b && c != d", "a == b && c != d"),
        ("a <= b || c >= d", "a <= b || c >= d"),
    ] {
        assert_eq!(value(text), wanted, "{text}");
    }
}

#[test]
fn mistakes_have_a_line() {
    let levels = |limit| SyntaxError::Many {
        limit,
        what: "levels of nesting",
    };
    let items = || SyntaxError::Many {
        limit: 200_000,
        what: "blocks, labels and attributes",
    };
    for (text, line, mistake) in [
        ("\na b = 1", 2, SyntaxError::Malformed),
        ("= 1", 1, SyntaxError::Malformed),
        ("a", 1, SyntaxError::Malformed),
        ("a =\nb = 1", 1, SyntaxError::Malformed),
        (
            "a = 1\nb {\n}\na = 2",
            4,
            SyntaxError::Redefined { name: "a".into() },
        ),
        ("a {} b {}", 1, SyntaxError::Malformed),
        ("a {\n}}", 2, SyntaxError::Malformed),
        ("a {\n b = 1 c = 2\n}", 2, SyntaxError::Malformed),
        ("a {\n b = 1 /* x\n */ c = 2\n}", 3, SyntaxError::Malformed),
        ("a = 1,", 1, SyntaxError::Malformed),
        ("a = 1;", 1, SyntaxError::Malformed),
        ("}", 1, SyntaxError::Malformed),
        ("a = (1\n]", 2, SyntaxError::Malformed),
        ("a = 1)", 1, SyntaxError::Malformed),
        ("\na {\n b = 1\n", 2, SyntaxError::Malformed),
        ("a = [1,\n(2", 2, SyntaxError::Malformed),
        ("a = \"x\nb = \"", 1, SyntaxError::Malformed),
        ("a = <<EOF\n x\n", 1, SyntaxError::Malformed),
        ("\n/* a", 2, SyntaxError::Malformed),
        ("a \"b${c}\" {}", 1, SyntaxError::Malformed),
        ("a \"b {}", 1, SyntaxError::Malformed),
        (&format!("a = {}", "(".repeat(300)), 1, levels(256)),
        (&"a {\n".repeat(70), 65, levels(64)),
        (&"a {}\n".repeat(200_001), 200_001, items()),
        (&"a b {}\n".repeat(100_001), 100_001, items()),
    ] {
        let error = Body::parse(text.as_bytes()).unwrap_err();
        let start = text.get(..99).unwrap_or(text);
        assert_eq!((error.line, &error.mistake), (line, &mistake), "{start:?}");
    }
    assert_eq!(parse(&"a {}\n".repeat(200_000)).blocks.len(), 200_000);
    let error = Body::parse(b"a = 1\nb = \"\xff\"").unwrap_err();
    assert_eq!(error.to_string(), "line 2: not UTF-8 text");
    let error = Body::parse(b"a\0 \0=\0\n\0").unwrap_err();
    assert_eq!(error.to_string(), "line 2: not UTF-8 text");
}

/// As `tofu` and `terraform` read them.
#[test]
fn a_block_on_one_line_holds_one_attribute() {
    for text in [
        "a {}",
        "a { }",
        "a { /* x\n */ }",
        "a { b = 1 }",
        "a { /* x\n */ b = 1 /* y\n */ } // z",
        "a { b = [\n1,\n] }",
        "a { b = { c = 1, d = 2 } }\r\n",
        "a { // b }\n}",
        "a { # b\r\n b = 1\r\n}\r\n",
        "a {\n/* x */ b { }\n}",
    ] {
        assert_eq!(parse(text).blocks.len(), 1, "{text:?}");
    }
    for (text, line) in [
        ("a { b {} }", 1),
        ("a { b {\n} }", 2),
        ("a { /* x\n */ b {} }", 2),
        ("a { b = 1\n}", 1),
        ("a { b = 1 # x\n}", 1),
        ("a { b = 1 \r\n}", 1),
        ("a { b = <<E\nx\nE\n}", 3),
        ("a { b = 1 c = 2 }", 1),
        ("a {\n b = 1 }", 2),
        ("a {\n b {} }", 2),
    ] {
        let error = Body::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error, Error::malformed(line), "{text:?}");
    }
}

#[test]
fn plain_text_lists_and_objects_are_understood() {
    let body = parse(
        "text = \"a\\\"b\\u00e9 $${c}\" # note\nother = \"a${b}\"\nheredoc = <<A\nx\nA\nreference = aws.west[0]\n\
         list = [ # first\n  \"a\", /* , */ \"b\" # b, or so\n  ,\n  f(1, 2),\n]\n\
         object = { source = \"x\", \"version\" : \"y\"\n # note\n\n  z = [a,\n b] }\n",
    );
    let texts = |name: &str| body.attributes[name].as_text();
    assert_eq!(texts("text").as_deref(), Some("a\"bé ${c}"));
    for other in ["other", "heredoc", "reference", "list", "object"] {
        assert_eq!(texts(other), None);
    }
    assert_eq!(body.attributes["reference"].as_root(), Some("aws"));
    assert_eq!(body.attributes["list"].as_root(), None);
    let list: Vec<_> = body.attributes["list"]
        .as_list()
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let texts: Vec<_> = list
        .iter()
        .map(|element| (element.as_text(), element.line()))
        .collect();
    let (a, b) = (Some("a".to_owned()), Some("b".to_owned()));
    assert_eq!(texts, [(a, 8), (b, 8), (None, 10)]);
    let object: Vec<_> = body.attributes["object"]
        .as_object()
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let object: Vec<_> = object
        .iter()
        .map(|(key, value)| (*key, value.text(), value.line()))
        .collect();
    assert_eq!(
        object,
        [
            ("source", "\"x\"", 12),
            ("version", "\"y\"", 12),
            ("z", "[a,\n b]", 15)
        ]
    );
    assert!(body.attributes["object"].as_list().is_none());
}

#[test]
fn what_is_between_commas_has_to_be_something() {
    for text in ["[\"a\",, \"b\"]", "[,]"] {
        let file = format!("a = {text}");
        let elements = parse(&file).attributes["a"]
            .as_list()
            .unwrap()
            .collect::<Vec<_>>();
        assert!(elements.last().unwrap().is_err(), "{text}");
    }
    let body = parse("a = { (b) = 1 }\nc = { for d in e : d => d }");
    for name in ["a", "c"] {
        assert!(
            body.attributes[name]
                .as_object()
                .unwrap()
                .any(|member| member.is_err())
        );
    }
}

#[test]
fn a_text_that_is_too_long_is_none() {
    let file = format!("a = \"{}\"", "x".repeat(1 << 16));
    assert_eq!(parse(&file).attributes["a"].as_text(), None);
}

proptest! {
    #[test]
    fn never_panics(text in "([a-c ={}()\\[\\],\"\\n$%\\\\/*#<é-]|<<A\\n|\\$\\{|\\nA\\n){0,40}") {
        let Ok(body) = Body::parse(text.as_bytes()) else { return Ok(()) };
        for value in body.attributes.values() {
            let _ = (value.as_text(), value.as_root());
            let _ = value.as_list().map(|list| list.count());
            let _ = value.as_object().map(|object| object.count());
        }
    }

    #[test]
    fn never_panics_on_bytes(bytes: Vec<u8>) {
        let _ = Body::parse(&bytes);
    }
}

/// Names are those of Unicode, with combining marks. A heredoc whose mark is read otherwise would hide a block, or show a false one.
#[test]
fn the_mark_of_a_heredoc_may_have_combining_marks() {
    let text = "a = <<E\u{301}\nE\n}\nE\u{301}\nb {}\nc\u{301}-1 {}\n";
    let body = parse(text);
    let names: Vec<&str> = body.blocks.iter().map(|block| block.name).collect();
    assert_eq!(names, ["b", "c\u{301}-1"]);
    for text in ["a = <<\u{301}E\nE\n", "a = << E\nE\n", "a = [<<E, 1]\nE\n"] {
        let error = Body::parse(text.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: an attribute or block is malformed, or does not end"
        );
    }
    parse("a = \"<< x\" # << y\n");
}
