use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Section<'_> {
    hcl(text.as_bytes()).unwrap()
}

/// The expression of an attribute in HCL 2.
fn code<'a>(section: &Section<'a>, name: &str) -> Expression<'a> {
    match section.value(name) {
        Some(Value::Code(code)) => *code,
        other => panic!("{other:?}"),
    }
}

/// The text of the attribute `a`, in a file that must otherwise parse as expected.
fn value(text: &str) -> String {
    let file = format!("a = {text}\nz = 1\n");
    let body = parse(&file);
    assert_eq!(code(&body, "z").text(), "1", "{text}");
    code(&body, "a").text().to_owned()
}

#[test]
fn blocks_and_attributes_have_their_lines() {
    let text = "\u{feff}# first\nterraform {\r\n  a = 1 // one\r\n}\n\n/* two\nlines */ resource \"x\" y { b = [\n1] }\n";
    let body = parse(text);
    let (terraform, resource) = (body.blocks("terraform", 0), body.blocks("resource", 2));
    let (terraform, resource) = (&terraform.unwrap()[0], &resource.unwrap()[0]);
    let a = code(terraform.body, "a");
    assert_eq!((terraform.line, a.line(), a.text()), (Some(2), 3, "1"));
    assert_eq!(
        (resource.line, &*resource.labels),
        (Some(7), &["x", "y"][..])
    );
    assert_eq!(code(resource.body, "b").text(), "[\n1]");
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
    for (text, line) in [
        ("\na b = 1", 2),
        ("= 1", 1),
        ("a", 1),
        ("a =\nb = 1", 1),
        ("a = 1\nb {\n}\na = 2", 4),
        ("a {} b {}", 1),
        ("a {\n}}", 2),
        ("a {\n b = 1 c = 2\n}", 2),
        ("a {\n b = 1 /* x\n */ c = 2\n}", 3),
        ("a = 1,", 1),
        ("a = 1;", 1),
        ("}", 1),
        ("a = (1\n]", 2),
        ("a = 1)", 1),
        ("\na {\n b = 1\n", 2),
        ("a = [1,\n(2", 2),
        ("a = \"x\nb = \"", 1),
        ("a = <<EOF\n x\n", 1),
        ("\n/* a", 2),
        ("a \"b${c}\" {}", 1),
        ("a \"b {}", 1),
        (&format!("a = {}", "(".repeat(300)), 1),
        (&"a {\n".repeat(70), 65),
        (&"a {}\n".repeat(200_001), 200_001),
        (&"a b {}\n".repeat(100_001), 100_001),
    ] {
        let error = hcl(text.as_bytes()).unwrap_err();
        let start = text.get(..99).unwrap_or(text);
        assert_eq!(error, SyntaxError::Malformed.at(line), "{start:?}");
    }
    assert_eq!(parse(&"a {}\n".repeat(200_000)).all().count(), 200_000);
    let error = hcl(b"a = 1\nb = \"\xff\"").unwrap_err();
    assert_eq!(error, SyntaxError::Text(text::Error).at(1));
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
        assert_eq!(parse(text).all().count(), 1, "{text:?}");
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
        let error = hcl(text.as_bytes()).unwrap_err();
        assert_eq!(error, SyntaxError::Malformed.at(line), "{text:?}");
    }
}

#[test]
fn plain_text_lists_and_objects_are_understood() {
    let body = parse(
        "text = \"a\\\"b\\u00e9 $${c}\" # note\nother = \"a${b}\"\nheredoc = <<A\nx\nA\nreference = aws.west[0]\n\
         list = [ # first\n  \"a\", /* , */ \"b\" # b, or so\n  ,\n  f(1, 2),\n]\n\
         object = { source = \"x\", \"version\" : \"y\"\n # note\n\n  z = [a,\n b] }\n",
    );
    let texts = |name: &str| code(&body, name).as_text();
    assert_eq!(texts("text").as_deref(), Some("a\"bé ${c}"));
    for other in ["other", "heredoc", "reference", "list", "object"] {
        assert_eq!(texts(other), None);
    }
    assert_eq!(code(&body, "reference").as_root(), Some("aws"));
    assert_eq!(code(&body, "list").as_root(), None);
    let list = code(&body, "list").as_list().unwrap().unwrap();
    let texts: Vec<_> = list
        .iter()
        .map(|element| (element.as_text(), element.line()))
        .collect();
    let (a, b) = (Some("a".to_owned()), Some("b".to_owned()));
    assert_eq!(texts, [(a, 8), (b, 8), (None, 10)]);
    let object = body.value("object").unwrap().object().unwrap().unwrap();
    let object: Vec<_> = ["source", "version", "z"]
        .into_iter()
        .map(|name| (name, code(&object, name).text(), code(&object, name).line()))
        .collect();
    assert_eq!(
        object,
        [
            ("source", "\"x\"", 12),
            ("version", "\"y\"", 12),
            ("z", "[a,\n b]", 15)
        ]
    );
    assert_eq!(code(&body, "object").as_list(), Ok(None));
}

#[test]
fn what_is_between_commas_has_to_be_something() {
    for text in ["[\"a\",, \"b\"]", "[,]"] {
        let file = format!("a = {text}");
        assert!(code(&parse(&file), "a").as_list().is_err(), "{text}");
    }
    let body = parse("a = { (b) = 1 }\nc = { for d in e : d => d }");
    for name in ["a", "c"] {
        assert!(code(&body, name).as_object().is_err());
    }
}

