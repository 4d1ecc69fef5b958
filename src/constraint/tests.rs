use super::*;
use proptest::prelude::*;

fn constraints(text: &str) -> VersionConstraints {
    text.parse().unwrap()
}

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

/// The expected results come from the clients' own code.
#[test]
fn versions_are_admitted_as_clients_do() {
    for (text, admitted, refused) in [
        ("", "0.0.0+b 1.0.0 1.0.0+b", "0.0.0 1.0.0-rc1"),
        ("1.2", "1.2.0", "1.2.1 1.2.0+b 1.2.0-rc1"),
        ("= 1.0.0+b", "1.0.0+b", "1.0.0 1.0.0+c"),
        ("!= 1.0.0", "1.0.0+b 1.0.1", "1.0.0 1.0.0-rc1"),
        ("> 1.0.0+b", "1.0.1", "1.0.0 1.0.0+b 1.0.0+c"),
        ("> 1", "1.0.1 1.1.0", "1.0.0 1.0.1-rc1"),
        (">= 1.2", "1.2.0 9.0.0", "1.1.9 2.0.0-rc1"),
        ("< 2.0.0", "1.9.9", "2.0.0 2.0.0+b 2.0.0-rc1"),
        ("<= 2", "2.0.0 2.0.0+b", "2.0.1"),
        ("~> 1.2.3", "1.2.3 1.2.4", "1.2.2 1.3.0"),
        ("~> 1.2.0", "1.2.0 1.2.9", "1.3.0 2.0.0"),
        ("~> 1.2", "1.2.0 1.9.0", "1.1.9 2.0.0"),
        ("~> 1", "1.0.0 1.9.0", "0.9.0 2.0.0"),
        ("~> 1.2-rc1", "1.2.0 1.9.0", "1.2.0-rc1 1.2.0-rc2 2.0.0"),
        ("1.0.0-rc1", "1.0.0-rc1", "1.0.0 1.0.0-rc2 1.0.0-rc1+b"),
        ("~> 1.0, 1.2.0-rc1", "1.2.0-rc1", "1.2.0 1.2.0-rc2"),
        ("~> 1.0, 2.0.0-rc1", "2.0.0-rc1", "2.0.0"),
        ("1.0.0-rc1, 1.0.0-rc2", "", "1.0.0-rc1 1.0.0-rc2"),
        ("2.0.0-rc1, != 2.0.0-rc1", "", "2.0.0-rc1"),
        (">= 1.0.0, != 1.3.1, < 2.0.0", "1.0.0 1.3.0", "1.3.1 2.0.0"),
        ("~> 18446744073709551615.0", "", "18446744073709551615.1.0"),
    ] {
        let constraints = constraints(text);
        for v in admitted.split_whitespace() {
            assert!(constraints.admits(&version(v)), "{text} {v}");
        }
        for v in refused.split_whitespace() {
            assert!(!constraints.admits(&version(v)), "{text} {v}");
        }
    }
}

#[test]
fn the_newest_is_the_one_that_clients_select() {
    let versions = [
        "0.9.0",
        "0.0.0",
        "1.0.0+2",
        "1.0.0+1",
        "2.0.0-rc1",
        "0.10.0",
    ]
    .map(version);
    let newest = |text: &str| {
        constraints(text)
            .newest(versions.iter())
            .map(Version::to_string)
    };
    assert_eq!(newest(""), Some("1.0.0+1".to_owned()));
    assert_eq!(newest("~> 0.9"), Some("0.10.0".to_owned()));
    assert_eq!(newest("2.0.0-rc1"), Some("2.0.0-rc1".to_owned()));
    assert_eq!(newest("< 0.9.0"), None);
    assert_eq!(newest("> 2"), None);
}

