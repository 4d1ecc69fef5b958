//! `WWW-Authenticate` and `Link`: a password goes to no realm that is weaker than the registry, and pages stay where they are.
//!
//! Each line of the input is a header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tfoci::store::registry::headers::{AuthScheme, next_page, scheme};

fuzz_target!(|input: &str| {
    let registry: url::Url = "https://registry.example:5000/".parse().unwrap();
    let page: url::Url = "https://registry.example:5000/v2/acme/demo/tags/list?n=1"
        .parse()
        .unwrap();
    if let Ok(Some(AuthScheme::Bearer { realm, .. })) = scheme(input.lines(), &registry) {
        assert_eq!(realm.scheme(), "https");
        assert!(realm.has_host());
    }
    for line in input.lines() {
        if let Ok(next) = next_page(line, &page) {
            assert_eq!(next.origin(), page.origin());
        }
    }
});
