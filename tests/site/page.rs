use std::fs;

use super::{site, with_two};
use crate::support::signer::Signer;

#[test]
fn the_page_lists_the_providers() {
    let scene = with_two();
    site(&scene, "--url https://mirror.example/a&b'c<d").succeeds();
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    for part in [
        "<h2>Providers <span class=\"count\">1</span></h2>",
        "<p class=\"version\"><strong>1.1.0</strong> <time datetime=\"20",
        "signed, not pinned: key ",
        "2 versions</span>",
        "<span class=\"chip\"><b>linux</b> ",
        "<li><strong>1.0.0</strong> <time datetime=\"20",
        "<a href=\"./example.com/acme/demo/index.json\">",
        "url     &#x3D; &quot;https://mirror.example/a&amp;b&#x27;c%3Cd/&quot;",
        "include &#x3D; [&quot;example.com/acme/demo&quot;]",
        "exclude &#x3D; [&quot;example.com/acme/demo&quot;]",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("a&b"), "{page}");
}

/// A run tells how the versions verified that it has read, and nothing of others.
#[test]
fn the_page_names_pinned_keys_and_the_title_stays_text() {
    let scene = with_two();
    scene.write("acme.asc", Signer::acme().public_armored());
    let link = "https://docs.acme.example/tf#use";
    let more = format!("--title <b>Acme</b> --link {link}");
    site(&scene, format!("--key acme.asc {more}")).succeeds();
    let read = || fs::read_to_string(scene.path("public/index.html")).unwrap();
    let page = read();
    let verified = page.matches("verified: Acme Provider Signing").count();
    assert_eq!(verified, 3, "{page}");
    for text in [
        "<title>&lt;b&gt;Acme&lt;/b&gt;</title>",
        &format!("<a href=\"{link}\">"),
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    site(&scene, "example.com/acme/demo@1.0.0").succeeds();
    let page = read();
    assert_eq!(page.matches("signed, not pinned").count(), 1, "{page}");
    assert!(page.contains("<strong>1.1.0</strong></p>"), "{page}");
    site(&scene, "--link javascript:alert(1)").exits(2);
}

#[test]
fn without_a_url_the_page_has_no_configuration() {
    let scene = with_two();
    site(&scene, "").succeeds().says("Wrote --url");
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    let has_block = page.contains("network_mirror") || page.contains("canonical");
    assert!(!has_block, "{page}");
}

#[test]
fn another_page_stays() {
    let scene = with_two();
    scene.write("public/index.html", "mine");
    let run = site(&scene, "").succeeds();
    run.says("Warning public/index.html");
    assert_eq!(fs::read(scene.path("public/index.html")).unwrap(), b"mine");
}