#[test]
fn a_text_that_is_too_long_is_none() {
    let file = format!("a = \"{}\"", "x".repeat((1 << 16) + 1));
    assert_eq!(code(&parse(&file), "a").as_text(), None);
}

proptest! {
    #[test]
    fn never_panics(text in "([a-c ={}()\\[\\],\"\\n$%\\\\/*#<é-]|<<A\\n|\\$\\{|\\nA\\n){0,40}") {
        let _ = cli(text.as_bytes());
        let Ok(body) = hcl(text.as_bytes()) else { return Ok(()) };
        for member in body.all() {
            if let Value::Code(value) = member.value {
                let _ = (value.as_text(), value.as_root(), value.as_list(), value.as_object());
            }
        }
    }

    #[test]
    fn never_panics_on_bytes(bytes: Vec<u8>) {
        let _ = (hcl(&bytes), cli(&bytes));
    }
}

/// Names may have all letters of Unicode, and combining marks. A heredoc whose mark is read otherwise would hide a block, or show a false one.
#[test]
fn the_mark_of_a_heredoc_may_have_combining_marks() {
    let text = "a = <<E\u{301}\nE\n}\nE\u{301}\nb {}\nc\u{301}-1 {}\n";
    let body = parse(text);
    let names: Vec<&str> = body.all().map(|member| &*member.name).collect();
    assert_eq!(names, ["a", "b", "c\u{301}-1"]);
    for text in ["a = <<\u{301}E\nE\n", "a = << E\nE\n", "a = [<<E, 1]\nE\n"] {
        let error = hcl(text.as_bytes()).unwrap_err();
        assert_eq!(error, SyntaxError::Malformed.at(1));
    }
    parse("a = \"<< x\" # << y\n");
}

/// The value of an attribute in HCL 1.
fn text_of(source: &str) -> String {
    let file = format!("a = {source}");
    match cli(file.as_bytes()).unwrap().value("a") {
        Some(Value::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn items_of_hcl_1_follow_each_other_in_any_way() {
    let shown = |source: &str| {
        let root = cli(source.as_bytes()).unwrap();
        let blocks = root.blocks("b", 1).unwrap();
        let block = (blocks[0].labels.clone(), blocks[0].body.flag("d"));
        format!("{:?} {block:?}", root.value("a"))
    };
    let wanted = shown("a = 1\nb \"c\" {\n  d = true\n}\n");
    for source in [
        "a=2 b c{d=true}",
        "\"a\" = 0x1f, \"b\" \"c\" { \"d\" = true, }",
        "# x\na = -1.5e+3 // y\nb c /* z\n */ { d = true } # end",
        "a = <<EOF\nb {\nEOF\nb = { c = { d = true } }",
        "a = 1\r\nb = [{\"c\" {\r\nd = true }}]",
        "{\"a\": 1, \"b\": {\"//\": 1, \"c\": [{\"d\": true}]}}",
    ] {
        assert_eq!(shown(source), wanted, "{source}");
    }
}

#[test]
fn items_of_hcl_1_have_lines() {
    let source = "a = <<EOF\n\nEOF\n\nb /* \n */ \"c\" {\n  d = [\n\n]\n}\n e {} f {}";
    let root = cli(source.as_bytes()).unwrap();
    let lines: Vec<_> = root.all_blocks().iter().map(|block| block.line).collect();
    assert_eq!(lines, [Some(11), Some(11)]);
    let blocks = root.blocks("b", 1).unwrap();
    assert_eq!(blocks[0].line, Some(5));
}

#[test]
fn text_of_hcl_1_is_unescaped_but_not_within_interpolations() {
    for (source, wanted) in [
        (r#""a\"b\\c\tA\u00e9""#, "a\"b\\c\tAé"),
        (r#""${x == "\"" ? {} : 1}y""#, r#"${x == "\"" ? {} : 1}y"#),
        (r#""$${x}""#, "$${x}"),
        (r#""\u0024{d""#, "${d"),
        (r#""%{ pa$$ word""#, "%{ pa$$ word"),
    ] {
        assert_eq!(text_of(source), wanted, "{source}");
    }
    // A brace in a string within an interpolation ends it, as for clients.
    assert!(cli(br#"a = "${x == "}"}""#).is_err());
}

#[test]
fn mistakes_in_hcl_1_have_a_line() {
    for (source, line) in [
        ("a", 1),
        ("\na = ", 2),
        ("a = b", 1),
        ("a {", 1),
        ("}", 1),
        ("a = 1\nb = \"x\ny\"", 2),
        ("a = [1 2]", 1),
        ("a = [1\n2]", 2),
        ("a = \"\\q\"", 1),
        ("a b = 1", 1),
        ("é = \"${\"", 1),
        ("a = <<EOF\nx\n", 1),
        ("/* x", 1),
        ("a = \"\\u00\"", 1),
        ("a = <", 1),
    ] {
        let error = cli(source.as_bytes()).unwrap_err();
        assert_eq!(error, SyntaxError::Malformed.at(line), "{source:?}");
    }
    assert_eq!(cli(b"{\n1}"), Err(SyntaxError::Json.at(2)));
    let deep = "a = ".to_owned() + &"[".repeat(70);
    let error = cli(deep.as_bytes()).unwrap_err();
    assert_eq!(error, SyntaxError::Malformed.at(1));
}
