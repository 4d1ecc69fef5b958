use std::fs;

use super::{site, with_two};

#[test]
fn the_page_lists_the_providers() {
    let scene = with_two();
    site(&scene, &["--url", "https://mirror.example/a&b'c<d"]).succeeds();
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    for part in [
        "<strong>example.com/acme/demo</strong> <span class=\"soft\">1.1.0 of 2</span>",
        "<p>1.1.0, 1.0.0</p>",
        "<a href=\"./example.com/acme/demo/index.json\">",
        "url     &#x3D; &quot;https://mirror.example/a&amp;b&#x27;c%3Cd/&quot;",
        "include &#x3D; [&quot;example.com/acme/demo&quot;]",
        "exclude &#x3D; [&quot;example.com/acme/demo&quot;]",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("a&b"), "{page}");
    // A job without the option does not take the configuration away.
    site(&scene, &[]).succeeds();
    let read = || fs::read_to_string(scene.path("public/index.html")).unwrap();
    assert_eq!(read(), page);
    site(&scene, &["--url", "https://other.example"]).succeeds();
    let other = read();
    assert!(other.contains("https://other.example/") && !other.contains("mirror.example"));
}

#[test]
fn without_a_url_the_page_has_no_configuration() {
    let scene = with_two();
    site(&scene, &[]).succeeds().says("Wrote --url");
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    assert!(
        !page.contains("network_mirror") && !page.contains("canonical"),
        "{page}"
    );
}

#[test]
fn another_page_stays() {
    let scene = with_two();
    scene.write("public/index.html", "mine");
    let run = site(&scene, &[]).succeeds();
    run.says("Warning public/index.html");
    assert_eq!(fs::read(scene.path("public/index.html")).unwrap(), b"mine");
}
