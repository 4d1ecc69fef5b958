//! Which addresses are private, and which a guard refuses.

use super::*;

#[test]
fn private_addresses_are_known_in_every_disguise() {
    for text in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "168.63.129.16",
        "192.0.0.8",
        "fec0::1",
        "64:ff9b:1::a00:1",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::10.0.0.1",
        "::0.0.5.6",
        "::ffff:0:127.0.0.1",
        "::ffff:0:a9fe:a9fe",
        "64:ff9b:1:7f00:0:100::",
        "64:ff9b:1:1::808:808",
        // Teredo with a private server, and with a private client, whose address is stored inverted.
        "2001:0:a00:1::f7f7:f7f7",
        "2001:0:808:808::80ff:fffe",
    ] {
        assert!(is_private(text.parse().unwrap()), "{text}");
    }
    for text in [
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "64:ff9b:1::808:808",
        "::ffff:0:8.8.8.8",
        "::8.8.8.8",
        "2002:808:808::1",
        "2001:0:808:808::f7f7:f7f7",
        "2001:db8::1",
    ] {
        assert!(!is_private(text.parse().unwrap()), "{text}");
    }
}

#[test]
fn no_option_allows_links_and_metadata() {
    for text in [
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
    ] {
        assert!(!Guard::NoLinks.admits(text.parse().unwrap()), "{text}");
    }
    for text in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "1.1.1.1"] {
        assert!(Guard::NoLinks.admits(text.parse().unwrap()), "{text}");
    }
}

#[test]
fn names_are_judged_by_what_they_resolve_to() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let found = |guard, name: &str| {
        let resolver = Resolver {
            guard,
            proxies: BTreeSet::from(["127.0.0.2".to_owned()]),
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
fn one_public_address_among_private_ones_is_enough_to_be_guarded() {
    let private = |texts: &[&str]| are_private(texts.iter().map(|text| text.parse().unwrap()));
    assert!(private(&["10.0.0.1", "::1"]));
    assert!(!private(&["10.0.0.1", "1.1.1.1"]));
    assert!(!private(&["2606:4700::1111", "127.0.0.1"]));
    assert!(!private(&[]));
}

#[test]
fn literals_are_seen_through_the_spellings_of_urls() {
    for text in [
        "http://127.1/",
        "http://0x7f.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://0/",
    ] {
        assert!(
            Guard::Public.refuses_literal(&text.parse().unwrap()),
            "{text}"
        );
    }
    assert!(!Guard::Public.refuses_literal(&"http://example.com/".parse().unwrap()));
}
