use super::*;
use proptest::prelude::*;

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

/// The expected results come from the clients' own code.
#[test]
fn precedence_is_that_of_the_clients() {
    let ascending = [
        "0.0.0",
        "0.9.0",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-007",
        "1.0.0-Beta",
        "1.0.0-alpha",
        "1.0.0-beta",
        "1.0.0-1.x",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-alpha.1.1",
        "1.0.0",
        "1.0.10",
        "1.2.0",
        "1.10.0",
    ]
    .map(version);
    assert!(ascending.is_sorted_by(|a, b| a.cmp_precedence(b) == Ordering::Less));
}

#[test]
fn build_metadata_orders_but_has_no_precedence() {
    let (plain, second, tenth) = (version("1.0.0"), version("1.0.0+2"), version("1.0.0+10"));
    assert_eq!(plain.cmp_precedence(&tenth), Ordering::Equal);
    assert!(plain < second && second < tenth);
    assert_ne!(plain, second);
}

#[test]
fn parts_can_be_asked_for() {
    let v = version("1.2.3-rc.1+b.2");
    assert_eq!((v.major(), v.minor(), v.patch), (1, 2, 3));
    assert_eq!((&*v.prerelease, &*v.build_metadata), ("rc.1", "b.2"));
    assert!(v.is_prerelease() && !version("1.2.3+b").is_prerelease());
    assert!(version("0").is_unspecified() && !version("0.0.0-a").is_unspecified());
    assert_eq!(serde_json::to_string(&v).unwrap(), "\"1.2.3-rc.1+b.2\"");
}

#[test]
fn an_origins_spelling_is_kept() {
    let listed: SpelledVersion = "0.50".parse().unwrap();
    assert_eq!(listed.spelling(), "0.50");
    assert_eq!(listed.version(), &version("0.50.0"));
}

proptest! {
    #[test]
    fn the_order_is_total_and_agrees_with_equality(
        texts in prop::collection::vec("[01](-[a1.]{1,4})?(\\+[a1.]{0,3})?", 3),
    ) {
        let versions: Vec<Version> = texts.iter().map(|t| t.parse().unwrap()).collect();
        let [a, b, c] = versions.as_slice() else { panic!() };
        prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
        prop_assert_eq!(a.cmp(b) == Ordering::Equal, a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }
}
