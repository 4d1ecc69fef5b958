use super::*;

#[test]
fn names_are_judged_by_what_they_resolve_to() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let found = |guard, name: &str| {
        let resolver = Resolver {
            guard,
            proxies: BTreeSet::from(["127.0.0.2".to_owned()]),
            resolved: Arc::default(),
        };
        let resolving = resolver.resolve(name.parse().unwrap());
        let refused = runtime.block_on(resolving).err()?;
        let refused = refused.downcast_ref::<PrivateAddress>().unwrap();
        Some((refused.to_string(), refused.is_link))
    };
    let refused = |name: &str, is_link| {
        let text = format!("{name} has only private addresses");
        Some((text, is_link))
    };
    for (guard, name, expected) in [
        (Guard::Open, "169.254.169.254", None),
        (Guard::NoLinks, "127.0.0.1", None),
        (
            Guard::NoLinks,
            "169.254.169.254",
            refused("169.254.169.254", true),
        ),
        (Guard::Public, "127.0.0.1", refused("127.0.0.1", false)),
        (Guard::Public, "127.0.0.2", None),
    ] {
        assert_eq!(found(guard, name), expected, "{guard:?} {name}");
    }
}

#[test]
fn a_name_that_had_a_public_address_is_not_private() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    let resolved = Resolved::default();
    let is_private = |name: &str| {
        let url = format!("https://{name}/").parse().unwrap();
        runtime.block_on(resolved.is_private(&url))
    };
    let note = |name: &str, addresses: &[&str]| {
        resolved.note(name, addresses.iter().map(|text| text.parse().unwrap()));
    };
    note("inside.test", &["10.0.0.5", "::1"]);
    assert!(is_private("inside.test"));
    note("evil.test", &["8.8.8.8"]);
    note("evil.test", &["10.0.0.9"]);
    assert!(!is_private("evil.test"));
    note("inside.test", &["8.8.8.8"]);
    assert!(!is_private("inside.test"));
    for number in 0..MOST_NAMES {
        note(&format!("n{number}.test"), &["10.0.0.9"]);
    }
    assert!(is_private("n0.test"));
    assert_eq!(resolved.known("n4095.test"), None);
    note("evil.test", &["10.0.0.9"]);
    assert!(!is_private("evil.test"));
}
