use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Selection, Error> {
    Selection::parse(text, &"example.com".parse().unwrap())
}

#[test]
fn an_address_may_have_constraints() {
    for (text, shown) in [
        ("acme/demo", "example.com/acme/demo"),
        ("Acme/demo@1.2", "example.com/acme/demo@1.2.0"),
        (
            "acme/demo@~> 3.6,!=3.6.1",
            "example.com/acme/demo@~> 3.6, != 3.6.1",
        ),
        (
            "localhost:8443/acme/demo@>=1",
            "localhost:8443/acme/demo@>= 1.0.0",
        ),
    ] {
        assert_eq!(parse(text).unwrap().to_string(), shown);
    }
}

#[test]
fn each_part_has_its_own_errors() {
    assert!(matches!(
        parse("acme/demo@"),
        Err(Error::NoConstraints { .. })
    ));
    assert!(matches!(
        parse("acme/demo@ "),
        Err(Error::NoConstraints { .. })
    ));
    assert!(matches!(parse("demo@1.0"), Err(Error::Address(_))));
    assert!(matches!(
        parse("acme/demo@1.0@2.0"),
        Err(Error::Constraints(_))
    ));
    assert!(matches!(
        parse("acme/demo@latest"),
        Err(Error::Constraints(_))
    ));
}

proptest! {
    #[test]
    fn never_panics_and_prints_back(text in "\\PC{0,16}|[a-z]{1,3}/[a-z]{1,3}(@[0-9<>=~., ]{0,8})?") {
        if let Ok(selection) = parse(&text) {
            prop_assert_eq!(parse(&selection.to_string()), Ok(selection));
        }
    }
}