/// The expected texts come from the clients' own lock file writer.
#[test]
fn the_text_is_the_canonical_one() {
    for (text, canonical) in [
        ("", ""),
        ("1.2", "1.2.0"),
        ("= 01.2.3", "1.2.3"),
        (">= 2", ">= 2.0.0"),
        ("~> 1", "~> 1.0"),
        ("~> 1.2", "~> 1.2"),
        ("~> 1.2.0", "~> 1.2.0"),
        ("~>1.2-rc1", "~> 1.2-rc1"),
        ("~> 1-rc1+b", "~> 1.0-rc1+b"),
        (">= 2.0, >= 2.0.0, >=2", ">= 2.0.0"),
        ("~> 1, ~> 1.0, ~> 1.0.0", "~> 1.0.0, ~> 1.0"),
        (
            "!= 1.0.0, < 1.0.0, <= 1.0.0, ~> 1.0, ~> 1.0.0, = 1.0.0, >= 1.0.0, > 1.0.0",
            "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0",
        ),
        ("< 2.0.0, > 1.10.0, >= 1.9.0", ">= 1.9.0, > 1.10.0, < 2.0.0"),
        (
            "> 1.0.0-alpha.1, > 1.0.0-beta, > 1.0.0",
            "> 1.0.0-beta, > 1.0.0-alpha.1, > 1.0.0",
        ),
        ("1.0.0+10, 1.0.0+9, 1.0.0", "1.0.0, 1.0.0+9, 1.0.0+10"),
    ] {
        assert_eq!(constraints(text).to_string(), canonical, "{text}");
        assert_eq!(constraints(canonical), constraints(text));
    }
}

#[test]
fn constraints_can_be_made_and_joined() {
    let exact = VersionConstraints::exactly(version("1.2"));
    assert_eq!(exact, constraints("= 1.2.0"));
    assert_eq!(exact.as_exact(), Some(&version("1.2.0")));
    assert!(VersionConstraints::any().is_any() && !exact.is_any());
    let joined = constraints(">= 1, < 3").and(constraints("< 3.0, != 2"));
    assert_eq!(joined.to_string(), ">= 1.0.0, != 2.0.0, < 3.0.0");
    assert_eq!(joined.as_exact(), None);
    assert_eq!(constraints(">= 1").as_exact(), None);
}

proptest! {
    #[test]
    fn exactly_admits_its_version_and_no_other(
        one in "[0-3](\\.[0-3]){0,2}(-rc[12])?(\\+[12])?",
        other in "[0-3](\\.[0-3]){0,2}(-rc[12])?(\\+[12])?",
    ) {
        let (one, other) = (version(&one), version(&other));
        prop_assume!(!one.is_unspecified());
        let exact = VersionConstraints::exactly(one.clone());
        prop_assert!(exact.admits(&one));
        prop_assert_eq!(exact.admits(&other), one == other);
    }

    #[test]
    fn joined_constraints_admit_a_release_where_both_do(
        left in "(>|>=|<|<=|!=|~>|) ?[0-3](\\.[0-3]){0,2}",
        right in "(>|>=|<|<=|!=|~>|) ?[0-3](\\.[0-3]){0,2}",
        release in "[0-3]\\.[0-3]\\.[0-3]",
    ) {
        let parsed = (left.trim().parse::<VersionConstraints>(), right.trim().parse::<VersionConstraints>());
        if let (Ok(left), Ok(right)) = parsed {
            let release = version(&release);
            let both = left.admits(&release) && right.admits(&release);
            prop_assert_eq!(left.and(right).admits(&release), both);
        }
    }
}

#[test]
fn equal_constraints_may_be_written_differently() {
    let parse = |text: &str| text.parse::<VersionConstraints>().unwrap();
    assert_eq!(parse("= 3.0"), parse("3.0.0"));
    let all = ["", ">=1", "", ">= 1.0", "< 2"].map(parse);
    let all = all.into_iter().reduce(VersionConstraints::and).unwrap();
    assert_eq!(all.to_string(), ">= 1.0.0, < 2.0.0");
}
